/** Questions to the server of which only the latest matters. */

/** An answer that takes longer than this is awaited aloud, ms. */
const SLOW = 400;

/** A question that fails is asked again so often, unless another one is answered meanwhile: it may be what ends the server. */
const RETRIES = 3;

/**
 * Asks after a short pause, gives up what was asked before, and drops answers that come late, by their number.
 * While somebody steps through a game nothing is asked; where they stop, one question is. `slow` is called where the
 * answer does not come soon.
 */
export class Latest {
  private number = 0;
  private timer = 0;
  private patience = 0;
  private abort: AbortController | null = null;
  private failed = false;
  private retries = 0;

  constructor(private readonly pause = 140) {}

  ask<T>(
    work: (signal: AbortSignal) => Promise<T>,
    then: (answer: T) => void,
    failed: (message: string) => void,
    slow: () => void = () => undefined,
  ): void {
    this.cancel();
    const number = this.number;
    this.timer = window.setTimeout(() => {
      const abort = new AbortController();
      this.abort = abort;
      this.patience = window.setTimeout(slow, SLOW);
      const unlessLate =
        <A>(act: (found: A) => void) =>
        (found: A): void => {
          if (number !== this.number) return;
          window.clearTimeout(this.patience);
          act(found);
        };
      work(abort.signal).then(
        unlessLate((answer) => {
          this.retries = 0;
          then(answer);
        }),
        unlessLate((error: unknown) => {
          this.failed = true;
          failed(message(error));
        }),
      );
    }, this.pause);
  }

  /** Whether the last question failed and is to be asked again, now that the server is back or a network was chosen. */
  again(): boolean {
    if (!this.failed || this.retries >= RETRIES) return false;
    this.failed = false;
    this.retries += 1;
    return true;
  }

  cancel(): void {
    this.failed = false;
    this.number += 1;
    window.clearTimeout(this.timer);
    window.clearTimeout(this.patience);
    this.abort?.abort();
    this.abort = null;
  }
}

export function message(error: unknown): string {
  return error instanceof Error && error.message ? error.message : String(error);
}

/** Answers that were given, the latest `room` of them. */
export class Kept<T> {
  private readonly answers = new Map<string, T>();

  constructor(private readonly room = 400) {}

  get(key: string): T | undefined {
    return this.answers.get(key);
  }

  set(key: string, answer: T): void {
    this.answers.delete(key);
    this.answers.set(key, answer);
    for (const oldest of this.answers.keys()) {
      if (this.answers.size <= this.room) break;
      this.answers.delete(oldest);
    }
  }

  clear(): void {
    this.answers.clear();
  }
}

/** More positions than this are of games that were left, of one network. */
const MANY = 20_000;

/** What networks have said of positions, by the weights that said it. */
export class ByWeights<T> {
  private readonly known = new Map<string, Map<number, T>>();

  /** What some weights have said, by position; more may be added. */
  of(weights: string): Map<number, T> {
    const found = this.known.get(weights) ?? new Map<number, T>();
    this.known.set(weights, found);
    return found;
  }

  /** Forgets positions that are in no game any more, and all weights but these: a training has left those behind. */
  forget(now: readonly string[]): void {
    for (const [weights, { size }] of this.known) if (size > MANY || !now.includes(weights)) this.known.delete(weights);
  }
}
