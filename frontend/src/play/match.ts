/** A game against a network or a program: whose turn it is, thinking that can be stopped, taking back. No elements here. */

import { SHORT_SEARCH, type Check, type Think, type Thinking } from "../server/api";
import { message } from "../server/asking";
import { Clock, faces, shownAs, TICK, type Control, type Shown, type Side } from "./clock";
import { confirmed } from "../ui/confirming";
import { makeMain } from "../app/editing";
import { keep, kept } from "../app/storage";
import { ending, players } from "../app/naming";
import { shown } from "../board/overlays";
import { asked, type Player } from "../server/programs";
import type { App, Game, Line, Node } from "../app/state";
import { answer, grave, judgeOf, verdict } from "./teaching";
import { lettered, texts } from "../texts";
import { ancestry } from "../app/tree";

export interface Strength {
  method: string | null;
  /** Null of a rank: as its players vary their moves. */
  temperature: number | null;
  nodes: number | null;
  seconds: number | null;
  rating: number | null;
  /** Of Go: the rank to play like, "5k". */
  rank?: string;
}

/** An opponent that may resign does so when its chance was as low so many moves in a row; it offers a draw when its chance
 *  was as near to even for longer, late in the game. */
const HOPELESS = { chance: 0.03, moves: 3 };
const EVEN = { margin: 0.04, moves: 6, fromPly: 80 };

/** "away": the person looks at another position of the game, or of another. "checking", "advised": a search judges the
 *  person's move before it is answered, and has found that it loses much. */
export type State = "none" | "human" | "checking" | "advised" | "thinking" | "stopped" | "lost" | "away" | "over";

/** Its chance when it made a move, 0..1, and the ply before that move. */
interface Chance {
  ply: number;
  chance: number;
}

/** What the tab keeps of a game, so that it goes on after a reload. */
interface Left {
  /** The position from which the whole record begins. */
  root: string;
  opponent: Player;
  human: "w" | "b";
  strength: Strength;
  /** Plies at which it began, and the moves up to its last position. */
  from: number;
  moves: string[];
  entitled: boolean;
  yields: boolean;
  teaches?: boolean;
  paces?: boolean;
  chances: Chance[];
  control: Control | null;
  /** When the present turn began, ms since 1970. */
  since: number | null;
}

/** A person's offer of a draw is taken from this ply on, by an opponent that thinks its chance no better than this. */
const TAKES_DRAW = { chance: 0.54, fromPly: 20 };
/** The last seconds of a person are told once. */
const WARNED = 20;

/** In place of a move; a program of Go may answer it. */
export const RESIGN = "resign";

export type Result = Side | "draw" | "";

export class Match {
  state: State = "none";
  opponent: Player = { name: "", program: false };
  human: "w" | "b" = "w";
  strength: Strength = { method: null, temperature: 0, nodes: null, seconds: 1, rating: null };
  thought: Thinking | null = null;
  problem = "";
  /** How it ended, where it did. */
  outcome = "";
  /** Whether it may resign or offer a draw. */
  yields = false;
  /** Whether a move that loses much is told before it is answered, so that it can be taken back. */
  teaches = false;
  /** Whether it takes as long as people do, where the game has clocks and it plays like people. */
  paces = false;
  /** Why the person's last move is bad, where it is. */
  advice = "";
  /** The position after a move of the person's that was judged, or is not to be taken back. */
  private stands: number | null = null;
  /** It offers a draw, until the person has moved. */
  offers = false;
  /** Its chances at its own moves. */
  private chances: Chance[] = [];
  private start = 0;
  private tip = 0;
  private abort: AbortController | null = null;
  /** Its own move is on the way to the board. */
  making = false;
  /** Changes whenever a move on its way is no longer wanted. */
  private round = 0;
  /** The clocks, where the game has them. */
  clock: Clock | null = null;
  /** What the clocks showed when it ended. */
  private frozen: Record<Side, Shown> | null = null;
  private ticking = 0;
  private warned = false;
  /** What the opponent said to the offer of a draw, and the position at which that was. */
  private answered: { at: number; text: string } | null = null;
  /** Who has won, as far as it is known. */
  result: Result = "";
  /** The record names the players and the result of this game. */
  private entitled = false;
  /** The record whose players an earlier game named here: the next one from it names them anew. */
  private titled: Game | null = null;
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
    void app.begun.then(() => {
      this.resume();
      this.left = null;
      this.remember();
    });
  }

  /** The opponent's. */
  get name(): string {
    return this.opponent.name;
  }

  /** How the opponent is called: the network of a person by the person's name. */
  get title(): string {
    const { name, program } = this.opponent;
    return (program ? null : this.app.named(name)?.person) || name;
  }

  /** The opponent in words: a network that plays like people is not to be taken for one of them. */
  private get called(): string {
    const network = this.opponent.program ? undefined : this.app.named(this.name);
    return network?.rated || network?.person ? texts.match.network(this.title) : this.title;
  }

  /** Plays on from the position that is shown. */
  begin(opponent: Player, human: "w" | "b", strength: Strength, control: Control | null = null): void {
    this.opponent = opponent;
    this.human = human;
    this.strength = strength;
    this.start = this.app.cursor;
    this.clock = control && new Clock(control, this.app, this.start);
    this.chances = [];
    this.advice = "";
    this.stands = null;
    this.outcome = this.result = "";
    this.entitle();
    this.at(this.start);
  }

  /** Names the players in a record that names none. */
  private entitle(): void {
    const { game } = this.app;
    this.entitled = !players(game) || this.titled === game;
    if (!this.entitled) return;
    this.titled = game;
    for (const name of ["Termination", "RE", "TM", "OT"]) delete game.headers[name];
    const limit = limitOf(this.strength);
    const now = new Date();
    const date = [now.getFullYear(), now.getMonth() + 1, now.getDate()].map((each) => String(each).padStart(2, "0"));
    const [white, black] = this.human === "w" ? [texts.match.you, this.called] : [this.called, texts.match.you];
    const event = texts.match.event(this.title, limit);
    const { rating } = this.strength;
    for (const name of ["WhiteElo", "BlackElo"]) delete game.headers[name];
    const elo = rating && game.kind === "chess" ? { [this.human === "w" ? "BlackElo" : "WhiteElo"]: String(rating) } : {};
    const control = this.clock?.control;
    const times = !control
      ? { OT: texts.match.noLimit(limit, this.title) }
      : { TM: String(control.base), ...(control.increment ? { OT: `${control.increment} fischer` } : {}) };
    const timed = control ? `${control.base}${control.increment ? `+${control.increment}` : ""}` : "-";
    Object.assign(
      game.headers,
      game.kind === "chess"
        ? { Event: event, Date: date.join("."), White: white, Black: black, Result: "*", ...elo, TimeControl: timed }
        : { EV: event, DT: date.join("-"), PB: black, PW: white, ...times },
    );
    this.app.retitled();
  }

  /** Writes the result into the record: the winner, "draw", or "" for none yet. */
  private score(winner: Result, how: "R" | "T" | "" = ""): void {
    const { headers, kind } = this.app.game;
    this.result = winner;
    if (!this.entitled) return;
    if (kind === "chess") {
      headers.Result = { w: "1-0", b: "0-1", draw: "1/2-1/2", "": "*" }[winner];
      if (how === "T") headers.Termination = "Time forfeit";
      else delete headers.Termination;
    } else if (winner === "w" || winner === "b") headers.RE = `${winner.toUpperCase()}+${how}`;
    else delete headers.RE;
    this.app.retitled();
  }

  /** Goes on with the game that the tab had before it was loaded anew; whether it does. */
  private resume(): boolean {
    const { left, app } = this;
    if (left?.root !== this.root || this.state !== "none") return false;
    const path = [app.game.root];
    for (const move of left.moves) {
      const next = this.node(path.at(-1)!)!.children.find((id) => this.node(id)?.move === move);
      if (next === undefined) return false;
      path.push(next);
    }
    this.left = null;
    Object.assign(this, { opponent: left.opponent, human: left.human, strength: left.strength, entitled: left.entitled, yields: left.yields, teaches: left.teaches ?? false, paces: left.paces ?? false });
    if (left.entitled) this.titled = app.game;
    this.start = path[left.from] ?? path[0]!;
    this.chances = left.chances;
    this.clock = left.control && new Clock(left.control, app, this.start);
    this.at(path.at(-1)!);
    // The person's turn has gone on; the opponent begins its own anew.
    if (this.clock && this.node(this.tip)?.turn === this.human) this.clock.since = left.since;
    this.remember();
    return true;
  }

  /** What Ctrl+Z does while a game is played: the last move of the person's is taken back. */
  private undone(): boolean {
    const last = this.app.game.history.last;
    const aMove = last?.made !== undefined || last?.joined;
    if (this.state === "none" || this.state === "over" || !aMove) return false;
    if (this.canTakeBack) this.takeBack();
    else this.app.say(texts.match.noneToTake);
    return true;
  }

  /** The same once more, from where it began. */
  retry(): void {
    this.at(this.start);
  }

  /** Where it began, as the start of another game. */
  beginning(): Line {
    const { app } = this;
    const { fen } = app.node(this.start);
    return this.start === app.game.root || app.game.kind === "go" ? app.game.start : { game: "chess", moves: [], ...(fen ? { fen } : {}) };
  }

  get canTakeBack(): boolean {
    return this.state !== "none" && this.before() !== null;
  }

  /** Back to where the person made their last move. */
  takeBack(): void {
    const before = this.before();
    if (before === null) return;
    // What the status line says of the opponent's move is no longer so.
    this.app.say("");
    this.at(before);
  }

  /** From a position that was looked at back to the game's last one. */
  back(): void {
    this.app.go(this.tip);
  }

  stop(): void {
    if (this.state !== "thinking") return;
    this.abort?.abort();
    this.stopClock();
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

  /** Resigns if the player says yes, unless the game has ended meanwhile. */
  async askToResign(): Promise<void> {
    const wanted = await confirmed(texts.match.resigning(this.title), texts.play.resign, texts.match.playOn);
    if (wanted && this.state !== "none" && this.state !== "over") this.resign();
  }

  resign(): void {
    this.score(this.human === "w" ? "b" : "w", "R");
    this.finish(texts.match.resigned(this.called));
  }

  /** No longer a game against anybody; the moves stay. */
  end(): void {
    this.drop();
    this.thought = null;
    this.outcome = this.result = this.advice = "";
    this.clock = null;
    this.set("none");
  }

  /** Nothing that it thinks, and no move of its own that is on the way, is wanted any more. */
  private drop(): void {
    this.abort?.abort();
    this.round += 1;
    this.making = false;
  }

  private node(id: number): Node | undefined {
    return this.app.game.nodes.get(id);
  }

  /** The position from which the record begins, in one line. */
  private get root(): string {
    const { fen, turn, stones } = this.app.node(this.app.game.root);
    return fen ?? `${turn} ${stones}`;
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
    this.drop();
    this.tip = id;
    this.thought = null;
    this.advice = "";
    this.offers = false;
    this.answered = null;
    const { ply } = this.app.node(id);
    this.chances = this.chances.filter((each) => each.ply < ply);
    const over = this.outcome !== "";
    this.outcome = "";
    this.warned = false;
    this.clock?.begin(id);
    if (this.app.cursor !== id) {
      this.making = true;
      this.app.go(id);
      this.making = false;
    }
    // Only now: who counts the board would write the result of the position that was left again.
    if (over) this.score("");
    this.turn();
  }

  /** The position shown has changed: a move of the person's, or a look at another position. */
  private moved(): void {
    if (this.state === "none" || this.making) return;
    const node = this.app.node();
    if (node.id === this.tip) {
      if (this.advice) this.set("advised");
      else if (this.state === "away" || this.state === "human") this.turn();
      return;
    }
    const parent = node.parent === null ? undefined : this.node(node.parent);
    // A step on from the last position is a move, and so is a branch made now; the rest, a move that was taken back too, is
    // only looked at. A try at a puzzle is none.
    const made = this.app.game.history.last?.made === node.id;
    const tried = this.app.isTried?.(node.id) ?? false;
    const onward = !tried && (parent?.id === this.tip || (made && !this.played(node.id)));
    if (onward && parent?.turn === this.human && this.played(parent.id) && this.outcome === "") {
      this.abort?.abort();
      if (this.clock && !this.clock.moved(node.id)) {
        this.flag();
        this.app.retract(node.id);
        return;
      }
      this.tip = node.id;
      this.thought = null;
      this.advice = "";
      this.clock?.begin(node.id);
      if (this.clock) this.app.retitled();
      // What is played is the game; what was taken back is a variation of it.
      makeMain(this.app, node.id, this.start, true);
      this.turn();
    } else if (!["checking", "thinking", "over"].includes(this.state)) this.set("away");
  }

  /** Has the person's move judged. It is answered where it does not lose much. */
  private async taught(): Promise<void> {
    const { app, tip } = this;
    const node = app.node(tip);
    const abort = new AbortController();
    this.abort = abort;
    // Nobody's time runs meanwhile.
    this.stopClock();
    this.set("checking");
    await app.networksKnown();
    if (abort.signal.aborted) return;
    const engine = app.checker.now;
    const judge = judgeOf(app, this.name) ?? (engine ? app.network : null);
    if (!judge) return this.goOn();
    let check: Check | null = null;
    try {
      check = await app.api.check({ network: judge, line: app.line(tip), ...(engine ? { checked_by: engine } : {}) }, abort.signal);
    } catch (error) {
      if (abort.signal.aborted) return;
      app.say(texts.match.notJudged(message(error)));
    }
    if (abort.signal.aborted) return;
    if (check && grave(check)) {
      this.advice = `${verdict(node.san, check)} ${answer(check)}`.trim();
      this.set("advised");
      app.say(texts.match.advice(this.advice));
    } else this.goOn();
  }

  /** The move stands, and is answered. */
  goOn(): void {
    this.advice = "";
    this.stands = this.tip;
    this.clock?.begin(this.tip);
    if (this.app.cursor !== this.tip) this.app.go(this.tip);
    this.turn();
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
      else if (this.entitled) delete this.app.game.headers.RE;
      this.finish(ended);
      // The board is counted, again where it was counted before.
      if (node.end === "passes") this.app.retitled();
    }
    else if (node.turn === this.human) this.set("human");
    else if (this.teaches && this.tip !== this.start && this.stands !== this.tip) void this.taught();
    else void this.think();
  }

  private async think(): Promise<void> {
    const { app, opponent, clock } = this;
    const budget = clock ? Math.min(this.strength.seconds ?? Infinity, clock.budget(this.tip)) : this.strength.seconds;
    const strength = { ...this.strength, seconds: budget };
    const abort = new AbortController();
    this.abort = abort;
    this.thought = null;
    this.set("thinking");
    const begun = Date.now();
    try {
      const { move, people } = await app.api.think(
        { ...asked(opponent), line: app.line(this.tip), ...strength, ...this.pace() },
        (thought) => {
          if (abort.signal.aborted) return;
          this.thought = thought;
          this.changed();
        },
        abort.signal,
      );
      if (move !== null) await waited(people * 1000 - (Date.now() - begun), abort.signal);
      if (!abort.signal.aborted) await this.make(this.judged(move));
    } catch (error) {
      if (abort.signal.aborted) return;
      this.problem = message(error);
      this.stopClock();
      this.set("lost");
    }
  }

  /** Of a request: the clock, where the opponent takes as long as people do. The first move is free, and made at once. */
  private pace(): Pick<Think, "clock" | "increment" | "start"> {
    const { clock, strength, opponent, tip } = this;
    const likePeople = strength.rating !== null || imitates(strength);
    if (!this.paces || !clock || clock.since === null || !likePeople || opponent.program) return {};
    return { clock: Math.max(0.1, clock.now(tip)), increment: clock.control.increment, start: clock.control.base };
  }

  /** The move, or RESIGN where it may and thinks that it is lost. Offers a draw where the game is even. */
  private judged(move: string | null): string | null {
    const white = this.thought?.white;
    this.offers = false;
    if (move === null || white === null || white === undefined) return move;
    this.chances.push({ ply: this.app.node(this.tip).ply, chance: this.human === "w" ? 1 - white : white });
    if (!this.yields) return move;
    const last = (moves: number, fits: (chance: number) => boolean): boolean =>
      this.chances.length >= moves && this.chances.slice(-moves).every(({ chance }) => fits(chance));
    if (last(HOPELESS.moves, (chance) => chance <= HOPELESS.chance)) return RESIGN;
    this.offers = this.app.line(this.tip).moves.length >= EVEN.fromPly && last(EVEN.moves, (chance) => Math.abs(chance - 0.5) <= EVEN.margin);
    return move;
  }

  /** The person takes the draw that it offers. */
  accept(): void {
    this.score("draw");
    this.finish(texts.match.agreed);
  }

  /** Whether the person may offer a draw now: once in each position of theirs. */
  get mayOffer(): boolean {
    return this.state === "human" && this.app.game.kind === "chess" && this.answered?.at !== this.tip && this.tip !== this.start;
  }

  /** The opponent's answer to the person's offer of a draw here; "" for none. */
  get reply(): string {
    return this.answered?.at === this.tip ? this.answered.text : "";
  }

  /** The person offers a draw: it is taken where the opponent thinks itself no better, and the game is not just begun. */
  offerDraw(): void {
    const chance = this.chances.at(-1)?.chance;
    const early = this.app.line(this.tip).moves.length < TAKES_DRAW.fromPly;
    if (chance !== undefined && chance <= TAKES_DRAW.chance && !early) return this.accept();
    this.answered = { at: this.tip, text: texts.match.declines(this.title, early) };
    this.app.say(this.answered.text);
    this.changed();
  }

  private stopClock(): void {
    if (this.clock) this.clock.since = null;
  }

  /** The time of the side to move is over. */
  private flag(): void {
    const loser = this.app.node(this.tip).turn;
    const winner = loser === "w" ? "b" : "w";
    const yours = loser === this.human;
    const whose = yours ? texts.match.yourTime : texts.match.itsTime(this.title);
    if (bareKing(this.app.node(this.tip), winner)) {
      this.score("draw", "T");
      this.finish(texts.match.bareKing(whose), loser);
    } else {
      this.score(winner, "T");
      this.finish(yours ? texts.match.lostOnTime(whose, this.called) : texts.match.wonOnTime(whose), loser);
    }
    this.app.go(this.tip);
  }

  /** Looks at the clock of the side to move. */
  private tick(): void {
    const { clock, tip } = this;
    if (!clock || clock.since === null) return;
    const left = clock.now(tip);
    if (left <= 0) return this.flag();
    if (!this.warned && left <= WARNED && clock.control.base > 2 * WARNED && this.app.node(tip).turn === this.human) {
      this.warned = true;
      this.app.say(texts.match.secondsLeft(WARNED));
    }
    faces.changed();
  }

  /** What the clocks at the board show. */
  private face(side: Side): Shown | null {
    const { clock, tip, app } = this;
    if (this.frozen) return app.cursor === tip ? this.frozen[side] : null;
    if (!clock || !this.node(tip)) return null;
    const turn = app.node(tip).turn === side;
    return shownAs(turn ? clock.now(tip) : clock.at(tip, side), turn && clock.since !== null);
  }

  private async make(move: string | null): Promise<void> {
    if (move === RESIGN || move === null) {
      if (move) this.score(this.human, "R");
      this.finish(move ? texts.match.itResigns(this.title) : texts.match.noMove(this.title));
      return;
    }
    if (this.making) return;
    const { round } = this;
    const wanted = (): boolean => this.round === round;
    let node: Node;
    this.making = true;
    this.set("stopped");
    if (this.app.cursor !== this.tip) this.app.go(this.tip);
    try {
      node = await this.app.play(move, wanted);
    } catch (error) {
      if (!wanted()) return;
      this.making = false;
      this.problem = message(error);
      this.set("lost");
      return;
    }
    if (!wanted()) return;
    this.making = false;
    if (this.clock && !this.clock.moved(node.id)) {
      this.flag();
      this.app.retract(node.id);
      return;
    }
    this.tip = node.id;
    this.clock?.begin(node.id);
    if (this.clock) this.app.retitled();
    makeMain(this.app, node.id, this.start, true);
    this.app.say(texts.match.plays(this.title, lettered(node.san)));
    this.turn();
  }

  /** It is over; `late`: the side whose time was up. */
  private finish(outcome: string, late: Side | null = null): void {
    this.drop();
    if (this.clock) {
      const at = (side: Side): Shown => ({ ...(side === late ? shownAs(0, false) : this.face(side)!), runs: false });
      this.frozen = { w: at("w"), b: at("b") };
      this.clock.since = null;
    }
    this.outcome = outcome;
    this.advice = "";
    this.app.say(outcome);
    this.set("over");
    // Of a game of Go that was ended by passes the count says who has won, and says it again where it is changed.
    const passes = this.app.node(this.tip).end === "passes";
    shown.counted = !passes
      ? null
      : (winner, words) => {
          if (this.state !== "over" || this.app.cursor !== this.tip || this.outcome === texts.match.passed(words)) return;
          this.result = winner;
          this.outcome = texts.match.passed(words);
          this.changed();
        };
  }

  private set(state: State): void {
    this.state = state;
    if (state !== "over") this.frozen = null;
    const timed = this.clock !== null && state !== "none";
    faces.show(timed ? (side) => this.face(side) : null);
    window.clearInterval(this.ticking);
    if (timed && state !== "over") this.ticking = window.setInterval(() => this.tick(), TICK);
    const playing = state === "human" || state === "away";
    shown.sides = state === "none" || state === "over" ? "both" : playing ? this.human : "none";
    const running = state !== "none" && state !== "over";
    const waits = this.app.game.kind === "chess" && (state === "thinking" || (state === "stopped" && this.making));
    shown.early = waits ? this.human : null;
    shown.resign = running ? () => void this.askToResign() : null;
    this.app.mayLeave = running ? () => this.mayLeave() : null;
    this.hide(running);
    this.remember();
    shown.changed();
    this.changed();
  }

  private mayLeave(): Promise<boolean> {
    return confirmed(texts.match.leaving(this.title), texts.match.leave, texts.match.stay);
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
    const { state, app, opponent, human, strength, entitled, yields, teaches, paces, chances, clock } = this;
    if (this.left) return;
    if (state === "none" || state === "over" || !this.node(this.tip)) return keep("session", "match", null);
    const line = ancestry(app.game, this.tip);
    const game = { root: this.root, opponent, human, strength, entitled, yields, teaches, paces, chances, from: line.indexOf(this.start), moves: app.line(this.tip).moves };
    const left: Left = { ...game, control: clock?.control ?? null, since: clock?.since ?? null };
    keep("session", "match", JSON.stringify(left));
  }
}

/** Whether a side of chess has nothing but its king. */
function bareKing({ fen }: Node, side: Side): boolean {
  const men = (fen?.split(" ")[0] ?? "").replace(/[^a-zA-Z]/g, "");
  return fen !== undefined && [...men].filter((each) => (each === each.toUpperCase() ? "w" : "b") === side).length === 1;
}

/** Resolves after some milliseconds, or when it is aborted. */
function waited(ms: number, signal: AbortSignal): Promise<void> {
  if (ms <= 0 || signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = window.setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      window.clearTimeout(timer);
      resolve();
    });
  });
}

/** Whether it is the strength of a network that plays like its person: what it samples, at the person's variety. */
export const imitates = ({ temperature, seconds, nodes, rating, rank }: Strength): boolean => temperature === 1 && seconds === 5 && !nodes && !rating && !rank;

/** "1 s a move": how strong it plays, for the record. */
function limitOf(strength: Strength): string {
  const { method, rating, rank, nodes, seconds } = strength;
  if (rating) return texts.match.likePlayer(rating);
  if (rank) return texts.match.likeRank(rank);
  if (imitates(strength)) return texts.match.likePerson;
  if (method === SHORT_SEARCH) return texts.match.secondsAMove(1);
  if (!nodes && !seconds && method !== "top-prob") return texts.match.onClock;
  if (nodes) return texts.match.perMove(nodes);
  return seconds ? texts.match.secondsAMove(seconds) : texts.match.noSearch;
}
