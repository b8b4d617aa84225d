/**
 * Find the better move: the positions of the game where most was lost, to be played better. Or a series of positions of
 * other games, which somebody's own mistakes are. The answers decide when a position is asked again.
 */

import "./puzzles.css";

import { chanceOf, whose } from "../app/chance";
import { Refused } from "../server/api";
import { message } from "../server/asking";
import { button, Choice, el, percent, seeBoard } from "../ui/elements";
import type { Exercise, Handover } from "../app/handover";
import type { Mistakes } from "../analysis/mistakes";
import { named, players } from "../app/naming";
import { exerciseOf, type KeptMistake, KeptMistakes } from "./keptmistakes";
import { type Answer, cardOf, positionOf, schedule } from "./schedule";
import type { App, Game, Node } from "../app/state";
import type { Judgement } from "../server/judging";
import { inLanguage, lettered, texts } from "../texts";
import { ancestry } from "../app/tree";

export function mountPuzzles(host: HTMLElement, app: App, mistakes: Mistakes, exercises: Handover<Exercise[]>): void {
  const puzzles = new Puzzles(host, app, mistakes);
  exercises.take((given) => void puzzles.practise(given));
}

/** So much less than before is as good as before: neither a search nor a network is that exact. */
const SLACK = 0.03;
/** So much must have been lost in chess, by what a search says; in Go, whose points count too, a move must be marked. */
const LEAST = 0.1;
/** So many positions are asked. */
const MOST = 15;

type Stage = "none" | "asked" | "judging" | "judged" | "shown";
/** What a tried move is: the one of the game; not known yet; or compared with it. */
type Verdict = "played" | "open" | "best" | "good" | "partly" | "bad";

class Puzzles {
  private readonly side: Choice;
  private readonly intro = el("p", { class: "note" });
  private readonly list = el("ol", { class: "puzzle-list" });
  private readonly question = el("p", { class: "puzzle-question", role: "status" });
  private readonly verdict = el("p", { class: "puzzle-verdict", role: "status" });
  private readonly facts = el("dl", { class: "puzzle-facts" });
  private readonly begin = button(texts.puzzles.begin, () => this.open(0), { class: "primary" });
  /** For mistakes of other games that are due. */
  private readonly earlier = button("", () => void this.practise(this.due().map((each) => exerciseOf(this.app, this.mistakes.judging, each))));
  private readonly keptOnes = new KeptMistakes(schedule);
  private readonly again = button(texts.puzzles.again, () => this.ask());
  private readonly reveal = button(texts.puzzles.reveal, () => this.show());
  private readonly next = button(texts.puzzles.next, () => this.open(this.at + 1), { class: "primary" });
  private readonly end = button(texts.puzzles.end, () => this.stop());
  private stage: Stage = "none";
  private at = 0;
  /** The positions after the mistakes, the worst first. */
  private ids: number[] = [];
  /** What was tried, and whether it was in the game before. */
  private tried: { id: number; own: boolean; graded: boolean } | null = null;
  /** Writes the answer to the present puzzle into the schedule; null once nothing can change it. */
  private grade: ((answer: Answer) => void) | null = null;
  /** Whether the present puzzle was tried in vain, or with what the network says on the board. */
  private helped = false;
  private known = new Set<number>();
  /** White's chance after the best move of a puzzle, found as for a tried move; null while or where it is not known. */
  private after: { id: number; judge: string; white: number | null; asked: boolean } | null = null;
  /** Positions of other games; none where those of the present one are asked. */
  private exercises: Exercise[] = [];
  private opening = false;
  private hints = true;
  /** How the game was seen that the puzzles are of; null where they open games of their own, which stay as they are. */
  private seen: { game: Game; flipped: boolean } | null = null;
  private moving = false;
  private drawn = "";

  constructor(
    private readonly host: HTMLElement,
    private readonly app: App,
    private readonly mistakes: Mistakes,
  ) {
    this.side = new Choice(texts.puzzles.of, () => {
      this.stop();
      this.draw();
    });
    host.classList.add("panel");
    host.replaceChildren(
      el("h2", {}, texts.puzzles.title),
      this.intro,
      this.side.element,
      this.list,
      this.question,
      this.verdict,
      this.facts,
      el("div", { class: "buttons" }, this.begin, this.earlier, this.next, this.again, this.reveal, this.end),
    );
    app.on("game", () => this.opening || this.stop());
    app.on("cursor", () => this.moved());
    app.on("settings", () => (this.helped ||= this.stage === "asked" && app.hints));
    const before = app.isTried;
    app.isTried = (id) => this.tries(id) || (before?.(id) ?? false);
    for (const event of ["results", "networks", "path", "settings", "judgements"] as const) app.on(event, () => this.draw());
    // Whoever goes to another panel wants to see what the network says.
    new IntersectionObserver(() => (host.offsetParent || this.opening ? this.draw() : this.stop())).observe(host);
    this.draw();
  }

  private get puzzle(): Node | undefined {
    return this.app.game.nodes.get(this.ids[this.at] ?? -1);
  }

  /** Those that are due, then the worst first; only what a search has confirmed, so that there is a better move. */
  private find(): number[] {
    const { app } = this;
    const lost = new Map(app.path.map((id) => [id, this.mistakes.lost(id) ?? 0]));
    const wanted = this.side.value;
    const found = app.path
      .filter((id) => (app.game.kind === "chess" ? lost.get(id)! >= LEAST : this.mistakes.judging.exact(id)?.mark))
      .filter((id) => wanted === "both" || app.node(app.node(id).parent!).turn === wanted)
      .sort((a, b) => lost.get(b)! - lost.get(a)!)
      .slice(0, MOST);
    const due = found.filter((id) => schedule.isDue(this.card(id)));
    due.sort((a, b) => schedule.due(this.card(a))!.getTime() - schedule.due(this.card(b))!.getTime());
    return [...due, ...found.filter((id) => !due.includes(id))];
  }

  /** The card of a mistake in the game on the board: of the position before it, and the player who made it. */
  private card(id: number): string {
    const { app } = this;
    const before = app.node(app.node(id).parent!);
    const tags = before.turn === "w" ? ["White", "PW"] : ["Black", "PB"];
    return cardOf(tags.map((tag) => app.game.headers[tag]).find(Boolean) ?? "", positionOf(before));
  }

  /** One position of these games after the other. */
  async practise(exercises: Exercise[]): Promise<void> {
    this.stop();
    if (!exercises.length) return;
    this.hints = this.app.hints;
    this.seen = null;
    this.exercises = exercises;
    this.ids = exercises.map(() => -1);
    await this.fetch(0);
  }

  private open(at: number): void {
    this.leave();
    this.grade = null;
    if (this.stage === "none") {
      this.hints = this.app.hints;
      this.seen = { game: this.app.game, flipped: this.app.flipped };
      this.ids = this.find();
    }
    if (at >= this.ids.length) {
      this.stop();
      this.app.say(texts.puzzles.last);
      return;
    }
    if (this.exercises.length) {
      void this.fetch(at);
      return;
    }
    this.at = at;
    this.first(this.card(this.ids[at]!));
  }

  /** Asks the present puzzle for the first time. */
  private first(card: string): void {
    this.ask();
    this.helped = false;
    const grade = schedule.attempt(card);
    this.grade = (answer) => {
      grade(answer);
      this.keep(card);
    };
  }

  /** Keeps the present puzzle, so that it can be asked again without its game. */
  private keep(card: string): void {
    const { app, puzzle, mistakes } = this;
    if (!puzzle?.move) return;
    this.keptOnes.add({ card, line: app.line(puzzle.parent!), move: puzzle.move, judge: mistakes.judging.judge, judgement: mistakes.judging.exact(puzzle.id) ?? null });
  }

  /** The due mistakes that are not of the game on the board. */
  private due(): KeptMistake[] {
    return this.keptOnes.due(new Set(this.find().map((id) => this.card(id))));
  }

  /** Opens the game of an exercise, and asks its position. */
  private async fetch(at: number): Promise<void> {
    const { app, exercises } = this;
    if (this.opening) return;
    this.opening = true;
    try {
      // Nothing is given away while the game opens.
      app.set({ hints: false });
      const id = await exercises[at]!.open();
      this.opening = false;
      // Meanwhile others were asked for, or the practice was ended.
      if (this.exercises !== exercises) return this.exercises.length ? this.fetch(0) : undefined;
      this.at = at;
      this.ids[at] = id;
      this.first(exercises[at]!.card);
      // What was lost by it, and what was better, is asked for before anything else.
      this.mistakes.judging.soon(id);
    } catch (error) {
      this.opening = false;
      if (this.exercises !== exercises) return this.exercises.length ? this.fetch(0) : undefined;
      // A kept one that the server cannot read is damaged: the others are asked all the same.
      const damaged = error instanceof Refused && error.status === 400 && exercises[at]!.kept;
      if (damaged) this.keptOnes.drop(exercises[at]!.card);
      if (damaged && exercises.length > 1) {
        this.exercises = exercises.toSpliced(at, 1);
        this.ids = this.ids.toSpliced(at, 1);
        if (at < this.exercises.length) return this.fetch(at);
        this.over();
        return app.say(texts.puzzles.last);
      }
      this.over();
      app.say(message(error), true);
    }
  }

  /** The position before the mistake, with nothing given away. */
  private ask(): void {
    const { app, puzzle } = this;
    if (!puzzle) return this.stop();
    // Who does not wait for the verdict of a try has tried all the same.
    this.helped ||= this.tried !== null && !this.tried.graded;
    this.leave();
    this.stage = "asked";
    seeBoard();
    this.go(puzzle.parent!);
    this.known = new Set(app.node(puzzle.parent!).children);
    const side = app.node(puzzle.parent!).turn;
    app.set({ hints: false, ...(app.game.kind === "chess" ? { flipped: side === "b" } : {}) });
    this.draw();
  }

  private go(id: number): void {
    this.moving = true;
    this.app.go(id);
    this.moving = false;
  }

  /** Takes out what was only tried. */
  private leave(): void {
    const { tried } = this;
    this.tried = null;
    if (!tried?.own || !this.app.game.nodes.has(tried.id)) return;
    this.moving = true;
    this.app.retract(tried.id);
    this.moving = false;
  }

  /** Whether the move to a position is an answer, or goes on from one. */
  private tries(id: number): boolean {
    const { app, puzzle, tried, stage } = this;
    if (!puzzle) return false;
    if (stage === "asked") return app.node(id).parent === puzzle.parent;
    return tried !== null && tried.own && ancestry(app.game, id).includes(tried.id);
  }

  private moved(): void {
    const { app, puzzle } = this;
    if (this.opening || this.moving || this.stage === "none" || !puzzle) return;
    const node = app.node();
    if (this.stage === "asked" && node.parent === puzzle.parent) {
      this.tried = { id: node.id, own: !this.known.has(node.id), graded: false };
      this.stage = "judging";
      this.mistakes.judging.soon(node.id);
    } else if (this.stage === "asked" && node.id !== puzzle.parent) this.stop();
    this.draw();
  }

  private show(): void {
    const { puzzle } = this;
    if (!puzzle) return;
    this.leave();
    this.grade?.("failed");
    this.grade = null;
    this.stage = "shown";
    this.go(puzzle.parent!);
    this.app.set({ hints: true });
    this.draw();
  }

  private stop(): void {
    if (this.stage !== "none") this.leave();
    if (this.stage !== "none" || this.exercises.length) this.over();
  }

  private over(): void {
    this.stage = "none";
    this.grade = null;
    this.ids = [];
    this.exercises = [];
    const before = this.seen?.game === this.app.game ? { flipped: this.seen.flipped } : {};
    this.app.set({ hints: this.hints, ...before });
    this.draw();
  }

  /** The chance of the one who is to move in the puzzle: after a move, or before it with the best one. */
  private chance(id: number, when: "before" | "after" = "after"): number | null {
    const { app, puzzle } = this;
    const { kind } = app.game;
    if (!puzzle) return null;
    const before = app.node(puzzle.parent!);
    const at = when === "before" ? before.id : id;
    const judged = this.mistakes.judging.exact(id)?.white[when];
    const engine = kind === "go" && app.checker.now && judged !== null && judged !== undefined;
    const p = kind === "chess" ? judged : engine ? 1 - judged : app.network ? chanceOf(kind, app.result(app.network, at)) : null;
    if (p === null || p === undefined) return null;
    return before.turn === (kind === "chess" ? "w" : "b") ? p : 1 - p;
  }

  /** What the tried move lost, 0..1; null while that is not known. Of Go a search looks only at what seems to cost much. */
  private lost(tried: Node, puzzle: Node, was: number | null, now: number | null): number | null {
    const { judging } = this.mistakes;
    if (judging.exact(puzzle.id)?.best.move === tried.move) return 0;
    const searched = this.mistakes.lost(tried.id);
    const alone = this.app.game.kind === "go" && !(judging.possible && judging.searched(tried.id));
    return searched !== null || !alone ? searched : was === null || now === null ? null : was - now;
  }

  private draw(): void {
    if (this.opening || (!this.host.offsetParent && this.stage === "none" && this.drawn)) return;
    const { app, puzzle } = this;
    // Its position was taken out of the game.
    if (this.stage !== "none" && !puzzle) return this.over();
    const running = this.stage !== "none" && puzzle;
    this.offerSides();
    if (!running) this.drawList();
    this.list.hidden = this.intro.hidden = this.side.element.hidden = Boolean(running);
    this.question.hidden = this.verdict.hidden = this.facts.hidden = !running;
    this.begin.hidden = Boolean(running) || !this.list.childElementCount;
    const due = running ? 0 : this.due().length;
    this.earlier.hidden = !due;
    this.earlier.textContent = texts.puzzles.practiceOthers(due);
    this.earlier.classList.toggle("primary", this.begin.hidden);
    for (const each of [this.again, this.reveal, this.next, this.end]) each.hidden = !running;
    this.drawn = "yes";
    if (!running) return;
    const before = app.node(puzzle.parent!);
    const side = before.turn === "w" ? texts.common.white : texts.common.black;
    this.question.textContent = texts.puzzles.question(this.at + 1, this.ids.length, side, named(app, puzzle), this.exercises[this.at] ? ` ${this.exercises[this.at]!.about}` : "");
    this.again.hidden = this.stage === "asked";
    this.reveal.hidden = this.stage === "shown";
    this.next.textContent = this.at + 1 < this.ids.length ? texts.puzzles.next : texts.puzzles.finish;
    this.judge(puzzle, before);
  }

  private judge(puzzle: Node, before: Node): void {
    const { app, tried } = this;
    const was = this.chance(puzzle.id, "before");
    const played = this.chance(puzzle.id);
    const node = tried ? app.game.nodes.get(tried.id) : undefined;
    const now = node ? this.chance(node.id) : null;
    const facts: [string, number | null][] = [];
    let words = "";
    let verdict: Verdict | null = null;
    if (node) {
      if (now !== null && this.stage === "judging") this.stage = "judged";
      verdict = this.verdictOn(node, puzzle, was, now);
      words = this.inWords(verdict, lettered(node.san));
      this.answered(verdict);
      facts.push([texts.puzzles.before, was], [texts.puzzles.after(lettered(node.san)), now], [texts.puzzles.afterPlayed(lettered(puzzle.san)), played]);
    } else if (this.stage === "shown") {
      words = this.answer(puzzle, before);
      facts.push([texts.puzzles.before, was], [texts.puzzles.afterPlayed(lettered(puzzle.san)), played]);
    }
    const side = before.turn === "w" ? texts.common.white : texts.common.black;
    const told = whose(app.game.kind);
    // Everywhere the same side's chance is told.
    const say = (p: number): string => `${told} ${percent(side === told ? p : 1 - p)}`;
    if (this.verdict.textContent !== words) this.verdict.textContent = words;
    this.verdict.classList.toggle("good", verdict === "good" || verdict === "best");
    this.facts.replaceChildren(
      ...facts.flatMap(([what, p]) => (p === null ? [] : [el("div", {}, el("dt", {}, what), el("dd", {}, say(p)))])),
    );
    this.again.disabled = this.stage === "judging";
  }

  /** Tells the schedule what came of a try. A try in vain counts at once, so that leaving the page is no way out. */
  private answered(verdict: Verdict): void {
    const { tried } = this;
    if (!tried || tried.graded || verdict === "open") return;
    tried.graded = true;
    const good = verdict === "good" || verdict === "best";
    this.grade?.(good ? (this.helped ? "later" : "first") : "failed");
    if (good) this.grade = null;
    else this.helped = true;
  }

  private verdictOn(tried: Node, puzzle: Node, was: number | null, now: number | null): Verdict {
    const lost = this.lost(tried, puzzle, was, now);
    const least = this.lost(puzzle, puzzle, was, this.chance(puzzle.id));
    if (tried.id === puzzle.id) return "played";
    if (now === null || lost === null) return "open";
    if (this.mistakes.judging.exact(puzzle.id)?.best.move === tried.move) return "best";
    if (lost <= SLACK) return "good";
    // The search before the move may have found more than the same search finds after any move.
    const best = this.afterBest(puzzle);
    if (best === "open") return "open";
    if (best !== null && best - now <= SLACK) return "good";
    return least !== null && lost < least - SLACK ? "partly" : "bad";
  }

  /** The mover's chance after the best move, found as for a tried move. "open": it is being looked for; null: it is not known. */
  private afterBest(puzzle: Node): number | null | "open" {
    const { app } = this;
    const { judging } = this.mistakes;
    const best = judging.exact(puzzle.id)?.best.move;
    if (app.game.kind !== "chess" || !best || !app.network) return null;
    if (this.after?.id !== puzzle.id || this.after.judge !== judging.judge) {
      const after = { id: puzzle.id, judge: judging.judge, white: null as number | null, asked: true };
      this.after = after;
      const before = app.line(puzzle.parent!);
      const ply = before.moves.length + 1;
      const engine = app.checker.now;
      const asked = { network: app.network, line: { ...before, moves: [...before.moves, best] }, from: ply, to: ply, ...(engine ? { checked_by: engine } : {}) };
      const found = (judgement: Judgement): void => {
        if (judgement.exact) after.white = judgement.white.after;
      };
      const done = (): void => {
        after.asked = false;
        this.draw();
      };
      // Without it, a move is compared with what the search found before it.
      app.api.judge(asked, found).then(done, done);
    }
    if (this.after.asked) return "open";
    const { white } = this.after;
    return white === null || app.node(puzzle.parent!).turn === "w" ? white : 1 - white;
  }

  private inWords(verdict: Verdict, san: string): string {
    if (verdict === "best") return texts.puzzles.isBest(san);
    if (verdict !== "open") return texts.puzzles[verdict](san);
    return this.app.game.kind === "chess" ? texts.puzzles.searchLooks(san) : texts.puzzles.networkLooks(san);
  }

  private answer(puzzle: Node, before: Node): string {
    const { app } = this;
    const judged = this.mistakes.judging.exact(puzzle.id);
    if (judged?.best.move) {
      const further = judged.line.length > 1 ? ` ${texts.puzzles.further(lettered(judged.line.join(" ")))}` : "";
      const reason = lettered(inLanguage(judged.reason?.texts) ?? "");
      // After the best move and its line, a reason without a subject reads as if it were about the best move.
      const why = reason && app.game.kind === "chess" ? `${lettered(puzzle.san)} ${reason[0]!.toLowerCase()}${reason.slice(1)}` : reason;
      return `${texts.puzzles.best(lettered(judged.best.san))}${further}${why && ` ${why}`}`;
    }
    const first = app.network ? app.result(app.network, before.id)?.moves?.[0] : undefined;
    return first ? texts.puzzles.suggests(lettered(first.san)) : this.siblings(puzzle);
  }

  /** Where the network names no moves: the best of the variations that are there. */
  private siblings(puzzle: Node): string {
    const others = this.app.node(puzzle.parent!).children.filter((id) => id !== puzzle.id);
    const known = others.flatMap((id) => {
      const p = this.chance(id);
      return p === null ? [] : [{ id, p }];
    });
    const best = known.sort((a, b) => b.p - a.p)[0];
    if (!best) return texts.puzzles.noSuggestions;
    return texts.puzzles.ofVariations(lettered(this.app.node(best.id).san));
  }

  private offerSides(): void {
    const { kind } = this.app.game;
    const names = (players(this.app.game) || " – ").split(" – ");
    const [first, other] = kind === "chess" ? ["w", "b"] : ["b", "w"];
    const said = (side: string | undefined, name: string | undefined): [string, string] => {
      const colour = side === "w" ? texts.common.white : texts.common.black;
      return [side ?? "", name?.trim() ? `${colour} (${name.trim()})` : colour];
    };
    this.side.offer([["both", texts.puzzles.both], said(first, names[0]), said(other, names[1])]);
  }

  private drawList(): void {
    const { app } = this;
    const network = app.named(app.network);
    const gives = network?.answers.some((each) => each !== "moves");
    const ids = this.find();
    const due = ids.filter((id) => schedule.isDue(this.card(id))).length;
    const intro = this.introduction(ids.length, network?.name ?? texts.puzzles.thisNetwork, gives ?? false);
    this.intro.textContent = due ? `${intro} ${texts.mygames.due(due)}` : intro;
    const rows = ids.map((id, index) => {
      const lost = this.mistakes.percent(this.mistakes.lost(id) ?? 0);
      const made = button("", () => this.open(index));
      const grade = this.mistakes.of(id);
      made.append(
        el("span", { class: "puzzle-move" }, named(app, app.node(id))),
        el("span", { class: `mark ${grade?.word ?? ""}` }, grade?.mark ?? ""),
        el("span", { class: "puzzle-lost" }, `−${texts.common.percent(lost / 100, 4)}`),
      );
      return el("li", {}, made);
    });
    this.list.replaceChildren(...rows);
  }

  private introduction(count: number, name: string, gives: boolean): string {
    const { app } = this;
    if (app.path.length < 2) return texts.puzzles.open;
    if (!gives) return texts.puzzles.gives(name);
    if (!this.mistakes.judging.possible) return texts.puzzles.noSearch(name);
    const checking = this.mistakes.judging.progress;
    const more = checking ? ` (${checking})` : "";
    if (count) return texts.puzzles.list(name, more);
    if (app.analyser.busy) return texts.puzzles.looking;
    return checking ? texts.puzzles.searching(checking) : texts.puzzles.foundNone;
  }
}
