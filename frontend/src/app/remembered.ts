/** Judgements of moves that outlast a reload of the page: the tab keeps the latest, by weights and line. */

import { keep, kept } from "./storage";

/** Judgements that are kept; one takes some 300 characters. */
const ROOM = 1500;
/** Between two writes, ms. */
const PAUSE = 500;

export class Remembered<T> {
  private readonly known: Map<string, T>;
  private timer = 0;

  /** `name`: of the item in the tab's storage. */
  constructor(private readonly name: string) {
    this.known = new Map(read(kept("session", name)) as [string, T][]);
    globalThis.addEventListener?.("pagehide", () => this.write());
  }

  get(key: string): T | undefined {
    return this.known.get(key);
  }

  set(key: string, value: T): void {
    this.known.delete(key);
    this.known.set(key, value);
    for (const oldest of this.known.keys()) {
      if (this.known.size <= ROOM) break;
      this.known.delete(oldest);
    }
    window.clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.write(), PAUSE);
  }

  private write(): void {
    window.clearTimeout(this.timer);
    if (this.known.size) keep("session", this.name, JSON.stringify([...this.known]));
  }
}

/** Entries as they were written; none where the storage has something else. */
function read(text: string | null): unknown[] {
  try {
    const found: unknown = JSON.parse(text ?? "[]");
    return Array.isArray(found) && found.every((each) => Array.isArray(each) && each.length === 2) ? found : [];
  } catch {
    return [];
  }
}

/** A short name of each position of a line, given the start and the moves; equal lines have equal names. */
export function lineKeys(start: unknown, moves: readonly string[]): string[] {
  let key = digest(JSON.stringify(start));
  return [key, ...moves.map((move) => (key = digest(`${key} ${move}`)))];
}

/** 53 bits of a text, by Bryc's cyrb53. */
export function digest(text: string): string {
  let [a, b] = [0xdeadbeef, 0x41c6ce57];
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    a = Math.imul(a ^ code, 2654435761);
    b = Math.imul(b ^ code, 1597334677);
  }
  a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909);
  b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909);
  return (4294967296 * (2097151 & b) + (a >>> 0)).toString(36);
}
