/** How many threads WebAssembly may use. */

const MOST = 4;

/** Several only where the host isolates the page from other origins, since threads share memory. cores: of the device. */
export const threadsOf = (isolated: boolean, cores: number): number => (isolated ? Math.max(1, Math.min(MOST, Math.ceil(cores / 2))) : 1);
