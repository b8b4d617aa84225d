/** The network, ready to be asked: its file and its runtime are fetched, checked and given to the worker. */

import runtime from "onnxruntime-web/ort-wasm-simd-threaded.wasm?url";
import { Refused } from "../server/api";
import { texts } from "../texts";
import type { Answer, Asked, Shared, Told } from "./network";

/** The smallest module with an instruction of SIMD. */
const SIMD = [0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11];

/** Whether this browser runs WebAssembly with SIMD. */
export function able(): boolean {
  return typeof WebAssembly === "object" && typeof Worker === "function" && WebAssembly.validate(new Uint8Array(SIMD));
}

export class Engine {
  private readonly worker: Worker;
  private readonly waiting = new Map<number, { done: (answer: Answer) => void; failed: (error: Error) => void }>();
  private count = 0;
  private opened: () => void = () => undefined;
  private failed: (error: Error) => void = () => undefined;

  private constructor() {
    this.worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
    this.worker.addEventListener("message", ({ data }: MessageEvent<Told>) => this.told(data));
    this.worker.addEventListener("error", (event) => this.failed(new Refused(texts.share.runtime(event.message || "Worker"))));
  }

  /** Rejects with one line about a browser that cannot, or a file that is not what it was. `far`: told the share that is loaded. */
  static async open(shared: Shared, far: (share: number) => void): Promise<Engine> {
    if (!able()) throw new Refused(texts.share.simd);
    const { name, bytes, sha256 } = shared.file;
    let loaded = 0;
    let all = bytes;
    let over = false;
    // What was wrong is not to be written over by what still comes.
    const came = (more: number): void => void (over || far(Math.min(1, (loaded += more) / all)));
    const [network, program] = await Promise.all([
      fetched(name, came),
      fetched(runtime, came, (length) => (all += length)),
    ]).finally(() => (over = true));
    if (network.byteLength !== bytes || (crypto.subtle && (await digest(network)) !== sha256)) throw new Refused(texts.share.damaged(name));
    const engine = new Engine();
    await new Promise<void>((done, failed) => {
      engine.opened = done;
      engine.failed = () => failed(new Refused(texts.share.damaged(name)));
      engine.worker.postMessage({ runtime: program, network }, [program, network]);
    });
    return engine;
  }

  /** The answers for some positions: codes and state of each. */
  async ask(positions: readonly { codes: readonly number[]; state: readonly number[] }[]): Promise<Answer[]> {
    const rows = positions.length;
    const id = (this.count += 1);
    const asked: Asked = { id, rows, codes: Uint8Array.from(positions.flatMap(({ codes }) => codes)), state: Uint8Array.from(positions.flatMap(({ state }) => state)) };
    const whole = await new Promise<Answer>((done, failed) => {
      this.waiting.set(id, { done, failed });
      this.worker.postMessage(asked);
    });
    const part = (values: Float32Array, row: number): Float32Array => values.subarray((row * values.length) / rows, ((row + 1) * values.length) / rows);
    return positions.map((_, row) => Object.fromEntries(Object.entries(whole).map(([name, values]) => [name, part(values, row)])));
  }

  private told(told: Told): void {
    if ("opened" in told) return this.opened();
    if ("failed" in told) return this.failed(new Error(told.failed));
    const asker = this.waiting.get(told.id);
    this.waiting.delete(told.id);
    if ("outputs" in told) asker?.done(told.outputs);
    else asker?.failed(new Error(told.problem));
  }
}

async function digest(bytes: ArrayBuffer): Promise<string> {
  const whole = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(whole, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** A file of the folder. `came`: told the bytes of each part; `length`: told how many there will be. */
async function fetched(path: string, came: (bytes: number) => void, length: (bytes: number) => void = () => undefined): Promise<ArrayBuffer> {
  let response: Response;
  try {
    response = await fetch(path);
  } catch {
    throw new Refused(texts.share.missing(path));
  }
  if (!response.ok || !response.body) throw new Refused(texts.share.missing(path));
  // A host may send it packed; then the length says less than comes.
  length(Number(response.headers.get("content-length") ?? 0));
  const parts: Uint8Array[] = [];
  const reader = response.body.getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    parts.push(part.value);
    came(part.value.length);
  }
  const whole = new Uint8Array(parts.reduce((sum, each) => sum + each.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole.buffer;
}
