/** The summary of a judged game: how accurate both players were, their mistakes, and the turning point. */

import "./summary.css";

import type { Summary, SideOf } from "../server/api";
import { Latest } from "../server/asking";
import { aloneOf } from "../app/chance";
import { closingPass, countOf, displayedChance } from "../app/displayed";
import { type Judging, pointsLost } from "../server/judging";
import { button, el } from "../ui/elements";
import { checkedBy } from "./checkedby";
import type { Mistake, Mistakes } from "./mistakes";
import { named } from "../app/naming";
import type { App } from "../app/state";
import { texts } from "../texts";

/** Shorter games have no summary, in moves of both sides. */
const FEWEST = 6;
/** The game must stay the same so long before its summary is asked for, ms. */
const PAUSE = 300;
const MARKS = [
  ["??", "blunder", "blunders"],
  ["?", "mistake", "mistakes"],
  ["?!", "inaccuracy", "inaccuracies"],
] as const;

type Side = "white" | "black";
const LETTERS = { white: "w", black: "b" } as const;

/** What the server is asked about a game: its values, and what each move lost. */
export interface Judged {
  game: "chess" | "go";
  /** White's chance in chess, Black's in Go. */
  values: number[];
  movers: Side[];
  /** Of the chance in chess, in points of Go. */
  losses: (number | null)[];
  marks: string[];
  /** Black's, in points of Go; null in a position where it is unknown. */
  leads?: (number | null)[];
}

/** practice: opens the puzzles of the game. */
export function mountSummary(after: HTMLElement, app: App, mistakes: Mistakes, practice: () => void): void {
  after.after(new SummaryCard(app, mistakes, practice).element);
}

/** Whether the line shown is the main line of the game. */
export const isMain = ({ game, path }: App): boolean => path.slice(1).every((id, at) => game.nodes.get(path[at]!)!.children[0] === id);

/** Whether the line shown is the main line of a game that is long enough. */
const isWhole = (app: App): boolean => app.path.length > FEWEST && isMain(app);

/** How far the check is that the summary of the game needs: "Checking 12 of 80"; "" where it is complete or none is made. */
export function pending(app: App, mistakes: Mistakes): string {
  const { judging } = mistakes;
  const { busy, done, total } = app.analyser;
  if (!app.hints || !judging.possible || !isWhole(app)) return "";
  return busy && done < total ? texts.graph.ofAll(done, total) : judging.progress;
}

/** The game as far as it is judged; null until all of it is, and for a variation. */
export const judgedGame = (app: App, mistakes: Mistakes): Judged | null => (isMain(app) ? judgedLine(app, mistakes) : null);

/** The same of the line shown, which may be a variation. */
export function judgedLine(app: App, mistakes: Mistakes): Judged | null {
  const { game, path } = app;
  const { judging } = mistakes;
  const ids = path.slice(1);
  if (path.length <= FEWEST || !judging.possible || judging.progress || app.analyser.busy) return null;
  const values = valuesOf(app, judging);
  if (values.some((each) => each === undefined)) return null;
  const movers = ids.map((id): Side => (app.node(app.node(id).parent!).turn === "w" ? "white" : "black"));
  const points = (id: number): number | null => (closingPass(app, id) ? 0 : (judging.exact(id)?.points ?? (app.checker.now ? null : pointsLost(app, app.node(id)))));
  const losses = ids.map((id) => (game.kind === "chess" ? mistakes.lost(id) : points(id)));
  if (game.kind === "chess" && losses.includes(null)) return null;
  return { game: game.kind, values: values as number[], movers, losses, marks: ids.map((id) => mistakes.graded(id)?.mark ?? ""), ...(game.kind === "go" ? { leads: path.map((id) => leadOf(app, judging, id)) } : {}) };
}

/** Black's lead: of a game that is over by the count, else by the engine that judges or else by the network. */
export function leadOf(app: App, judging: Judging, id: number): number | null {
  const lead = countOf(app, id)?.score ?? (app.checker.now ? judging.lead(id) : app.result(app.network ?? "", id)?.score);
  return typeof lead === "number" ? lead : null;
}

/**
 * The value of each position of a game. Of Go without an engine it is the network's own, as in `kibitz analyze`: a search
 * knows only some positions, and its values do not fit those of the others. From the last stone on it is the count.
 */
function valuesOf(app: App, judging: Judging): (number | undefined)[] {
  return app.path.map((id) => {
    if (app.game.kind === "go" && !app.checker.now) return aloneOf("go", app.result(app.network ?? "", id))?.chance;
    return displayedChance(app, judging, id)?.chance;
  });
}

/** The next mistake of a side and kind that the position shown comes before; after the last one, the first. */
export function nextMistake(app: App, mistakes: Mistakes, side: Side, mark: Mistake["mark"]): Mistake | undefined {
  const some = mistakes.all.filter((each) => each.mark === mark && app.node(app.node(each.id).parent!).turn === LETTERS[side]);
  return some.find(({ id }) => (app.placeOf(id) ?? 0) - 1 > app.place) ?? some[0];
}

class SummaryCard {
  private readonly sides = el("div", { class: "summary-sides" });
  private readonly turning = el("p", { class: "summary-turning" });
  private readonly practice = button(texts.summary.practice, () => this.practise(), { title: texts.summary.practiceAbout });
  private readonly title = el("span", {}, texts.summary.accuracy);
  private readonly progress = el("span", { class: "summary-progress" });
  private readonly head = el("div", { class: "summary-head" }, this.title, this.progress, this.practice);
  readonly element = el("section", { class: "summary", "aria-label": texts.summary.title, hidden: true }, this.head, this.sides, this.turning);
  private readonly latest = new Latest(PAUSE);
  private asked = "";
  private shown: Summary | null = null;
  /** Who judged the moves of the summary shown, and the line that it is of. */
  private judge = "";
  private path: readonly number[] = [];

  constructor(
    private readonly app: App,
    private readonly mistakes: Mistakes,
    private readonly practise: () => void,
  ) {
    app.on("game", () => this.forget());
    app.on("networks", () => this.latest.again() && (this.asked = ""));
    for (const event of ["path", "judgements", "results", "networks", "checker", "settings"] as const) app.on(event, () => this.follow());
  }

  private forget(): void {
    this.latest.cancel();
    this.asked = "";
    this.shown = null;
    this.draw();
  }

  private follow(): void {
    const judged = this.app.hints ? judgedGame(this.app, this.mistakes) : null;
    const key = judged ? JSON.stringify(judged) : "";
    const { judge } = this.mistakes.judging;
    // Numbers of another network or engine are not shown as those of this one.
    if (judge !== this.judge) {
      this.latest.cancel();
      this.asked = "";
      this.shown = null;
      this.judge = judge;
    }
    if (judged && key !== this.asked) {
      this.asked = key;
      const { path } = this.app;
      this.latest.ask(
        (signal) => this.app.api.summary(judged, signal),
        (summary) => {
          this.shown = summary;
          this.path = path;
          this.draw();
        },
        // The game is judged all the same.
        () => undefined,
      );
    }
    this.draw(judged !== null);
  }

  /** coming: whether the summary of the game is being made. */
  private draw(coming = false): void {
    const { app, shown } = this;
    const progress = pending(app, this.mistakes);
    this.element.hidden = !app.hints || !(shown || progress || coming);
    this.progress.textContent = progress && `${progress} …`;
    // The numbers of the game as it was before its last moves are gray.
    this.element.classList.toggle("pending", Boolean(progress));
    this.element.classList.toggle("empty", !shown);
    this.sides.hidden = !shown;
    // Where height is dear, the panels below are lower then.
    this.element.parentElement?.parentElement?.classList.toggle("summed", Boolean(shown) && app.hints);
    this.practice.hidden = !this.mistakes.all.length;
    const by = app.checker.about();
    this.title.textContent = by ? `${texts.summary.accuracy} (${by.engine})` : texts.summary.accuracy;
    this.title.title = by ? checkedBy(by, app.game.kind) : "";
    if (!shown) {
      this.turning.hidden = true;
      return;
    }
    const order: Side[] = app.game.kind === "chess" ? ["white", "black"] : ["black", "white"];
    this.sides.replaceChildren(...order.map((side) => this.side(side, shown[side])));
    const turning = shown.turning_point;
    const id = turning ? this.path[turning.ply] : undefined;
    const node = id === undefined ? undefined : app.game.nodes.get(id);
    this.turning.hidden = !node;
    if (node && turning) {
      const move = `${named(app, node)}${this.mistakes.of(node.id)?.mark ?? ""}`;
      const ahead = turning.ahead ? texts.common[turning.ahead] : "";
      this.turning.replaceChildren(
        `${texts.summary.turning} `,
        button(move, () => this.open(node.id), { class: "summary-link" }),
        // Often it has no mark. So the words say what turned.
        `${/[?!]$/.test(move) ? "" : "."} ${ahead ? texts.summary.ahead(ahead) : texts.summary.nobody}`,
      );
    }
  }

  private side(side: Side, { accuracy, average_loss: loss, marks }: SideOf): HTMLElement {
    const name = texts.common[side];
    const lost = loss.value === null ? "" : this.app.game.kind === "chess" ? texts.summary.lost(100 * loss.value) : texts.summary.lostPoints(loss.value);
    const chips = MARKS.map(([mark, grade, key]) => {
      const words = texts.summary.count(marks[key], texts.mistakes.grades[grade], name);
      const made = button("", () => this.next(side, mark), { class: `summary-count ${grade}`, title: words, "aria-label": words, disabled: !marks[key] });
      made.append(el("b", {}, String(marks[key])), ` ${mark}`);
      return made;
    });
    return el(
      "div",
      { class: "summary-side" },
      el("span", { class: "summary-name" }, name),
      el("span", { class: "summary-accuracy", title: [texts.summary.accuracy, lost].filter(Boolean).join(" · ") }, accuracy.value === null ? "–" : texts.common.percent(accuracy.value)),
      ...chips,
    );
  }

  private next(side: Side, mark: Mistake["mark"]): void {
    const found = nextMistake(this.app, this.mistakes, side, mark);
    if (found) this.open(found.id);
  }

  /** Opens the position before a move, where it could still be avoided. */
  private open(id: number): void {
    const { app } = this;
    const node = app.node(id);
    if (node.parent === null) return;
    app.go(node.id);
    app.go(node.parent);
    app.say(texts.common.before(named(app, node)));
  }
}
