/** A server in the page's process: what it is asked, and what the test has it answer. */

import { vi } from "vitest";

type Body = Record<string, any>;
/** One answer, lines of an answer that comes bit by bit, or never any. */
export type Answer = object | object[] | Promise<object | object[]>;

export class Server {
  readonly asked: { path: string; body: Body }[] = [];
  private readonly answers = new Map<string, (body: Body) => Answer>();

  constructor() {
    vi.stubGlobal("fetch", (address: string, options: RequestInit) => this.fetch(address, options));
  }

  on(path: string, answer: (body: Body) => Answer): this {
    this.answers.set(path, answer);
    return this;
  }

  /** What was asked of a path, in order. */
  of(path: string): Body[] {
    return this.asked.filter((each) => each.path === path).map(({ body }) => body);
  }

  private fetch(address: string, options: RequestInit): Promise<Response> {
    const path = address.replace("/api/", "");
    const body = options.body ? (JSON.parse(String(options.body)) as Body) : {};
    this.asked.push({ path, body });
    const answer = this.answers.get(path);
    return new Promise((resolve, reject) => {
      options.signal?.addEventListener("abort", () => reject(new DOMException("given up", "AbortError")));
      if (!answer) return;
      void Promise.resolve(answer(body)).then((said) => {
        const lines = Array.isArray(said) ? said.map((line) => `${JSON.stringify({ seq: body.seq, ...line })}\n`) : [JSON.stringify(said)];
        const status = !Array.isArray(said) && "error" in said ? 400 : 200;
        resolve(new Response(lines.join(""), { status }));
      }, reject);
    });
  }
}

/** An answer that waits until the test gives it. */
export function held<T>(): { answer: Promise<T>; give: (value: T) => void } {
  let give: (value: T) => void = () => undefined;
  const answer = new Promise<T>((resolve) => (give = resolve));
  return { answer, give };
}

/** Waits until something is so. */
export const until = (so: () => boolean): Promise<void> =>
  vi.waitFor(
    () => {
      if (!so()) throw new Error(`not yet: ${so}`);
    },
    { timeout: 20_000, interval: 2 },
  );
