/**
 * The opening trainer: asks for the player's move in one position after the other, and answers with likely moves of opponents.
 * Positions that are missed come back, by the schedule of the mistakes.
 */

import { message } from "../server/asking";
import { button, el, percent, seeBoard } from "../ui/elements";
import { grown } from "../app/hash";
import { named } from "../app/naming";
import type { App, Node } from "../app/state";
import type { OpeningChecks } from "./openingchecks";
import { cardPosition, draw, type Flaw, type Position, type Repertoire, type Reply, replies, shownReplies, tried, usual } from "./repertoire";
import { type Answer, cardOf, schedule } from "./schedule";
import { lettered, texts } from "../texts";

/** Between a right answer and the opponent's move, ms. */
const PAUSE = 900;
/** So long a move waits for what the search says of it, ms. */
const PATIENCE = 2500;
/** So much less than before is as good as before. */
const SLACK = 0.03;

type Stage = "none" | "opening" | "asked" | "checking" | "answered";

export class Trainer {
  readonly element: HTMLElement;
  /** What was said of the move before, where the opponent's answer led to the next question. */
  private readonly before = el("p", { class: "opening-before", hidden: true });
  private readonly question = el("p", { class: "opening-question", role: "status" });
  private readonly verdict = el("p", { class: "opening-verdict", role: "status" });
  private readonly answers = el("div", { class: "opening-answers" });
  private readonly next = button(texts.openings.next, () => void this.open(), { class: "primary" });
  private readonly reveal = button(texts.openings.reveal, () => void this.show());
  private readonly end = button(texts.openings.end, () => this.stop());
  private repertoire: Repertoire | null = null;
  /** What is still asked today, in this order, and of how many. */
  private rest: Position[] = [];
  private total = 0;
  private right = 0;
  private missed = 0;
  private stage: Stage = "none";
  private position: Position | null = null;
  /** The node of the asked position. */
  private node = -1;
  private grade: ((answer: Answer) => void) | null = null;
  private helped = false;
  /** Whether the present position was counted as missed. */
  private counted = false;
  private moving = false;
  /** While the game of a position is put on the board. */
  private opens = false;
  private hints = true;
  /** Counts the positions, so that what comes late is known as such. */
  private turn = 0;
  private timer = 0;

  /** network: the one that predicts answers by rating; undefined without any. over: called when a practice ends. */
  constructor(
    private readonly app: App,
    private readonly checks: OpeningChecks,
    private readonly network: () => string | undefined,
    private readonly over: (words: string) => void,
  ) {
    this.element = el("section", { class: "opening-trainer", hidden: true }, this.before, this.question, this.verdict, this.answers, el("div", { class: "buttons" }, this.next, this.reveal, this.end));
    app.on("game", () => this.opens || this.stop());
    app.on("cursor", () => this.moved());
    app.on("settings", () => (this.helped ||= this.stage === "asked" && app.hints));
    const before = app.isTried;
    // All moves of a practice are tried ones: the game is none to keep.
    app.isTried = (id) => this.running || (before?.(id) ?? false);
    // Whoever goes to another panel wants to see what the network says, and to keep what is played there.
    new IntersectionObserver(() => this.element.offsetParent || this.stop()).observe(this.element);
  }

  get running(): boolean {
    return this.stage !== "none";
  }

  async start(repertoire: Repertoire, targets: readonly Position[]): Promise<void> {
    this.stop();
    if (!targets.length || !(await this.app.mayOpen())) return;
    this.repertoire = repertoire;
    this.rest = [...targets];
    this.total = targets.length;
    this.right = this.missed = 0;
    this.hints = this.app.hints;
    this.element.hidden = false;
    seeBoard();
    await this.open();
  }

  stop(): void {
    if (!this.running) return;
    this.turn += 1;
    window.clearTimeout(this.timer);
    this.stage = "none";
    this.grade = this.position = null;
    this.element.hidden = true;
    this.app.set({ hints: this.hints });
    this.over(this.right + this.missed ? texts.openings.over(this.right, this.missed) : "");
  }

  /** Opens the next position, or ends. */
  private async open(): Promise<void> {
    const { app } = this;
    window.clearTimeout(this.timer);
    this.prune();
    const position = this.rest.shift();
    if (!position) return this.stop();
    this.turn += 1;
    const { turn } = this;
    this.stage = "opening";
    try {
      const line = { game: "chess" as const, moves: position.line };
      const nodes = await app.api.line(line);
      if (turn !== this.turn) return;
      // Nothing is given away while the position opens.
      app.set({ hints: false });
      this.opens = true;
      app.open(...grown(line, nodes, position.line.length, {}));
      this.opens = false;
      this.ask(position, "");
    } catch (error) {
      this.opens = false;
      if (turn !== this.turn) return;
      app.say(message(error), true);
      this.stop();
    }
  }

  /** Drops what only a usual move leads to that the search has rejected by now. */
  private prune(): void {
    const rest = this.repertoire?.reached(this.rest, (each) => Boolean(this.checks.flaw(each))) ?? [];
    this.total -= this.rest.length - rest.length;
    this.rest = rest;
  }

  private move(act: () => void): void {
    this.moving = true;
    try {
      act();
    } finally {
      this.moving = false;
    }
  }

  /** Asks for the move in the position on the board. replied: the opponent's move that led to it; "" if it was opened. */
  private ask(position: Position, replied: string): void {
    const { app } = this;
    this.position = position;
    this.node = app.cursor;
    this.stage = "asked";
    this.helped = this.counted = false;
    this.grade = schedule.attempt(cardOf(this.repertoire!.owner, cardPosition(position)));
    app.set({ hints: false, flipped: position.side === "black" });
    const side = position.side === "white" ? texts.common.white : texts.common.black;
    const after = app.node().move === null ? "" : named(app, app.node());
    const opening = position.opening?.name ?? "";
    const at = this.total - this.rest.length;
    this.question.textContent = replied ? texts.openings.replied(at, this.total, replied, side) : texts.openings.question(at, this.total, side, after, opening);
    this.before.hidden = !replied;
    this.before.textContent = replied ? this.verdict.textContent : "";
    this.before.classList.toggle("good", this.verdict.classList.contains("good"));
    this.say("");
    this.answers.replaceChildren();
    this.buttons();
    // What the search says of the usual move is there when the answer comes, most often.
    void this.checks.find(position);
  }

  private say(words: string, good = false): void {
    if (this.verdict.textContent !== words) this.verdict.textContent = words;
    this.verdict.classList.toggle("good", good);
  }

  private buttons(): void {
    this.next.hidden = this.stage !== "answered";
    this.next.textContent = this.rest.length ? texts.openings.next : texts.openings.finish;
    this.reveal.hidden = this.stage !== "asked";
  }

  private moved(): void {
    if (this.moving || this.stage !== "asked") return;
    const node = this.app.node();
    if (node.parent === this.node) void this.judge(node);
  }

  /** Says what a tried move is. */
  private async judge(node: Node): Promise<void> {
    const { position, turn } = this;
    const san = lettered(node.san);
    if (!position || !node.move) return;
    this.stage = "checking";
    this.buttons();
    let flaw = this.checks.flaw(position);
    if (flaw === undefined) {
      this.say(texts.openings.checkingMove(san));
      const found = this.checks.find(position);
      flaw = (await Promise.race([found, new Promise<undefined>((done) => window.setTimeout(done, PATIENCE))])) ?? null;
      if (turn !== this.turn) return;
      if (!flaw) this.later(position, node.move, found);
    }
    let kind = tried(position, node.move, flaw);
    const own = usual(position)!;
    const points = Math.round(100 * (flaw?.loss ?? 0));
    if (flaw && (kind === "other" || kind === "also")) {
      this.say(texts.openings.checkingMove(san));
      const judged = await this.checks.judge(position.line, node.move);
      if (turn !== this.turn) return;
      const sound = judged !== undefined && judged.loss <= SLACK;
      if (sound) return this.passed(texts.openings.asGood(san, lettered(flaw.best.san)), node);
      // Where no search has come, another own move stays one.
      if (judged) kind = "other";
    }
    if (kind === "usual") return this.passed(texts.openings.right(san, own.games, position.games), node);
    if (kind === "also") return this.passed(texts.openings.also(san, lettered(own.san)), node);
    if (kind === "better") return this.passed(texts.openings.betterFound(san, lettered(own.san), points), node);
    this.fail();
    this.say(kind === "flawed" ? texts.openings.flawed(san, points, lettered(flaw!.best.san)) : flaw ? texts.openings.notBetter(san) : texts.openings.other(san));
    this.move(() => this.app.retract(node.id));
    this.stage = "asked";
    this.buttons();
  }

  /** A usual move was taken as right before the search had judged it: if it loses much, that counts. */
  private later(position: Position, move: string, found: Promise<Flaw | null>): void {
    const { grade } = this;
    void found.then((flaw) => {
      if (!flaw || tried(position, move, flaw) !== "flawed") return;
      grade?.("failed");
      this.app.say(texts.openings.flawed(lettered(usual(position)!.san), Math.round(100 * flaw.loss), lettered(flaw.best.san)), false, true);
    });
  }

  private fail(): void {
    this.grade?.("failed");
    this.helped = true;
    if (!this.counted) this.missed += 1;
    this.counted = true;
  }

  private passed(words: string, node: Node): void {
    this.grade?.(this.helped ? "later" : "first");
    if (!this.counted) this.right += 1;
    this.counted = true;
    this.say(words, true);
    void this.follow(node);
  }

  /** Shows and plays the move that was asked for. */
  private async show(): Promise<void> {
    const { app, position, turn } = this;
    if (!position || this.stage !== "asked") return;
    this.stage = "checking";
    this.fail();
    const own = usual(position)!;
    const flaw = this.checks.flaw(position) ?? null;
    this.say(flaw ? texts.openings.flawed(lettered(own.san), Math.round(100 * flaw.loss), lettered(flaw.best.san)) : texts.openings.solution(lettered(own.san), own.games, position.games));
    let node: Node | null = null;
    try {
      this.moving = true;
      if (app.cursor !== this.node) app.go(this.node);
      node = await app.play((flaw?.best ?? own).move, () => turn === this.turn);
    } catch (error) {
      if (turn === this.turn) app.say(message(error), true);
    } finally {
      this.moving = false;
    }
    if (turn === this.turn) void this.follow(node);
  }

  /** After the move to a position: the likely answers, and one of them if it leads to another position of today. */
  private async follow(node: Node | null): Promise<void> {
    const { app, position, repertoire, turn } = this;
    if (!position || !repertoire) return;
    this.stage = "answered";
    this.prune();
    this.buttons();
    // It may have been taken back meanwhile.
    if (!node || !app.game.nodes.has(node.id)) return;
    const network = this.network();
    const line = app.line(node.id);
    const found = network ? await app.api.byRating({ network, line }).catch(() => null) : null;
    if (turn !== this.turn) return;
    const { rating } = repertoire;
    const place = repertoire.at(position.side, node.fen ?? "");
    const all = replies(place, found, rating);
    this.answers.replaceChildren(...answerList(shownReplies(all), rating));
    const leads = (reply: Reply): Position | undefined => {
      const to = place?.played.find(({ move }) => move === reply.move)?.to;
      const next = to ? repertoire.at(position.side, to) : undefined;
      return next && this.rest.includes(next) ? next : undefined;
    };
    const reply = draw(all.filter(leads), Math.random());
    const target = reply && leads(reply);
    if (!reply || !target) {
      if (document.activeElement === document.body) this.next.focus();
      return;
    }
    this.next.hidden = true;
    this.timer = window.setTimeout(() => void this.answer(node, reply, target, turn), PAUSE);
  }

  /** Plays the opponent's move after a position, and asks for the next one. */
  private async answer(node: Node, reply: Reply, target: Position, turn: number): Promise<void> {
    const { app } = this;
    try {
      this.moving = true;
      // Somebody may have looked elsewhere meanwhile.
      app.go(node.id);
      await app.play(reply.move, () => turn === this.turn && app.cursor === node.id);
    } catch {
      if (turn === this.turn) this.buttons();
      return;
    } finally {
      this.moving = false;
    }
    if (turn !== this.turn) return;
    this.turn += 1;
    this.rest = this.rest.filter((each) => each !== target);
    this.ask({ ...target, line: app.line().moves }, lettered(reply.san));
  }
}

/** How players of a rating answer, and how often that came in the own games. */
export function answerList(all: readonly Reply[], rating: number, play?: (move: string) => void): HTMLElement[] {
  if (!all.length) return [];
  const head = el("h3", {}, texts.openings.answers(rating));
  // In the order of the share that stands there; what the network does not know comes last.
  const listed = [...all].sort((a, b) => (b.p ?? -1) - (a.p ?? -1) || b.games - a.games);
  const rows = listed.map(({ move, san, p, games }) =>
    el(
      "li",
      {},
      play ? button(lettered(san), () => play(move), { class: "opening-move", title: texts.common.play(lettered(san)) }) : el("b", { class: "opening-move" }, lettered(san)),
      el("span", { class: "opening-share" }, p === null ? "–" : percent(p)),
      el("span", { class: "opening-games" }, games ? texts.openings.inGames(games) : ""),
    ),
  );
  return [head, el("ul", { class: "opening-list", "aria-label": texts.openings.answers(rating) }, ...rows)];
}
