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

beforeEach(() => {
  for (const name of ["localStorage", "sessionStorage"]) {
    Object.defineProperty(globalThis, name, { value: new Memory(), configurable: true, writable: true });
  }
});
