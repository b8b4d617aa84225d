/** What one panel gives another, which may be made only when it is first looked at. */
export class Handover<T> {
  private waiting: T[] = [];
  private taker: ((given: T) => void) | null = null;

  give(given: T): void {
    if (this.taker) this.taker(given);
    else this.waiting = [given];
  }

  take(taker: (given: T) => void): void {
    this.taker = taker;
    for (const given of this.waiting.splice(0)) taker(given);
  }
}

/** A position in which somebody went wrong: opens its game, and resolves with the position after the mistake. */
export interface Exercise {
  about: string;
  /** The name of its card in the schedule. */
  card: string;
  open: () => Promise<number>;
  /** The browser has kept it: if it is damaged, it is forgotten. */
  kept?: boolean;
}
