/** My openings: the usual moves of each position, those that lose much, where recent games left them, and practice. */

import "./puzzles.css";
import "./openings.css";

import { Latest, message } from "../server/asking";
import type { ByRating } from "../server/api";
import { confirmed } from "../ui/confirming";
import { button, Choice, el } from "../ui/elements";
import { keep, kept } from "../app/storage";
import type { App } from "../app/state";
import type { MyGames, Part } from "./myanswers";
import { OpeningChecks } from "./openingchecks";
import { keepOpenings, keptOpenings, type LeftAt, type PlayedOpening, type Position, Repertoire, replies, shownReplies, type Side, usual } from "./repertoire";
import { schedule } from "./schedule";
import { answerList, Trainer } from "./trainer";
import { asksRatings } from "../analysis/movebars";
import { lettered, texts } from "../texts";

/** So many usual moves are checked by search, the most frequent first. */
const CHECKED = 24;
/** How often the page looks how many games are read, ms. */
const READING_EVERY = 500;
/** Moves of a position that are listed. */
const LISTED = 5;
/** Openings of a color that are listed at first. */
const FIRST = 5;

export class OpeningsView {
  readonly element: HTMLElement;
  private readonly note = el("p", { class: "note", role: "status" });
  private readonly today = el("p", { class: "opening-today" });
  private readonly side: Choice;
  private readonly practice = button(texts.openings.practice, () => void this.begin(), { class: "primary" });
  private readonly played = el("section", { class: "opening-played", "aria-label": texts.openings.list });
  private readonly here = el("section", { class: "opening-here", "aria-label": texts.openings.here });
  private readonly flaws = el("section", { class: "opening-flaws" });
  private readonly left = el("section", { class: "opening-left" });
  private readonly list: HTMLElement;
  private readonly trainer: Trainer;
  private readonly checks: OpeningChecks;
  private readonly latest = new Latest();
  private repertoire: Repertoire | null = null;
  /** Whose openings the server was asked for last, whose it gave, and why it did not. */
  private fetched = "";
  private loaded = "";
  private problem = "";
  /** How many of their games are read. */
  private read = "";
  /** What was drawn last. */
  private drawn = "";
  private checking = false;
  private done = "";
  /** Whether all openings are listed. */
  private whole = false;
  /** The parts of the report that are of openings. */
  private report: readonly Part[] = [];

  /** players: whose games. network: the one that judges. look: opens the game of a move at the position before it. */
  constructor(
    private readonly app: App,
    players: () => string[],
    network: () => string | undefined,
    private readonly look: (left: LeftAt) => void,
  ) {
    this.players = players;
    this.checks = new OpeningChecks(app, network);
    const rated = (): string | undefined => {
      const name = network();
      return asksRatings(app.named(name ?? null)) ? name : undefined;
    };
    this.rated = rated;
    this.trainer = new Trainer(app, this.checks, rated, (words) => {
      this.done = words;
      this.draw();
    });
    this.side = new Choice(texts.openings.color, (value) => {
      this.line = null;
      keep("local", "opening-side", value);
      this.draw();
    });
    this.side.offer([["both", texts.openings.both], ["white", texts.common.white], ["black", texts.common.black]], kept("local", "opening-side"));
    this.list = el("div", {}, this.today, el("div", { class: "opening-begin" }, this.practice, this.side.element), this.played, this.here, this.flaws, this.left);
    this.element = el("div", { class: "my-openings" }, this.note, this.list, this.trainer.element);
    const moved = (): void => {
      if (!this.shown) return;
      this.drawHere();
      this.drawn = this.state;
    };
    for (const event of ["cursor", "game"] as const) app.on(event, moved);
  }

  /** The line that was opened from these lists, and of which color's games it is: until another game is opened. */
  private line: { opened: number; side: Side } | null = null;
  /** Whether a position's usual move is known to lose much. */
  private readonly rejects = (position: Position): boolean => Boolean(this.checks.flaw(position));
  private readonly players: () => string[];
  private readonly rated: () => string | undefined;

  private get shown(): boolean {
    return this.element.offsetParent !== null && !this.trainer.running;
  }

  private get color(): Side | "both" {
    return this.side.value as Side | "both";
  }

  /** The number of positions that are due; those of the browser count before games are chosen. */
  get due(): number {
    return (this.repertoire ?? (this.repertoire = keptOpenings()))?.plan(schedule, "both", this.rejects).due.length ?? 0;
  }

  /**
   * Reads the openings of the chosen games, if they are not known; without games those that the browser has kept. report:
   * what each opening lost, of the report about the same player's games.
   */
  refresh(games: MyGames["games"], report: readonly Part[] = []): void {
    this.report = report;
    const names = this.players();
    const wanted = games && names.length ? JSON.stringify([games.opened, names]) : "";
    // What failed is asked for again when somebody comes back.
    if (this.element.hidden && this.problem) {
      this.problem = "";
      this.fetched = this.loaded;
    }
    if (this.element.hidden || this.trainer.running) return;
    if (wanted && wanted !== this.fetched) {
      this.fetched = wanted;
      void this.fetch(names, wanted);
    } else if (this.state !== this.drawn) this.draw();
    else void this.check();
  }

  /** What is to be seen, in short: what has not changed is not drawn again, and keeps the focus of the keyboard. */
  private get state(): string {
    const { app, repertoire } = this;
    const plan = repertoire?.plan(schedule, this.color, this.rejects);
    const checked = repertoire?.asked(this.color).slice(0, CHECKED).filter((each) => this.checks.flaw(each) !== undefined).length;
    return JSON.stringify([this.fetched, this.loaded, this.problem, this.done, this.color, repertoire?.games, plan && [plan.due.length, plan.fresh.length, plan.next], this.whole, this.report, app.opened, app.cursor, this.checks.network(), this.rated(), checked]);
  }

  private async fetch(names: string[], wanted: string): Promise<void> {
    this.problem = "";
    this.read = "";
    this.draw();
    void this.count(wanted);
    try {
      const found = Repertoire.of(await this.app.api.myOpenings(names));
      if (wanted !== this.fetched) return;
      this.repertoire = found;
      this.loaded = wanted;
      keepOpenings(found);
    } catch (error) {
      if (wanted !== this.fetched) return;
      this.problem = message(error);
    }
    this.draw();
  }

  /** Says how many games are read, until all are. */
  private async count(wanted: string): Promise<void> {
    for (;;) {
      await new Promise((resolve) => window.setTimeout(resolve, READING_EVERY));
      if (wanted !== this.fetched || wanted === this.loaded || this.problem) return;
      const now = await this.app.api.myGames().catch(() => null);
      if (!now?.reading || wanted !== this.fetched || wanted === this.loaded || this.problem) continue;
      this.read = texts.openings.readGames(now.reading.done, now.reading.total);
      this.note.textContent = this.words();
    }
  }

  /** What these openings are of, or why there are none. */
  private words(): string {
    const { repertoire, fetched, loaded } = this;
    if (this.problem) return this.problem;
    if (fetched !== loaded) return this.read || texts.openings.reading;
    if (!repertoire) return texts.openings.choose;
    if (!loaded) return texts.openings.keptFrom(repertoire.games);
    const asked = repertoire.asked("both").length;
    return asked ? texts.openings.about(repertoire.games, asked, repertoire.rating) : texts.openings.none;
  }

  private draw(): void {
    this.repertoire ??= keptOpenings();
    const { repertoire, trainer } = this;
    this.list.hidden = !repertoire || trainer.running;
    this.note.hidden = trainer.running;
    const words = this.words();
    if (this.note.textContent !== words) this.note.textContent = words;
    this.note.classList.toggle("problem", Boolean(this.problem));
    this.drawn = this.state;
    if (!repertoire) return;
    const plan = repertoire.plan(schedule, this.color, this.rejects);
    const more = plan.fresh.length ? ` ${texts.mygames.fresh(plan.fresh.length)}` : "";
    const next = plan.due.length || plan.next === null ? "" : ` ${texts.mygames.nextDue(plan.next)}`;
    this.today.replaceChildren(this.done && `${this.done} `, el("b", {}, plan.due.length ? texts.openings.due(plan.due.length) : texts.mygames.noneDue), `${more}${next}`);
    this.practice.hidden = !plan.due.length && !plan.fresh.length;
    this.drawPlayed(repertoire);
    this.drawHere();
    this.drawFlaws();
    this.drawLeft(repertoire);
    void this.check();
  }

  /** The openings of each color with their results, and what a move lost in them where the report says it. */
  private drawPlayed({ openings }: Repertoire): void {
    const { color, report } = this;
    const { heads } = texts.openings;
    const shown = openings.filter(({ side }) => color === "both" || color === side);
    this.played.hidden = !shown.length;
    const part = ({ side, name }: PlayedOpening): Part | undefined => report.find((each) => each.side === side && each.name === name);
    const groups = (["white", "black"] as const).flatMap((side) => {
      const own = shown.filter((each) => each.side === side);
      if (!own.length) return [];
      const rows = own.slice(0, this.whole ? own.length : FIRST).map((each) => {
        const analyzed = part(each);
        const lost = analyzed?.loss.value ?? null;
        const open = button(each.name, () => void this.open(each), { class: "opening-name", title: texts.openings.show });
        return el(
          "tr",
          {},
          el("th", { scope: "row" }, open),
          el("td", {}, texts.common.number(each.games)),
          el("td", {}, each.score === null ? "–" : texts.common.percent(each.score)),
          report.length > 0 && el("td", { title: texts.openings.lostIn(analyzed?.games ?? 0, each.games) }, lost === null ? "–" : texts.common.number(100 * lost, 1)),
        );
      });
      const titles = [texts.common[side], heads.games, heads.score].map((text) => el("th", { scope: "col" }, text));
      if (report.length) titles.push(el("th", { scope: "col" }, heads.lost));
      return [el("table", { class: "my-parts" }, el("thead", {}, el("tr", {}, ...titles)), el("tbody", {}, ...rows))];
    });
    const more = button(texts.openings.all(shown.length), () => {
      this.whole = true;
      this.draw();
    });
    more.hidden = this.whole || !(["white", "black"] as const).some((side) => shown.filter((each) => each.side === side).length > FIRST);
    const about = report.length ? [el("p", { class: "note" }, texts.openings.lostAbout)] : [];
    this.played.replaceChildren(el("h3", {}, texts.openings.list), ...groups, ...about, more);
  }

  private async begin(): Promise<void> {
    const { repertoire } = this;
    if (!repertoire) return;
    const { due, fresh } = repertoire.plan(schedule, this.color, this.rejects);
    this.done = "";
    const begun = this.trainer.start(repertoire, [...due, ...fresh]);
    this.list.hidden = this.note.hidden = true;
    await begun;
    if (!this.trainer.running) this.draw();
  }

  /** The positions of the board's position in the repertoire: with the color of the opened line, else with each color that is chosen. */
  private positions(): Position[] {
    const { app, repertoire, color } = this;
    const { fen } = app.node();
    if (app.game.kind !== "chess" || !fen || !repertoire) return [];
    const sides = this.line?.opened === app.opened ? [this.line.side] : color === "both" ? (["white", "black"] as const) : [color];
    return sides.flatMap((side) => repertoire.at(side, fen) ?? []);
  }

  private drawHere(): void {
    const { app, repertoire } = this;
    if (!repertoire) return;
    const found = this.positions();
    const own = found.find((each) => each.own);
    const other = found.find((each) => !each.own);
    this.latest.cancel();
    if (!own && !other) {
      const begin = button(texts.openings.start, () => void this.begins());
      this.here.replaceChildren(el("p", { class: "note" }, texts.openings.outside), el("div", { class: "buttons" }, begin));
      return;
    }
    const show = (rated: ByRating | null): void => {
      const answers = other ? answerList(shownReplies(replies(other, rated, repertoire.rating)), repertoire.rating, (move) => this.play(move)) : [];
      this.here.replaceChildren(...(own ? this.moves(own) : []), ...answers);
    };
    show(null);
    const network = this.rated();
    if (other && network) this.latest.ask((signal) => app.api.byRating({ network, line: app.line() }, signal), show, () => undefined);
  }

  private play(move: string): void {
    this.app.play(move).catch((error: unknown) => this.app.say(message(error), true));
  }

  /** The own moves of a position. */
  private moves(position: Position): HTMLElement[] {
    const { heads } = texts.openings;
    const first = usual(position);
    const flaw = this.checks.flaw(position);
    const rows = position.played.slice(0, LISTED).map((each) => {
      const lost = each === first && flaw ? el("span", { class: "puzzle-lost" }, `−${texts.common.percent(flaw.loss)}, ${texts.openings.better(lettered(flaw.best.san))}`) : null;
      const words = each === first ? el("small", {}, texts.openings.usual) : null;
      return el(
        "tr",
        {},
        el("th", { scope: "row" }, button(lettered(each.san), () => this.play(each.move), { class: "opening-move", title: texts.common.play(lettered(each.san)) }), words, lost),
        el("td", {}, texts.common.number(each.games)),
        el("td", {}, each.score === null ? "–" : texts.common.percent(each.score)),
      );
    });
    const titles = [heads.move, heads.games, heads.score].map((text) => el("th", { scope: "col" }, text));
    const opening = position.opening ? el("p", { class: "note" }, `${position.opening.eco} ${position.opening.name}`) : null;
    return [el("h3", {}, texts.openings.yours), ...(opening ? [opening] : []), el("table", { class: "my-parts" }, el("thead", {}, el("tr", {}, ...titles)), el("tbody", {}, ...rows))];
  }

  /** Usual moves that lose much, and how far the search has come. */
  private drawFlaws(): void {
    const { repertoire } = this;
    if (!repertoire) return;
    const all = repertoire.asked(this.color).slice(0, CHECKED);
    const known = all.filter((each) => this.checks.flaw(each) !== undefined);
    const bad = all.flatMap((position) => {
      const flaw = this.checks.flaw(position);
      return flaw ? [{ position, flaw }] : [];
    });
    this.flaws.hidden = !all.length;
    const progress = !this.checks.network() ? texts.openings.cannotCheck : known.length < all.length ? texts.openings.checking(known.length, all.length) : `${texts.openings.checked(all.length)}${bad.length ? "" : ` ${texts.openings.noFlaws}`}`;
    const rows = bad
      .sort((a, b) => b.flaw.loss * b.position.games - a.flaw.loss * a.position.games)
      .map(({ position, flaw }) => {
        const made = button("", () => void this.open(position));
        const before = repertoire.before(position);
        made.append(
          el("span", { class: "puzzle-move" }, moveIn(position, usual(position)!.san)),
          before.length ? el("span", { class: "my-against" }, whereLeft({ opening: null, before, ply: before.length + 1 })) : "",
          el("span", { class: "my-against" }, `${texts.explorer.games(usual(position)!.games)} · ${texts.openings.better(lettered(flaw.best.san))}`),
          el("span", { class: "puzzle-lost" }, `−${texts.common.percent(flaw.loss)}`),
        );
        return el("li", {}, made);
      });
    this.flaws.replaceChildren(
      el("h3", {}, texts.openings.flaws),
      el("p", { class: "note" }, progress),
      el("ol", { class: "puzzle-list my-mistakes", "aria-label": texts.openings.flaws, hidden: !rows.length }, ...rows),
    );
  }

  /** Has the search judge the usual moves, one after the other, while they are looked at. */
  private async check(): Promise<void> {
    if (this.checking) return;
    this.checking = true;
    try {
      for (;;) {
        const wanted = this.shown ? this.repertoire?.asked(this.color).slice(0, CHECKED).find((each) => this.checks.flaw(each) === undefined) : undefined;
        if (!wanted || !this.checks.network()) return;
        await this.checks.find(wanted);
        // A search that did not come is not asked for again and again.
        if (this.checks.flaw(wanted) === undefined) return;
        if (this.shown) {
          this.drawFlaws();
          if (this.positions().includes(wanted)) this.drawHere();
          this.drawn = this.state;
        }
      }
    } finally {
      this.checking = false;
    }
  }

  private drawLeft({ left, recent }: Repertoire): void {
    this.left.hidden = !recent;
    const rows = left.map((each) => {
      const number = Math.floor((each.ply + 1) / 2);
      const place = `${number}${each.side === "white" ? "." : "…"}`;
      const made = button("", () => this.look(each));
      const date = each.date.includes("?") ? "" : each.date.replaceAll(".", "-");
      made.append(
        el("span", { class: "opening-left-at" }, texts.openings.leftAt(`${place} ${lettered(each.san)}`, lettered(each.usual), each.usual_games)),
        el("span", { class: "my-against" }, whereLeft(each)),
        el("span", { class: "my-against" }, texts.openings.against(each.opponent, date)),
      );
      return el("li", {}, made);
    });
    this.left.replaceChildren(
      el("h3", {}, texts.openings.left),
      ...(rows.length ? [el("ol", { class: "puzzle-list opening-lefts", "aria-label": texts.openings.left }, ...rows)] : [el("p", { class: "note" }, texts.openings.neverLeft(recent))]),
    );
  }

  /** Shows the position of the first move, from the player's side. A game on the board is not replaced without a question. */
  private async begins(): Promise<void> {
    const { app, color } = this;
    const own = app.touched && (app.game.changed || Object.keys(app.game.headers).length > 0);
    if (own && !app.mayLeave && !(await confirmed(texts.openings.replacing, texts.openings.start, texts.common.cancel))) return;
    if (await app.fresh("chess")) app.set({ flipped: color === "black" });
  }

  /** Shows a position of the repertoire, or an opening, on the board. */
  private async open(position: Pick<Position, "line" | "side">): Promise<void> {
    const { app } = this;
    try {
      if (!(await app.mayOpen())) return;
      await app.openLine({ game: "chess", moves: position.line });
      this.line = { opened: app.opened, side: position.side };
      app.set({ flipped: position.side === "black" });
      if (this.shown) this.drawHere();
      document.getElementById("board-part")?.scrollIntoView({ block: "nearest" });
    } catch (error) {
      app.notOpened(error);
    }
  }
}

/** "3. Bc4", "2… d6": a move in a position. */
function moveIn({ fen }: Position, san: string): string {
  const [, turn, , , , number = "1"] = fen.split(" ");
  return `${number}${turn === "w" ? "." : "…"} ${lettered(san)}`;
}

/** Moves before a deviation that are shown where the opening has no name. */
const FEW = 6;

/** The opening that a game left; the last moves before it where that has no name; "" at the first move. */
export function whereLeft({ opening, before, ply }: Pick<LeftAt, "opening" | "before" | "ply">): string {
  if (opening) return opening;
  const first = Math.max(0, ply - 1 - FEW);
  const moves = before.slice(first).map((san, at) => {
    const number = Math.floor((first + at) / 2) + 1;
    return (first + at) % 2 === 0 ? `${number}. ${san}` : at === 0 ? `${number}… ${san}` : san;
  });
  return lettered(moves.join(" "));
}
