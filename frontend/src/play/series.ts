/** Two networks or programs that play each other: several games with colours changed, and a running score. No elements here. */

import { message } from "../server/asking";
import { confirmed } from "../ui/confirming";
import { ending } from "../app/naming";
import { RESIGN, type Result, type Strength } from "./match";
import { shown } from "../board/overlays";
import { asked, type Player } from "../server/programs";
import { openStart } from "./starting";
import type { App, Line, Node, Result as Analysis } from "../app/state";
import { texts } from "../texts";

/** rating: the player that a program is to play like; null for full strength, and of networks. */
export interface Contestant extends Player {
  rating: number | null;
}

/** "stockfish (1400)". */
export const called = ({ name, rating }: Contestant): string => (rating ? `${name} (${rating})` : name);

export interface Plan {
  /** The first has White in the first game of chess, Black in the first of Go. */
  players: [Contestant, Contestant];
  strength: Strength;
  games: number;
}

/** So many plies are played with some variety, so that no two games are the same; the next game has them too, with
 *  the colours changed. */
const OPENING = 8;
/** A game of chess that lasts longer is a draw, one of Go is counted, plies. */
const LONGEST = { chess: 400, go: 600 };

export type SeriesState = "none" | "playing" | "stopped" | "lost" | "over";

export class Series {
  state: SeriesState = "none";
  plan: Plan | null = null;
  /** Points of the two. */
  points: [number, number] = [0, 0];
  /** Games that are over. */
  games = 0;
  problem = "";
  /** How the last game ended. */
  last = "";
  private start: Line | null = null;
  private opening: string[] = [];
  private abort: AbortController | null = null;
  /** It opens a game itself. */
  private opens = false;

  constructor(
    private readonly app: App,
    private readonly changed: () => void,
  ) {
    app.on("game", () => {
      if (!this.opens && this.running) this.stop();
    });
  }

  get running(): boolean {
    return this.state === "playing";
  }

  async begin(plan: Plan): Promise<void> {
    if (!(await this.app.mayOpen())) return;
    this.plan = plan;
    this.points = [0, 0];
    this.games = 0;
    this.last = "";
    this.start = { ...this.app.game.start, moves: [] };
    this.opening = [];
    await this.run();
  }

  /** Ends it after the present move; what was played stays. */
  stop(): void {
    this.abort?.abort();
    if (this.running) this.set("stopped");
  }

  /** Goes on with a new game. */
  async goOn(): Promise<void> {
    if (this.plan && this.games < this.plan.games) await this.run();
  }

  /** Plays games until there are enough of them, or it is stopped. */
  private async run(): Promise<void> {
    const abort = (this.abort = new AbortController());
    const plan = this.plan!;
    this.set("playing");
    try {
      while (this.games < plan.games && !abort.signal.aborted) {
        if (this.games % 2 === 0) this.opening = [];
        await this.open();
        const result = await this.game(abort.signal);
        if (abort.signal.aborted) return;
        this.count(result);
      }
      this.set("over");
    } catch (error) {
      if (abort.signal.aborted) return;
      this.problem = message(error);
      this.set("lost");
    }
  }

  /** Which of the two plays a side in the present game. */
  private player(side: "w" | "b"): 0 | 1 {
    const begins = this.app.game.kind === "chess" ? "w" : "b";
    return (side === begins) === (this.games % 2 === 0) ? 0 : 1;
  }

  private contestant(side: "w" | "b"): Contestant {
    return this.plan!.players[this.player(side)];
  }

  private name(side: "w" | "b"): string {
    return called(this.contestant(side));
  }

  private async open(): Promise<void> {
    const { app } = this;
    this.opens = true;
    app.mayLeave = null;
    try {
      await openStart(app, this.start!);
    } finally {
      this.opens = false;
    }
    // A game against a person that was open has ended with it, and has left the board to both sides.
    this.set("playing");
    const { headers, kind } = app.game;
    const event = texts.series.event(this.plan!.players.map(called), this.games + 1, this.plan!.games);
    const now = new Date();
    const date = [now.getFullYear(), now.getMonth() + 1, now.getDate()].map((each) => String(each).padStart(2, "0"));
    const [white, black] = [this.name("w"), this.name("b")];
    if (kind === "chess") Object.assign(headers, { Event: event, Date: date.join("."), White: white, Black: black, Result: "*" });
    else Object.assign(headers, { EV: event, DT: date.join("-"), PB: black, PW: white });
    app.retitled();
  }

  /** Plays the open game to its end; its result. */
  private async game(signal: AbortSignal): Promise<Result> {
    const { app } = this;
    let tip = app.node();
    for (let ply = 0; !tip.end && ply < LONGEST[app.game.kind]; ply += 1) {
      const move = this.opening[ply] ?? (await this.think(tip, ply, signal));
      if (signal.aborted) return "";
      if (move === null) break;
      if (move === RESIGN) return this.resigned(tip);
      if (this.games % 2 === 0 && ply < OPENING) this.opening[ply] = move;
      // Its last position was taken out of the game by hand.
      if (!app.game.nodes.has(tip.id)) return this.stop(), "";
      if (app.cursor !== tip.id) app.go(tip.id);
      tip = await app.play(move);
      if (signal.aborted) return "";
    }
    return this.judged(tip, signal);
  }

  private async think(tip: Node, ply: number, signal: AbortSignal): Promise<string | null> {
    const { app } = this;
    const player = this.contestant(tip.turn);
    const varied = ply < OPENING && this.methods(player).includes("top-prob");
    const strength = varied ? { method: "top-prob", temperature: 1, seconds: 1 } : this.strengthOf(player);
    return (await app.api.think({ ...asked(player), line: app.line(tip.id), ...strength }, () => undefined, signal)).move;
  }

  private methods({ name, program }: Player): string[] {
    return (program ? null : this.app.named(name)?.methods) ?? [];
  }

  /** The strength asked for; a network that does not know its method plays by its first one. */
  private strengthOf(player: Contestant): Strength {
    const { strength } = this.plan!;
    const known = strength.method === null || this.methods(player).includes(strength.method);
    return { ...strength, method: known ? strength.method : null, rating: player.rating };
  }

  /** A program of Go gives up. */
  private resigned(tip: Node): Result {
    const winner = tip.turn === "w" ? "b" : "w";
    this.app.game.headers.RE = `${winner.toUpperCase()}+R`;
    this.last = texts.series.resigns(this.name(tip.turn));
    this.app.retitled();
    return winner;
  }

  /** Who has won, in words and in the record. */
  private async judged(tip: Node, signal: AbortSignal): Promise<Result> {
    const { app } = this;
    const { headers, kind } = app.game;
    let result: Result = "draw";
    if (kind === "chess") {
      if (tip.end === "checkmate") result = tip.turn === "w" ? "b" : "w";
      headers.Result = { w: "1-0", b: "0-1", draw: "1/2-1/2" }[result];
      this.last = ending(tip) || texts.series.tooLong;
    } else {
      const ended = tip.end === "passes";
      const counter = ended ? "" : this.counter;
      const lead = await (ended ? this.counted(tip, signal) : this.lead(counter, tip, signal));
      result = lead > 0 ? "b" : lead < 0 ? "w" : "draw";
      headers.RE = result === "draw" ? "0" : `${result.toUpperCase()}+${Math.abs(lead)}`;
      const wins = texts.gocount.wins(result === "b" ? texts.common.black : texts.common.white, Math.abs(lead));
      this.last = result === "draw" ? texts.series.draw : ended ? wins : texts.series.counts(wins, counter);
    }
    if (!signal.aborted) app.retitled();
    return result;
  }

  /** The network that judges a game which is too long: the first that plays, else the one that is looked at. */
  private get counter(): string {
    const name = this.plan!.players.find(({ program }) => !program)?.name ?? this.app.network;
    if (!name) throw new Error(texts.series.nobodyCounts);
    return name;
  }

  /** Points that Black is ahead in a game that two passes ended. */
  private async counted(tip: Node, signal: AbortSignal): Promise<number> {
    const { black, white } = await this.app.api.count(this.app.line(tip.id), undefined, signal);
    return black - white;
  }

  /** Points that Black is ahead in a game that has not ended, as a network expects. */
  private async lead(network: string, tip: Node, signal: AbortSignal): Promise<number> {
    const line = this.app.line(tip.id);
    let found: Analysis | null = null;
    const last = { network, line, from: line.moves.length, to: line.moves.length };
    await this.app.api.analyse(last, (result) => (found = result), signal);
    return Math.round(2 * ((found as Analysis | null)?.score ?? 0)) / 2;
  }

  private count(result: Result): void {
    const [a, b] = result === "draw" ? [0.5, 0.5] : this.player(result === "w" ? "w" : "b") === 0 ? [1, 0] : [0, 1];
    this.points = [this.points[0] + a!, this.points[1] + b!];
    this.games += 1;
    this.changed();
  }

  private set(state: SeriesState): void {
    this.state = state;
    shown.sides = this.running ? "none" : "both";
    shown.resign = null;
    const question = texts.series.leaving;
    this.app.mayLeave = this.running ? () => confirmed(question, texts.series.stop, texts.match.stay) : null;
    shown.changed();
    this.changed();
  }
}
