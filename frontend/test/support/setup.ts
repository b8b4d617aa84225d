/** What the page's logic takes from a browser, beside what Node has too: `window`, and storage that is empty in each test. */

import { beforeEach } from "vitest";

class Memory {
  private readonly values = new Map<string, string>();

  getItem(name: string): string | null {
    return this.values.get(name) ?? null;
  }

  setItem(name: string, value: string): void {
    this.values.set(name, value);
  }

  removeItem(name: string): void {
    this.values.delete(name);
  }
}

Object.assign(globalThis, { window: globalThis });

/** All test files share one process: what a page of an earlier test still waits for must not ask the server of the next one. */
const waiting = new Set<ReturnType<typeof setTimeout>>();
const usual = globalThis.setTimeout;
Object.assign(globalThis, {
  setTimeout: Object.assign((...given: Parameters<typeof usual>) => {
    const made = usual(...given);
    waiting.add(made);
    return made;
  }, usual),
});

beforeEach(() => {
  for (const each of waiting) clearTimeout(each);
  waiting.clear();
  for (const name of ["localStorage", "sessionStorage"]) {
    Object.defineProperty(globalThis, name, { value: new Memory(), configurable: true, writable: true });
  }
});
