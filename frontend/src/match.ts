/** A game against a network: whose turn it is, thinking that can be stopped, taking back. No elements here. */

import type { Thinking } from "./api";
import { message } from "./asking";
import { confirmed } from "./confirming";
import { makeMain } from "./editing";
import { keep, kept } from "./kept";
import { players } from "./naming";
import { shown } from "./overlays";
import type { App, Node } from "./state";
import { ancestry } from "./tree";

export interface Strength {
  method: string | null;
  temperature: number;
  nodes: number | null;
  seconds: number | null;
  rating: number | null;
}

/** A network that may resign does so when its chance was as low so many moves in a row; it offers a draw when its chance
 *  was as near to even for longer, late in the game. */
const HOPELESS = { chance: 0.03, moves: 3 };
const EVEN = { margin: 0.04, moves: 6, fromPly: 80 };

/** "away": the person looks at another position of the game, or of another. */
export type State = "none" | "human" | "thinking" | "stopped" | "lost" | "away" | "over";

/** What the tab keeps of a game, so that it goes on after a reload. */
interface Left {
  network: string;
  human: "w" | "b";
  strength: Strength;
  /** Plies at which it began, and the moves up to its last position. */
  from: number;
  moves: string[];
  entitled: boolean;
  yields: boolean;
}

export class Match {
  state: State = "none";
  network = "";
  human: "w" | "b" = "w";
  strength: Strength = { method: null, temperature: 0, nodes: null, seconds: 1, rating: null };
  thought: Thinking | null = null;
  problem = "";
  /** How it ended, where it did. */
  outcome = "";
  /** Whether it may resign or offer a draw. */
  yields = false;
  /** It offers a draw, until the person has moved. */
  offers = false;
  /** Its chances after its own moves, 0..1. */
  private chances: number[] = [];
  private start = 0;
  private tip = 0;
  private abort: AbortController | null = null;
  /** Its own move is on the way to the board. */
  private making = false;
  /** The record names the players and the result of this game. */
  private entitled = false;
  /** Whether hints were shown before it began. */
  private hints: boolean | null = null;
  /** A game that went on when the page was loaded anew. */
  private left: Left | null = JSON.parse(kept("session", "match") ?? "null");

  constructor(
    private readonly app: App,
    private readonly changed: () => void,
  ) {
    app.on("cursor", () => this.moved());
    app.on("game", () => {
      if (this.resume()) return;
      this.left = null;
      this.end();
    });
    // Its last position may have been taken out of the tree.
    app.on("tree", () => this.state !== "none" && !this.node(this.tip) && this.end());
    app.takesBack = () => this.undone();
    queueMicrotask(() => this.resume());
  }

  /** Plays on from the position that is shown. */
  begin(network: string, human: "w" | "b", strength: Strength): void {
    this.network = network;
    this.human = human;
    this.strength = strength;
    this.start = this.app.cursor;
    this.chances = [];
    this.offers = false;
    this.entitle();
    this.at(this.start);
  }

  /** Names the players in a record that names none. */
  private entitle(): void {
    const { game } = this.app;
    this.entitled = !players(game);
    if (!this.entitled) return;
    const limit = limitOf(this.strength);
    const now = new Date();
    const date = [now.getFullYear(), now.getMonth() + 1, now.getDate()].map((each) => String(each).padStart(2, "0"));
    const [white, black] = this.human === "w" ? ["You", this.network] : [this.network, "You"];
    const event = `Game against ${this.network}, ${limit}`;
    Object.assign(
      game.headers,
      game.kind === "chess"
        ? { Event: event, Date: date.join("."), White: white, Black: black, Result: "*", TimeControl: "-" }
        : { EV: event, DT: date.join("-"), PB: black, PW: white, OT: `${limit} for ${this.network}, no limit for you` },
    );
    this.app.retitled();
  }

  /** Writes the result into the record: the winner, "draw", or "" for none yet. */
  private score(winner: "w" | "b" | "draw" | "", resigned = false): void {
    const { headers, kind } = this.app.game;
    if (!this.entitled) return;
    if (kind === "chess") headers.Result = { w: "1-0", b: "0-1", draw: "1/2-1/2", "": "*" }[winner];
    else if (winner === "w" || winner === "b") headers.RE = `${winner.toUpperCase()}+${resigned ? "R" : ""}`;
    else delete headers.RE;
    this.app.retitled();
  }

  /** Goes on with the game that the tab had before it was loaded anew; whether it does. */
  private resume(): boolean {
    const { left, app } = this;
    if (!left || this.state !== "none") return false;
    const path = [app.game.root];
    for (const move of left.moves) {
      const next = this.node(path.at(-1)!)!.children.find((id) => this.node(id)?.move === move);
      if (next === undefined) return false;
      path.push(next);
    }
    this.left = null;
    Object.assign(this, { network: left.network, human: left.human, strength: left.strength, entitled: left.entitled, yields: left.yields });
    this.start = path[left.from] ?? path[0]!;
    this.at(path.at(-1)!);
    return true;
  }

  /** What Ctrl+Z does while a game is played: the last move of the person's is taken back. */
  private undone(): boolean {
    const last = this.app.game.history.last;
    const aMove = last?.made !== undefined || last?.joined;
    if (this.state === "none" || this.state === "over" || !aMove) return false;
    if (this.canTakeBack) this.takeBack();
    else this.app.say("There is no move of yours to take back.");
    return true;
  }

  /** The same once more, from where it began. */
  retry(): void {
    this.at(this.start);
  }

  get canTakeBack(): boolean {
    return this.state !== "none" && this.before() !== null;
  }

  /** Back to where the person made their last move. */
  takeBack(): void {
    const before = this.before();
    if (before !== null) this.at(before);
  }

  /** From a position that was looked at back to the game's last one. */
  back(): void {
    this.app.go(this.tip);
  }

  stop(): void {
    if (this.state !== "thinking") return;
    this.abort?.abort();
    this.set("stopped");
  }

  again(): void {
    this.at(this.tip);
  }

  /** Plays the best that it had found when it was stopped. */
  playBest(): void {
    const move = this.thought?.pv?.[0];
    if (move) void this.make(move);
  }

  resign(): void {
    this.score(this.human === "w" ? "b" : "w", true);
    this.finish(`You have resigned. ${this.network} wins.`);
  }

  /** No longer a game against anybody; the moves stay. */
  end(): void {
    this.abort?.abort();
    this.thought = null;
    this.outcome = "";
    this.set("none");
  }

  private node(id: number): Node | undefined {
    return this.app.game.nodes.get(id);
  }

  /** The last position before the tip where the person was to move; null where there is none. */
  private before(): number | null {
    if (this.tip === this.start) return null;
    for (let id = this.node(this.tip)?.parent ?? null; id !== null; id = this.node(id)?.parent ?? null) {
      if (this.node(id)?.turn === this.human) return id;
      if (id === this.start) return null;
    }
    return null;
  }

  /** The game goes on at this position. */
  private at(id: number): void {
    this.abort?.abort();
    this.tip = id;
    this.thought = null;
    if (this.outcome) this.score("");
    this.outcome = "";
    if (this.app.cursor !== id) {
      this.set("human");
      this.app.go(id);
    } else this.turn();
  }

  /** The position shown has changed: a move of the person's, or a look at another position. */
  private moved(): void {
    if (this.state === "none" || this.making) return;
    const node = this.app.node();
    if (node.id === this.tip) {
      if (this.state === "away" || this.state === "human") this.turn();
      return;
    }
    const parent = node.parent === null ? undefined : this.node(node.parent);
    // A step on from the last position is a move, and so is a new branch; the rest is only looked at.
    const onward = parent?.id === this.tip || (node.children.length === 0 && !this.played(node.id));
    if (onward && parent?.turn === this.human && this.played(parent.id) && this.outcome === "") {
      this.abort?.abort();
      this.tip = node.id;
      this.thought = null;
      // What is played is the game; what was taken back is a variation of it.
      makeMain(this.app, node.id, this.start, true);
      this.turn();
    } else if (this.state !== "thinking" && this.state !== "over") this.set("away");
  }

  /** Whether a position was passed on the way to the tip. */
  private played(id: number): boolean {
    for (let at: number | null = this.tip; at !== null; at = this.node(at)?.parent ?? null) {
      if (at === id) return true;
      if (at === this.start) return false;
    }
    return false;
  }

  private turn(): void {
    const node = this.app.node();
    const ended = ending(node);
    if (this.outcome) this.set("over");
    else if (ended) {
      if (node.end === "checkmate") this.score(node.turn === "w" ? "b" : "w");
      else if (node.end !== "passes") this.score("draw");
      this.finish(ended);
    }
    else if (node.turn === this.human) this.set("human");
    else void this.think();
  }

  private async think(): Promise<void> {
    const { app, network, strength } = this;
    const abort = new AbortController();
    this.abort = abort;
    this.thought = null;
    this.set("thinking");
    try {
      const { move } = await app.api.think(
        { network, line: app.line(this.tip), ...strength },
        (thought) => {
          if (abort.signal.aborted) return;
          this.thought = thought;
          this.changed();
        },
        abort.signal,
      );
      if (!abort.signal.aborted) await this.make(this.judged(move));
    } catch (error) {
      if (abort.signal.aborted) return;
      this.problem = message(error);
      this.set("lost");
    }
  }

  /** The move, or "resign" where it may and thinks that it is lost. Offers a draw where the game is even. */
  private judged(move: string | null): string | null {
    const white = this.thought?.white;
    this.offers = false;
    if (!this.yields || move === null || white === null || white === undefined) return move;
    this.chances.push(this.human === "w" ? 1 - white : white);
    const last = (moves: number, fits: (chance: number) => boolean): boolean =>
      this.chances.length >= moves && this.chances.slice(-moves).every(fits);
    if (last(HOPELESS.moves, (chance) => chance <= HOPELESS.chance)) return "resign";
    this.offers = this.app.line(this.tip).moves.length >= EVEN.fromPly && last(EVEN.moves, (chance) => Math.abs(chance - 0.5) <= EVEN.margin);
    return move;
  }

  /** The person takes the draw that it offers. */
  accept(): void {
    this.score("draw");
    this.finish("A draw by agreement.");
  }

  private async make(move: string | null): Promise<void> {
    if (move === "resign" || move === null) {
      if (move) this.score(this.human, true);
      this.finish(move ? `${this.network} resigns. You win.` : `${this.network} has no move.`);
      return;
    }
    this.set("stopped");
    if (this.app.cursor !== this.tip) this.app.go(this.tip);
    const before = this.tip;
    let node: Node;
    this.making = true;
    try {
      node = await this.app.play(move);
    } catch (error) {
      this.problem = message(error);
      this.set("lost");
      return;
    } finally {
      this.making = false;
    }
    if (this.tip !== before) return;
    this.tip = node.id;
    makeMain(this.app, node.id, this.start, true);
    this.app.say(`${this.network} plays ${node.san}.`);
    this.turn();
  }

  private finish(outcome: string): void {
    this.abort?.abort();
    this.outcome = outcome;
    this.app.say(outcome);
    this.set("over");
  }

  private set(state: State): void {
    this.state = state;
    const playing = state === "human" || state === "away";
    shown.sides = state === "none" || state === "over" ? "both" : playing ? this.human : "none";
    const running = state !== "none" && state !== "over";
    shown.resign = running ? () => this.resign() : null;
    this.app.mayLeave = running ? () => this.mayLeave() : null;
    this.hide(running);
    this.remember();
    shown.changed();
    this.changed();
  }

  private mayLeave(): Promise<boolean> {
    return confirmed(`You are playing against ${this.network}. Leave this game? Its moves are kept under Earlier games.`, "Leave the game", "Stay");
  }

  /** No help while a game is played, unless it is asked for. */
  private hide(running: boolean): void {
    const { app } = this;
    if (running && this.hints === null) {
      this.hints = app.hints;
      if (app.hints) app.set({ hints: false });
    } else if (!running && this.hints !== null) {
      const before = this.hints;
      this.hints = null;
      if (before && !app.hints) app.set({ hints: true });
    }
  }

  /** Keeps the game for a reload. */
  private remember(): void {
    const { state, app, network, human, strength, entitled, yields } = this;
    if (this.left) return;
    if (state === "none" || state === "over" || !this.node(this.tip)) return keep("session", "match", null);
    const line = ancestry(app.game, this.tip);
    const left: Left = { network, human, strength, entitled, yields, from: line.indexOf(this.start), moves: app.line(this.tip).moves };
    keep("session", "match", JSON.stringify(left));
  }
}

/** "1 s a move": how strong it plays, for the record. */
function limitOf({ rating, nodes, seconds }: Strength): string {
  if (rating) return `like a player of ${rating}`;
  if (nodes) return `${nodes.toLocaleString("en")} positions a move`;
  return seconds ? `${seconds} s a move` : "no search";
}

/** How a position ends the game, in words; "" where it does not. */
export function ending(node: Node): string {
  if (!node.end) return "";
  if (node.end === "checkmate") return `Checkmate: ${node.turn === "w" ? "Black" : "White"} wins.`;
  const draws: Record<string, string> = {
    stalemate: "Stalemate: a draw.",
    dead: "A draw: neither side can mate.",
    repetition: "A draw by repetition.",
    "fifty moves": "A draw by the fifty-move rule.",
    passes: "Both have passed: the game is over.",
  };
  return draws[node.end] ?? `The game is over: ${node.end}.`;
}
