/** Has the chosen networks look at every position of the line that is shown, the nearest to the cursor first. */

import { Refused, Unreachable } from "./api";
import { ByWeights } from "./asking";
import type { App, Result } from "../app/state";
import { texts } from "../texts";

/** Between two redraws while answers stream in, ms. */
const PERIOD = 50;
/** Steps that follow one another faster than this do not change what is asked, ms. */
const PAUSE = 150;
/** So far ahead of what is being answered, the cursor is waited for. */
const NEAR = 24;

export class Analyser {
  /** Positions of the line that are known, of how many; of the chosen network. */
  done = 0;
  total = 0;
  /** Why the chosen network says nothing, where it refuses. */
  problem = "";
  private readonly known = new ByWeights<Result>();
  private readonly refused = new Set<string>();
  private abort: AbortController | null = null;
  /** What is being asked: places on the path, and how far the answers have come. */
  private at: { network: string; from: number; to: number } | null = null;
  private timer = 0;
  private telling = 0;

  constructor(private readonly app: App) {
    // The app is not yet whole.
    queueMicrotask(() => {
      app.on("game", () => this.restart(true));
      app.on("networks", () => this.restart(true));
      app.on("path", () => this.restart(false));
      app.on("cursor", () => this.moved());
      this.restart(false);
    });
  }

  result(network: string, id: number): Result | undefined {
    return this.known.of(this.app.weights(network)).get(id);
  }

  get busy(): boolean {
    return this.at !== null;
  }

  /** Gives up what is asked and asks for what is missing now. */
  private restart(anew: boolean): void {
    if (anew) {
      this.refused.clear();
      this.problem = "";
      this.known.forget(this.app.allWeights);
    }
    this.abort?.abort();
    this.at = null;
    this.count();
    window.clearTimeout(this.timer);
    this.timer = window.setTimeout(() => void this.next(), 0);
  }

  /** The cursor has moved: asks for its neighbourhood, unless that is about to be answered. */
  private moved(): void {
    const { at, app } = this;
    if (!at || this.result(at.network, app.cursor)) return;
    const place = app.place;
    if (place >= at.from && place <= Math.min(at.to, at.from + NEAR)) return;
    window.clearTimeout(this.timer);
    this.timer = window.setTimeout(() => {
      this.abort?.abort();
      void this.next();
    }, PAUSE);
  }

  private async next(): Promise<void> {
    const { app } = this;
    const wanted = this.wanted();
    this.at = wanted;
    if (!wanted) {
      this.tell();
      return;
    }
    const { network } = wanted;
    const path = app.path;
    const abort = new AbortController();
    this.abort = abort;
    const known = this.known.of(app.weights(network));
    const place = app.place;
    try {
      // The whole line is given, so that a part of it need not be asked in another way.
      const line = app.line(path[wanted.to]);
      await app.api.analyse(
        { network, line, from: wanted.from, to: wanted.to },
        (result) => {
          const id = path[result.ply];
          if (id === undefined) return;
          known.set(id, result);
          wanted.from = result.ply + 1;
          this.tell(result.ply === place);
        },
        abort.signal,
      );
      // What it does not answer for is not asked again.
      if (wanted.from <= wanted.to && !abort.signal.aborted) throw new Error(texts.analyser.leftOut(network));
    } catch (error) {
      if (abort.signal.aborted) return;
      if (error instanceof Unreachable) {
        // It goes on when the networks are found again.
        this.at = null;
        return;
      }
      this.refused.add(network);
      const words = error instanceof Refused || error instanceof Error ? error.message : String(error);
      if (network === app.network) this.problem = words;
      app.say(words, true);
    }
    if (!abort.signal.aborted) void this.next();
  }

  /** The next stretch of the path that nobody has answered for: of the chosen network first. */
  private wanted(): { network: string; from: number; to: number } | null {
    const { app } = this;
    for (const network of [app.network, app.second]) {
      if (!network || this.refused.has(network)) continue;
      const found = app.named(network);
      const size = app.game.start.size;
      if (!found || found.problem || found.game !== app.game.kind) continue;
      if (size !== undefined && found.sizes?.length && !found.sizes.includes(size)) continue;
      const missing = (place: number): boolean => !this.result(network, app.path[place]!);
      const last = app.path.length - 1;
      // From the cursor on to the end; then back from it to the beginning.
      let from = app.place;
      while (from <= last && !missing(from)) from += 1;
      if (from <= last) {
        let to = from;
        while (to < last && missing(to + 1)) to += 1;
        return { network, from, to };
      }
      let to = app.place;
      while (to >= 0 && !missing(to)) to -= 1;
      if (to < 0) continue;
      from = to;
      while (from > 0 && missing(from - 1)) from -= 1;
      return { network, from, to };
    }
    return null;
  }

  private count(): void {
    const known = this.known.of(this.app.weights(this.app.network ?? ""));
    this.total = this.app.path.length;
    this.done = this.app.path.reduce((sum, id) => sum + (known.has(id) ? 1 : 0), 0);
  }

  /** Redraws, soon; at once for the position that is looked at. */
  private tell(now = false): void {
    if (this.telling && !now) return;
    window.clearTimeout(this.telling);
    this.telling = window.setTimeout(
      () => {
        this.telling = 0;
        this.count();
        this.app.emit("results");
      },
      now ? 0 : PERIOD,
    );
  }
}
