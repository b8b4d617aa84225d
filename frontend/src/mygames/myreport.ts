/** The report about a player's games: one figure, where the points went, and the worst mistakes. */

import { checkedBy } from "../analysis/checkedby";
import { button, Choice, el } from "../ui/elements";
import { type Division, DIVISIONS, type Figure, type Part, type Report, type Worst } from "./myanswers";
import { fromServer, texts } from "../texts";

const NOTES: Record<Division, string> = {
  by_phase: texts.myreport.phase,
  by_piece: "",
  by_time_left: texts.myreport.time,
  by_side: "",
  by_result: texts.myreport.result,
  by_opening: texts.myreport.opening,
};
const SIGNS = { inaccuracies: "?!", mistakes: "?", blunders: "??" } as const;
/** Names of rating scales. */
const SCALES: Record<string, string> = { lichess: "Lichess", "chess.com": "Chess.com", fics: "FICS", fide: "FIDE" };
/** Parts that are named as the ones where most, or least, is lost. */
const TOLD = 3;
/** Mistakes that are listed. */
const LISTED = 50;

export class ReportView {
  readonly element = el("div", { class: "my-report" });
  private readonly head = el("div");
  private readonly by: Choice;
  private readonly note = el("p", { class: "note" });
  private readonly rows = el("div");
  private report: Report | null = null;

  constructor() {
    this.by = new Choice(texts.myreport.by, () => this.divide());
    this.by.element.classList.add("my-by");
    this.element.append(this.head, this.by.element, this.note, this.rows);
  }

  /** Draws a report anew; the one that stands there stays, with what has the focus in it. */
  draw(report: Report): void {
    if (report === this.report) return;
    this.report = report;
    this.head.replaceChildren(...headline(report));
    const there = (Object.keys(DIVISIONS) as Division[]).filter((each) => partsOf(report, each).length);
    this.by.offer(there.map((each) => [each, DIVISIONS[each]] as const));
    this.by.element.hidden = !there.length;
    this.divide();
  }

  private divide(): void {
    const { report } = this;
    const chosen = this.by.value as Division;
    const parts = report && chosen ? partsOf(report, chosen) : [];
    this.note.textContent = NOTES[chosen] ?? "";
    this.note.hidden = !this.note.textContent;
    const open = this.rows.querySelector("details")?.open ?? false;
    this.rows.replaceChildren(...(parts.length ? [table(DIVISIONS[chosen], parts), key(parts), numbers(DIVISIONS[chosen], parts, open)] : []));
  }
}

function partsOf(report: Report, division: Division): Part[] {
  return Object.values(report[division] ?? {});
}

function headline(report: Report): HTMLElement[] {
  const { loss, usual_loss: usual, difference } = report;
  const over = loss.low === null ? "" : texts.myreport.intervalOf(points(loss.low), points(loss.high));
  const lines = [el("p", {}, el("b", {}, texts.myreport.lostAMove), texts.myreport.hundredths(over))];
  if (usual?.value !== undefined && usual.value !== null && difference?.value !== null && difference)
    lines.push(el("p", {}, texts.myreport.sameRating(points(usual.value), more(difference))));
  if (report.accuracy && report.accuracy.value !== null) lines.push(el("p", {}, texts.myreport.accuracy(texts.common.percent(report.accuracy.value))));
  const looks = report.strength?.rating;
  if (looks) lines.push(el("p", {}, texts.myreport.looksLike(looks.value, looks.low, looks.high, SCALES[report.strength?.scale ?? ""] ?? "", looks.games)));
  const rated = report.rating ? texts.myreport.rated(report.rating) : "";
  const games = texts.myreport.games(report.games, rated, report.won, report.drawn, report.lost);
  lines.push(el("p", { class: "note" }, games));
  if (report.checked_by) lines.push(el("p", { class: "note" }, `${checkedBy(report.checked_by, "chess")}.`));
  const told = [
    [texts.myreport.more, report.stands_out.filter(({ difference: by }) => by.value! > 0)],
    [texts.myreport.less, report.stands_out.filter(({ difference: by }) => by.value! < 0).reverse()],
  ] as const;
  const outstanding = told.flatMap(([words, some]) =>
    some.length ? [el("p", {}, el("b", {}, `${words}: `), `${some.slice(0, TOLD).map(({ label, difference: by }) => `${fromServer(label)} (${signed(by.value)})`).join(", ")}.`)] : [],
  );
  if (usual && !outstanding.length) outstanding.push(el("p", { class: "note" }, texts.myreport.nothing));
  return [el("div", { class: "my-headline" }, el("p", { class: "my-big" }, points(loss.value)), el("div", {}, ...lines)), ...outstanding];
}

/** Each part with a bar: what was lost, its interval, and a mark where the usual loss lies. */
function table(title: string, parts: Part[]): HTMLElement {
  const compared = parts.some((part) => part.usual_loss);
  const reach = Math.max(...parts.flatMap(({ loss, usual_loss: usual }) => [loss.high ?? loss.value ?? 0, usual?.value ?? 0])) || 1;
  const place = (value: number): string => `${Math.min(100, Math.max(0, (100 * value) / reach)).toFixed(2)}%`;
  const rows = parts.map((part) => {
    const { loss, usual_loss: usual, difference } = part;
    const track = el("span", { class: "my-track", "aria-hidden": "true" });
    const add = (name: string, style: Partial<CSSStyleDeclaration>): void => {
      const mark = el("span", { class: name });
      Object.assign(mark.style, style);
      track.append(mark);
    };
    add("my-fill", { width: place(loss.value ?? 0) });
    if (loss.low !== null && loss.high !== null) add("my-interval", { left: place(loss.low), width: place(loss.high - loss.low) });
    if (usual && usual.value !== null) add("my-usual", { left: place(usual.value) });
    const sure = difference?.low !== null && difference?.low !== undefined && (difference.low > 0 || difference.high! < 0);
    return el(
      "tr",
      {},
      el("th", { scope: "row" }, fromServer(part.label)),
      el("td", { class: "my-bar" }, track),
      el("td", {}, points(loss.value)),
      compared && el("td", { class: "quiet" }, points(usual?.value)),
      compared && el("td", { class: sure ? "sure" : "quiet" }, signed(difference?.value)),
    );
  });
  const heads = ["", texts.myreport.lost, ...(compared ? [texts.myreport.usual, texts.myreport.moreHead] : [])].map((text) => (text ? el("th", { scope: "col" }, text) : el("td", {})));
  return el(
    "table",
    { class: "my-parts" },
    el("caption", { class: "unseen" }, texts.myreport.caption(title)),
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }, title), ...heads)),
    el("tbody", {}, ...rows),
  );
}

function key(parts: Part[]): HTMLElement {
  const compared = parts.some((part) => part.usual_loss);
  return el(
    "ul",
    { class: "legend" },
    el("li", {}, el("span", { class: "key my-key-lost" }), texts.myreport.keyLost),
    compared && el("li", {}, el("span", { class: "key my-key-usual" }), texts.myreport.keyUsual),
  );
}

/** All numbers of a division. */
function numbers(title: string, parts: Part[], open: boolean): HTMLElement {
  const compared = parts.some((part) => part.usual_loss);
  const scored = parts.some((part) => part.score);
  const { heads, lost, usual, moreHead } = texts.myreport;
  const titles = [title, heads.games, heads.moves, ...(scored ? [heads.score] : []), lost, heads.interval, ...(compared ? [usual, moreHead, heads.interval] : []), ...Object.values(SIGNS)];
  const rows = parts.map((part) => {
    const cells = [texts.common.number(part.games), texts.common.number(part.moves)];
    if (scored) cells.push(part.score?.value === null || !part.score ? "–" : texts.common.percent(part.score.value));
    cells.push(points(part.loss.value), interval(part.loss, points));
    if (compared) cells.push(points(part.usual_loss?.value), signed(part.difference?.value), interval(part.difference, signed));
    for (const name of Object.keys(SIGNS) as (keyof typeof SIGNS)[]) cells.push(String(part.marks[name]));
    return el("tr", {}, el("th", { scope: "row" }, fromServer(part.label)), ...cells.map((text) => el("td", {}, text)));
  });
  const inside = el(
    "div",
    { class: "my-wide", tabindex: 0, role: "region", "aria-label": texts.myreport.allOf(title) },
    el("table", {}, el("thead", {}, el("tr", {}, ...titles.map((text) => el("th", { scope: "col" }, text)))), el("tbody", {}, ...rows)),
  );
  return el("details", { class: "my-numbers", open }, el("summary", {}, texts.myreport.all), inside);
}

/** The worst mistakes; a click opens one. Nothing says what was better: that is to be found. */
export function mistakeList(worst: Worst[], open: (mistake: Worst) => void): HTMLElement {
  const rows = worst.slice(0, LISTED).map((each) => {
    const made = button("", () => open(each), { title: whenAndHow(each) });
    made.append(
      el("span", { class: "puzzle-move" }, `${moveOf(each)}${each.mark}`),
      el("span", { class: "my-against" }, `${texts.mygames.against(each.opponent)}${each.opponent_rating ? ` (${each.opponent_rating})` : ""}`),
      el("span", { class: "puzzle-lost" }, `−${texts.common.percent(each.loss)}`),
    );
    return el("li", {}, made);
  });
  return el("ol", { class: "puzzle-list my-mistakes", "aria-label": texts.myreport.worst }, ...rows);
}

/** "12… Qxe4". */
export function moveOf({ move_number: number, side, san }: Worst): string {
  return `${number}${side === "white" ? "." : "…"} ${san}`;
}

function whenAndHow({ date, phase, time_left: left, game }: Worst): string {
  const clock = left === null ? "" : texts.myreport.left(`${Math.floor(left / 60)}:${String(Math.floor(left % 60)).padStart(2, "0")}`);
  return texts.myreport.where(game, `${/\d/.test(date) ? `, ${date}` : ""}, ${phase}${clock}`);
}

function interval(figure: Figure | undefined, say: (value: number | null) => string): string {
  return !figure || figure.low === null ? "–" : texts.myreport.to(say(figure.low), say(figure.high));
}

function more(difference: Figure): string {
  const value = difference.value ?? 0;
  const words = texts.myreport.moreHere(points(Math.abs(value)), value >= 0);
  return difference.low === null ? words : texts.myreport.withInterval(words, signed(difference.low), signed(difference.high));
}

const points = (value: number | null | undefined): string => (value === null || value === undefined ? "–" : texts.common.number(100 * value, 1));

function signed(value: number | null | undefined): string {
  if (value === null || value === undefined) return "–";
  const text = texts.common.number(100 * Math.abs(value), 1);
  if (Math.abs(100 * value) < 0.05) return text;
  return value > 0 ? `+${text}` : `−${text}`;
}
