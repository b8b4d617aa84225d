/** Moves judged by search with the chosen network: quickly at first, then exactly. Only chess is judged so. */

import { Refused, Unreachable } from "./api";
import type { App } from "./state";
import { texts } from "./texts";

/** What a search says of one move. */
export interface Judgement {
  ply: number;
  /** What the mover's chance lost by it, 0..1. */
  loss: number;
  mark: "" | "?!" | "?" | "??";
  best: { move: string; san: string };
  /** How the game would go on with the best move. */
  line: string[];
  /** Every other move would have lost much more. */
  only: boolean;
  /** White's chance with the best move, and after the played one. */
  white: { before: number | null; after: number | null };
  /** Not by the quick look that comes first. */
  exact: boolean;
}

/** What is being asked: places on the path, and the positions that stood there. */
interface Asked {
  network: string;
  from: number;
  to: number;
  ids: number[];
}

/** Between two redraws while judgements stream in, ms. */
const PERIOD = 100;
/** Nothing is asked while somebody plays one move after the other, ms. */
const PAUSE = 250;

export class Judging {
  private readonly known = new Map<string, Map<number, Judgement>>();
  private readonly refused = new Set<string>();
  private asked: Asked | null = null;
  private abort: AbortController | null = null;
  /** The position after a move that somebody waits for. */
  private first: number | null = null;
  private timer = 0;
  private telling = 0;

  constructor(private readonly app: App) {
    app.on("game", () => this.forget());
    app.on("networks", () => {
      this.refused.clear();
      this.changed();
    });
    app.on("path", () => this.changed());
    // The network's own chances come first; once they are there, this goes on.
    app.on("results", () => this.later(PAUSE));
  }

  /** What is known of the move that led to a position. */
  of(id: number): Judgement | undefined {
    return this.known.get(this.app.network ?? "")?.get(id);
  }

  exact(id: number): Judgement | undefined {
    const found = this.of(id);
    return found?.exact ? found : undefined;
  }

  /** Moves of the line that are judged exactly. */
  get done(): number {
    return this.app.path.filter((id) => this.exact(id)).length;
  }

  /** "checking moves 12 of 80"; nothing where all are judged or cannot be. */
  get progress(): string {
    const { done, app } = this;
    const total = app.path.length - 1;
    return this.possible && done < total ? texts.judging.checking(done, total) : "";
  }

  /** Whether the chosen network can judge moves of this game. */
  get possible(): boolean {
    const { app } = this;
    const network = app.named(app.network);
    const fits = network && !network.problem && network.game === app.game.kind && !this.refused.has(network.name);
    return Boolean(fits && app.game.kind === "chess" && network.answers.includes("white"));
  }

  /** Judges the move that led to this position before all others. */
  soon(id: number): void {
    if (this.exact(id)) return;
    this.first = id;
    this.drop();
    this.later(0);
  }

  /** Another line or network: what is asked and no longer wanted is given up. */
  private changed(): void {
    const { app, asked } = this;
    const same = asked?.network === app.network && asked.ids.every((id, i) => app.path[asked.from + i] === id);
    if (asked && !same) this.drop();
    this.tell();
    this.later(PAUSE);
  }

  private drop(): void {
    this.abort?.abort();
    this.asked = null;
  }

  private later(pause: number): void {
    window.clearTimeout(this.timer);
    this.timer = window.setTimeout(() => void this.next(), pause);
  }

  private async next(): Promise<void> {
    const { app } = this;
    const urgent = this.first !== null;
    if (this.asked || (app.analyser.busy && !urgent)) return;
    const wanted = this.wanted();
    this.asked = wanted;
    this.tell();
    if (!wanted) return;
    const { network, from, to, ids } = wanted;
    const abort = new AbortController();
    this.abort = abort;
    const known = this.known.get(network) ?? new Map<number, Judgement>();
    this.known.set(network, known);
    try {
      await app.api.judge(
        { network, line: app.line(ids.at(-1)), from, to },
        (judgement) => {
          const id = ids[judgement.ply - from];
          if (id === undefined || (known.get(id)?.exact && !judgement.exact)) return;
          known.set(id, judgement);
          this.tell();
        },
        abort.signal,
      );
      // What it leaves out is not asked for again.
      if (!abort.signal.aborted && !ids.every((id) => known.get(id)?.exact)) throw new Error(texts.judging.leftOut(network));
    } catch (error) {
      if (abort.signal.aborted) return;
      this.asked = null;
      // It goes on when the networks are found again.
      if (error instanceof Unreachable) return;
      this.refused.add(network);
      app.say(error instanceof Refused || error instanceof Error ? error.message : String(error));
    }
    if (abort.signal.aborted) return;
    this.asked = null;
    this.later(0);
  }

  /** The next stretch of the path without exact judgements; before it the one move that somebody waits for. */
  private wanted(): Asked | null {
    const { app } = this;
    const { network, path } = app;
    if (!network || !this.possible) return null;
    const stretch = (from: number, to: number): Asked => ({ network, from, to, ids: path.slice(from, to + 1) });
    const missing = (place: number): boolean => place > 0 && place < path.length && !this.exact(path[place]!);
    const first = this.first === null ? undefined : app.placeOf(this.first);
    this.first = null;
    if (first !== undefined && missing(first)) return stretch(first, first);
    let from = 1;
    while (from < path.length && !missing(from)) from += 1;
    if (from >= path.length) return null;
    let to = from;
    while (missing(to + 1)) to += 1;
    return stretch(from, to);
  }

  /** Judgements of moves that are in no game any more. */
  private forget(): void {
    for (const known of this.known.values()) {
      if (known.size > 20_000) known.clear();
    }
  }

  /** Redraws, soon. */
  private tell(): void {
    if (this.telling) return;
    this.telling = window.setTimeout(() => {
      this.telling = 0;
      this.app.emit("judgements");
    }, PERIOD);
  }
}
