/**
 * Moves judged by search with the chosen network. Those of chess all, quickly at first and then exactly; of Go those that
 * cost much by the network's chances alone, one after the other. An engine that judges in its place judges all moves.
 */

import { Refused, Unreachable, type Check } from "./api";
import { ByWeights, message } from "./asking";
import { values } from "../analysis/candidates";
import type { ReasonLine } from "../analysis/reasonlines";
import { chanceOf } from "../app/chance";
import { closingPass } from "../app/displayed";
import { lineKeys, Remembered } from "../app/remembered";
import type { App, Node } from "../app/state";
import { texts } from "../texts";

/** What a search says of one move. */
export interface Judgement {
  ply: number;
  /** What the mover's chance lost by it, 0..1. */
  loss: number;
  mark: "" | "?!" | "?" | "??";
  best: { move: string; san: string };
  /** How the game would go on with the best move. */
  line: string[];
  /** What it lost on the board, of Go. */
  points?: number | null;
  /** Black's lead after it, by an engine of Go. */
  score?: number;
  /** Every other move would have lost much more. */
  only: boolean;
  /** White's chance with the best move, and after the played one. */
  white: { before: number | null; after: number | null };
  /** Moves to a mate after it, above 0 if White mates; by an engine. */
  mate?: number;
  /** Not by the quick look that comes first. */
  exact: boolean;
  /** Why a marked move was bad, by language, if it is proven, and the lines that all its texts have. */
  reason?: { code: string; texts: Record<string, string>; lines?: ReasonLine[] };
}

/** What is being asked: places on the path, and the positions that stood there. */
interface Asked {
  network: string;
  /** The engine that judges; "" for the network's own search. */
  engine: string;
  from: number;
  to: number;
  ids: number[];
  /** Who is asked. */
  key: string;
}

/** What a move of Go must have cost by the network alone to be searched: half of what a mark needs, since its chances are steady. */
const SUSPICIOUS = 0.05;
/** It is also searched if the network's lead in points fell by this share of the smallest annotated loss, as `kibitz analyze` searches it. */
const SUSPECT = 0.8;
/** The smallest annotated loss in points by board size, as in ownership.py. */
const SWINGS: Record<number, number> = { 9: 3, 13: 5, 19: 10 };

/** What a move of Go lost in points, as the network alone thinks; 0 for its own first choice, as `kibitz analyze` counts. */
export function pointsLost(app: App, node: Node): number | null {
  if (node.parent === null || !app.network) return null;
  const [before, after] = [node.parent, node.id].map((id) => app.result(app.network!, id));
  if (typeof before?.score !== "number" || typeof after?.score !== "number") return null;
  if (before.moves?.[0]?.move === node.move) return 0;
  return Math.max(0, app.node(node.parent).turn === "b" ? before.score - after.score : after.score - before.score);
}

/** What the one who moved had lost after it, as the network alone thinks: their chance before, less their chance after. */
export function lostBy(app: App, node: Node): number | null {
  if (node.parent === null || !app.network) return null;
  const before = chanceOf(app.game.kind, app.result(app.network, node.parent));
  const after = chanceOf(app.game.kind, app.result(app.network, node.id));
  if (before === null || after === null) return null;
  const mover = app.node(node.parent).turn;
  const told = app.game.kind === "chess" ? "w" : "b";
  return mover === told ? before - after : after - before;
}

/** Between two redraws while judgements stream in, ms. */
const PERIOD = 100;
/** Nothing is asked while somebody plays one move after the other, ms. */
const PAUSE = 250;
/** So far ahead of an engine's judgements, the cursor is waited for. */
const NEAR = 3;

export class Judging {
  private readonly known = new ByWeights<Judgement>();
  /** Values of positions from other searches: White's chance in chess, Black's in Go; and Black's lead, where it is known. */
  private readonly values = new ByWeights<{ value: number; lead: number | null }>();
  /** Judgements of this tab, also from before a reload. */
  private readonly remembered = new Remembered<Judgement>("judged");
  private readonly refused = new Set<string>();
  /** Whose judgements of which line the server was asked for. */
  private askedKept = "";
  private asked: Asked | null = null;
  private abort: AbortController | null = null;
  /** The position after a move that somebody waits for. */
  private first: number | null = null;
  private timer = 0;
  private telling = 0;

  constructor(private readonly app: App) {
    const forget = (): void => {
      this.known.forget(app.checker.keys(app.allWeights));
      this.values.forget(app.allWeights);
    };
    app.on("game", forget);
    app.on("networks", () => {
      this.refused.clear();
      forget();
      this.changed();
    });
    for (const event of ["path", "checker", "programs"] as const) app.on(event, () => this.changed());
    app.on("cursor", () => this.moved());
    // The network's own chances come first; once they are there, this goes on.
    app.on("results", () => this.later(PAUSE));
  }

  /** What is known of the move that led to a position. */
  of(id: number): Judgement | undefined {
    return this.known.of(this.key).get(id);
  }

  /** What names who judges now. */
  get judge(): string {
    return this.key;
  }

  /** Takes over what the one who judges now has found before. */
  accept(id: number, judgement: Judgement): void {
    if (this.of(id)?.exact) return;
    this.known.of(this.key).set(id, judgement);
    this.tell();
  }

  /** What names the network, or the engine that judges in place of its search. */
  private get key(): string {
    return this.app.checker.key(this.app.weights(this.app.network ?? ""));
  }

  /** What a search says of a position: White's chance in chess, Black's in Go; null where there was none. */
  value(id: number): number | null {
    const { app } = this;
    const engine = app.checker.now;
    const found = engine ? undefined : this.values.of(app.weights(app.network ?? "")).get(id);
    if (found) return found.value;
    // Of Go a network's search was only in the position before a checked move.
    const white = app.game.kind === "chess" || engine ? (this.exact(id)?.white.after ?? null) : null;
    return white === null || app.game.kind === "chess" ? white : 1 - white;
  }

  /** Black's lead in a position by the engine that judges, or else by the network's search; null where it is not known. */
  lead(id: number): number | null {
    const { app } = this;
    if (app.checker.now) return this.exact(id)?.score ?? null;
    return this.values.of(app.weights(app.network ?? "")).get(id)?.lead ?? null;
  }

  /** Takes over what another search found of a position. */
  learn(id: number, network: string, value: number, lead: number | null = null): void {
    const known = this.values.of(this.app.weights(network));
    const before = known.get(id);
    if (before?.value === value && before.lead === lead) return;
    known.set(id, { value, lead });
    this.tell();
  }

  exact(id: number): Judgement | undefined {
    const found = this.of(id);
    return found?.exact ? found : undefined;
  }

  /** Moves of the line that are judged exactly. */
  get done(): number {
    return this.app.path.slice(1).filter((id) => this.exact(id)).length;
  }

  /** "checking moves 12 of 80"; nothing where all are judged or cannot be. */
  get progress(): string {
    if (!this.possible) return "";
    const [done, all] = this.counts;
    return done < all ? texts.judging.checking(done, all) : "";
  }

  /** How many moves of the line are judged exactly, and how many will be. */
  get counts(): [done: number, all: number] {
    const searched = this.app.path.slice(1).filter((id) => this.searched(id));
    return [searched.filter((id) => this.exact(id)).length, searched.length];
  }

  /** Whether the move that led to a position is judged by search. */
  searched(id: number): boolean {
    const { app } = this;
    if (app.game.kind === "chess" || app.checker.now) return true;
    if (closingPass(app, id)) return false;
    const node = app.node(id);
    const least = SUSPECT * (SWINGS[app.game.start.size ?? 19] ?? Infinity);
    return (lostBy(app, node) ?? 0) >= SUSPICIOUS || (pointsLost(app, node) ?? 0) >= least;
  }

  /** Whether moves of this game can be judged: by the chosen network, or by an engine. */
  get possible(): boolean {
    const { app } = this;
    const network = app.named(app.network);
    const fits = network && !network.problem && !network.single && network.game === app.game.kind && !this.refused.has(network.name);
    const size = app.game.kind === "go" ? (app.game.start.size ?? 19) : null;
    return Boolean(fits && (network.answers.includes("white") || app.checker.now) && (size === null || !network.sizes?.length || network.sizes.includes(size)));
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
    const same = asked?.key === this.key && asked.ids.every((id, i) => app.path[asked.from + i] === id);
    if (asked && !same) this.drop();
    this.recall();
    void this.askKept();
    this.tell();
    this.later(PAUSE);
  }

  /** Takes over what the server has kept of a line that is new here: all of it in one answer, before anything is searched. */
  private async askKept(): Promise<void> {
    const { app } = this;
    const { network, path, opened } = { network: app.network, path: [...app.path], opened: app.opened };
    if (!network || !this.possible || app.checker.now || app.checker.waits) return;
    // A move that was just played was not judged before, most often.
    if (path.slice(1).filter((id) => !this.exact(id)).length < 2) return;
    const key = this.key;
    const name = `${key} ${opened} ${path.at(-1)}`;
    if (name === this.askedKept) return;
    this.askedKept = name;
    try {
      const found = await app.api.judged({ network, line: app.line(path.at(-1)) });
      if (opened !== app.opened) return;
      const known = this.known.of(key);
      for (const each of found) {
        const id = path[each.ply];
        const before = id === undefined ? undefined : app.game.nodes.get(app.game.nodes.get(id)?.parent ?? -1);
        if (id === undefined || known.get(id)?.exact) continue;
        if ("exact" in each) known.set(id, each);
        else if (before) known.set(id, judgementOf(each, each.ply, before.turn));
      }
      if (found.length && key === this.key) app.emit("judgements");
    } catch {
      // The moves are judged anew.
    }
  }

  /** Names of the positions of the path, for who judges. */
  private keys(): string[] {
    const { app } = this;
    const { moves, ...start } = app.line(app.path.at(-1));
    return lineKeys([this.key, start], moves);
  }

  /** Takes over what was judged before the page was loaded again. */
  private recall(): void {
    const { app } = this;
    if (!this.possible) return;
    const known = this.known.of(this.key);
    this.keys().forEach((key, place) => {
      const id = app.path[place];
      const found = id === undefined || known.get(id)?.exact ? undefined : this.remembered.get(key);
      if (id !== undefined && found) known.set(id, found);
    });
  }

  /** The cursor has moved: an engine that is far from it turns to it. */
  private moved(): void {
    const { app, asked } = this;
    if (!app.checker.now || !asked?.engine || this.exact(app.cursor)) return;
    const next = asked.ids.findIndex((id) => !this.exact(id));
    const at = asked.ids.indexOf(app.cursor);
    if (at >= next && at <= next + NEAR) return;
    this.drop();
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
    const { network, engine, from, to, ids, key: judge } = wanted;
    const abort = new AbortController();
    this.abort = abort;
    const known = this.known.of(judge);
    const keys = this.keys();
    const found = (judgement: Judgement): void => {
      const id = ids[judgement.ply - from];
      if (id === undefined || (known.get(id)?.exact && !judgement.exact)) return;
      known.set(id, judgement);
      const key = keys[judgement.ply];
      if (judgement.exact && key !== undefined) this.remembered.set(key, judgement);
      this.tell();
    };
    try {
      const line = app.line(ids.at(-1));
      if (engine) await app.api.judge({ network, checked_by: engine, line, from, to }, found, abort.signal, (by) => app.checker.learn(engine, by));
      else if (app.game.kind === "chess") await app.api.judge({ network, line, from, to }, found, abort.signal);
      else {
        const before = app.node(app.node(ids[0]!).parent!);
        const check = await app.api.check({ network, line }, abort.signal);
        const judgement = judgementOf(check, from, before.turn);
        found(judgement);
        // A network that does not search looks at every move once: its value is the network's own all the same.
        if (judgement.white.before !== null && values(app.named(network))) this.learn(before.id, network, 1 - judgement.white.before, blackLead(check, before.turn));
      }
      // What it leaves out is not asked for again.
      if (!abort.signal.aborted && !ids.every((id) => known.get(id)?.exact)) throw new Error(texts.judging.leftOut(engine || network));
    } catch (error) {
      if (abort.signal.aborted) return;
      this.asked = null;
      // It goes on when the networks are found again.
      if (error instanceof Unreachable) return;
      if (engine) {
        app.checker.fail(engine, message(error));
        return;
      }
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
    if (!network || !this.possible || app.checker.waits) return null;
    const engine = app.checker.now;
    const stretch = (from: number, to: number): Asked => ({ network, engine, from, to, ids: path.slice(from, to + 1), key: this.key });
    // Of the position before the first move the value alone is wanted.
    const begin = app.game.kind === "chess" || engine ? 0 : 1;
    const missing = (place: number): boolean =>
      place >= begin && place < path.length && !this.exact(path[place]!) && this.searched(path[place]!);
    const first = this.first === null ? undefined : app.placeOf(this.first);
    this.first = null;
    if (first !== undefined && missing(first)) return stretch(first, first);
    // An engine takes longer: what is looked at comes first.
    let from = engine && missing(app.place) ? app.place : begin;
    while (from < path.length && !missing(from)) from += 1;
    if (from >= path.length) return null;
    let to = from;
    if (app.game.kind === "chess" || engine) while (missing(to + 1)) to += 1;
    return stretch(from, to);
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

/** Black's lead before a checked move; null where the server has not said so. */
const blackLead = ({ lead }: Check, mover: "w" | "b"): number | null => (typeof lead === "number" ? (mover === "b" ? lead : -lead) : null);

/** A move of Go, as it was checked. */
function judgementOf({ loss, mark, points, before, after, line = [], reason }: Check, ply: number, mover: "w" | "b"): Judgement {
  const best = line[0] ?? "";
  const white = mover === "w" ? { before, after } : { before: 1 - before, after: 1 - after };
  return { ply, loss, mark, points, best: { move: best, san: best }, line, only: false, white, exact: true, ...(reason ? { reason } : {}) };
}
