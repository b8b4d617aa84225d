/** The report about a player's games: one figure, where the points went, and the worst mistakes. */

import "../board/legend.css";
import { checkedBy } from "../analysis/checkedby";
import { lostPercent } from "../analysis/mistakes";
import { button, Choice, el } from "../ui/elements";
import { type Change, type ChessWorst, type Division, DIVISIONS, type Figure, GO_DIVISIONS, type GoReport, type GoWorst, type Lately, type Part, type Report, type Worst } from "./myanswers";
import { positionOf } from "./schedule";
import { fromServer, inLanguage, lettered, texts } from "../texts";

/** How a game says what was lost. factor: of a loss, for percentage points or points. */
interface Wording {
  divisions: Partial<Record<Division, string>>;
  notes: Partial<Record<Division, string>>;
  factor: number;
  lost: string;
  unit: (interval: string) => string;
  peers: (usual: string, more: string) => string;
  caption: (title: string) => string;
  keyUsual: string;
}

const CHESS: Wording = {
  divisions: DIVISIONS,
  notes: { by_phase: texts.myreport.phase, by_time_left: texts.myreport.time, by_result: texts.myreport.result, by_opening: texts.myreport.opening },
  factor: 100,
  lost: texts.myreport.lostAMove,
  unit: texts.myreport.hundredths,
  peers: texts.myreport.sameRating,
  caption: texts.myreport.caption,
  keyUsual: texts.myreport.keyUsual,
};
/** Of a network whose value is the expected score. */
const SCORES: Wording = { ...CHESS, lost: texts.myreport.scoreLostAMove, caption: texts.myreport.scoreCaption };
const GO: Wording = {
  divisions: GO_DIVISIONS,
  notes: { by_phase: texts.mygo.phaseNote, by_area: texts.mygo.areaNote, by_kind: texts.mygo.kindNote, by_result: texts.mygo.resultNote, by_board: texts.mygo.boardNote },
  factor: 1,
  lost: texts.mygo.lostAMove,
  unit: (interval) => interval,
  peers: texts.mygo.sameRank,
  caption: texts.mygo.caption,
  keyUsual: texts.mygo.keyUsual,
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
  private report: Report | GoReport | null = null;
  private scores = false;

  constructor() {
    this.by = new Choice(texts.myreport.by, () => this.divide());
    this.by.element.classList.add("my-by");
    this.element.append(this.head, this.by.element, this.note, this.rows);
  }

  /**
   * Draws a report anew; the one that stands there stays, with what has the focus in it. scores: whether the values are
   * expected scores.
   */
  draw(report: Report | GoReport, scores = false): void {
    if (report === this.report && scores === this.scores) return;
    this.report = report;
    this.scores = scores;
    const words = wordingOf(report, scores);
    const { divisions } = words;
    this.head.replaceChildren(...headline(report, words), ...(isGo(report) ? further(report) : standout(report)));
    const there = (Object.keys(divisions) as Division[]).filter((each) => partsOf(report, each).length > (each === "by_board" ? 1 : 0));
    this.by.offer(there.map((each) => [each, divisions[each]!] as const));
    this.by.element.hidden = !there.length;
    this.divide();
  }

  private divide(): void {
    const { report } = this;
    const chosen = this.by.value as Division;
    const parts = report && chosen ? partsOf(report, chosen) : [];
    const words = report ? wordingOf(report, this.scores) : CHESS;
    const title = words.divisions[chosen] ?? "";
    this.note.textContent = words.notes[chosen] ?? "";
    this.note.hidden = !this.note.textContent;
    const open = this.rows.querySelector("details")?.open ?? false;
    this.rows.replaceChildren(...(parts.length ? [table(title, parts, words), key(parts, words), numbers(title, parts, open, words)] : []));
  }
}

function isGo(report: Report | GoReport): report is GoReport {
  return "rank" in report;
}

function wordingOf(report: Report | GoReport, scores: boolean): Wording {
  return isGo(report) ? GO : scores ? SCORES : CHESS;
}

function partsOf(report: Report | GoReport, division: Division): Part[] {
  const parts = division === "by_opening" ? (isGo(report) ? [] : report.by_opening) : report[division];
  return Object.values(parts ?? {});
}

function headline(report: Report | GoReport, words: Wording): HTMLElement[] {
  const { points } = shownIn(words);
  const { loss, usual_loss: usual, difference } = report;
  const over = loss.low === null ? "" : texts.myreport.intervalOf(points(loss.low), points(loss.high));
  const lines = [el("p", {}, el("b", {}, words.lost), words.unit(over))];
  if (usual?.value !== undefined && usual.value !== null && difference?.value !== null && difference)
    lines.push(el("p", {}, words.peers(points(usual.value), more(difference, words))));
  if (report.accuracy && report.accuracy.value !== null) lines.push(el("p", {}, texts.myreport.accuracy(texts.common.percent(report.accuracy.value))));
  if (isGo(report)) {
    const { first_choice: own, usual_first_choice: others } = report;
    if (report.rank && own.value !== null && others.value !== null) lines.push(el("p", {}, texts.mygo.firstChoice(texts.common.percent(own.value), texts.common.percent(others.value))));
  } else {
    const looks = report.strength?.rating;
    if (looks) lines.push(el("p", {}, texts.myreport.looksLike(looks.value, looks.low, looks.high, SCALES[report.strength?.scale ?? ""] ?? "", looks.games)));
  }
  lines.push(el("p", { class: "note" }, texts.myreport.games(report.games, strengthOf(report), report.won, report.drawn, report.lost)));
  if (report.checked_by) lines.push(el("p", { class: "note" }, `${checkedBy(report.checked_by, isGo(report) ? "go" : "chess")}.`));
  return [el("div", { class: "my-headline" }, el("p", { class: "my-big" }, points(loss.value)), el("div", {}, ...lines))];
}

function strengthOf(report: Report | GoReport): string {
  if (isGo(report)) return report.rank ? texts.mygo.ranked(report.rank) : "";
  return report.rating ? texts.myreport.rated(report.rating) : "";
}

/** Where most, and where least, is lost; of a quick report why nothing is compared. */
function standout(report: Report): HTMLElement[] {
  if (report.provisional) return [el("p", { class: "note" }, texts.myreport.quick)];
  const { signed } = shownIn(CHESS);
  const told = [
    [texts.myreport.more, report.stands_out.filter(({ difference: by }) => by.value! > 0)],
    [texts.myreport.less, report.stands_out.filter(({ difference: by }) => by.value! < 0).reverse()],
  ] as const;
  const outstanding = told.flatMap(([words, some]) =>
    some.length ? [el("p", {}, el("b", {}, `${words}: `), `${some.slice(0, TOLD).map(({ label, difference: by }) => `${fromServer(label)} (${signed(by.value)})`).join(", ")}.`)] : [],
  );
  if (report.usual_loss && !outstanding.length) outstanding.push(el("p", { class: "note" }, texts.myreport.nothing));
  return outstanding;
}

/** Of Go: what a quick report lacks, and what changed since the last month. */
function further(report: GoReport): HTMLElement[] {
  return [...(report.provisional ? [el("p", { class: "note" }, texts.mygo.quick)] : []), ...(report.lately ? [changes(report.lately)] : [])];
}

function changes(lately: Lately): HTMLElement {
  const { points, signed } = shownIn(GO);
  const row = (label: string, { loss, earlier_loss: earlier, change }: Change): HTMLElement => {
    const sure = change.low !== null && (change.low > 0 || change.high! < 0);
    return el("tr", {}, el("th", { scope: "row" }, label), el("td", {}, points(loss.value)), el("td", { class: "quiet" }, points(earlier.value)), el("td", { class: sure ? "sure" : "quiet" }, signed(change.value)), el("td", { class: "quiet" }, interval(change, signed)));
  };
  const heads = [texts.mygo.since, texts.mygo.before, texts.mygo.change, texts.myreport.heads.interval].map((text) => el("th", { scope: "col" }, text));
  const sure = lately.change.low !== null && (lately.change.low > 0 || lately.change.high! < 0);
  const said = !sure ? texts.mygo.unsure : lately.change.value! > 0 ? texts.mygo.worse : texts.mygo.better;
  return el(
    "div",
    { class: "my-lately" },
    el("h3", {}, texts.mygo.lately(lately.since)),
    el("p", {}, said),
    el(
      "table",
      { class: "my-parts" },
      el("caption", { class: "unseen" }, texts.mygo.latelyCaption(lately.since)),
      el("thead", {}, el("tr", {}, el("td", {}), ...heads)),
      el("tbody", {}, row(texts.mygo.allMoves, lately), ...lately.changed.map((each) => row(fromServer(each.label), each))),
    ),
    el("p", { class: "note" }, texts.mygo.latelyGames(lately.loss.games, lately.earlier_loss.games)),
  );
}

/** Each part with a bar: what was lost, its interval, and a mark where the usual loss lies. */
function table(title: string, parts: Part[], words: Wording): HTMLElement {
  const { points, signed } = shownIn(words);
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
    el("caption", { class: "unseen" }, words.caption(title)),
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }, title), ...heads)),
    el("tbody", {}, ...rows),
  );
}

function key(parts: Part[], words: Wording): HTMLElement {
  const compared = parts.some((part) => part.usual_loss);
  return el(
    "ul",
    { class: "legend" },
    el("li", {}, el("span", { class: "key my-key-lost" }), texts.myreport.keyLost(parts.some(({ loss }) => loss.low !== null))),
    compared && el("li", {}, el("span", { class: "key my-key-usual" }), words.keyUsual),
  );
}

/** All numbers of a division. */
function numbers(title: string, parts: Part[], open: boolean, wording: Wording): HTMLElement {
  const { points, signed } = shownIn(wording);
  const compared = parts.some((part) => part.usual_loss);
  const scored = parts.some((part) => part.score);
  const { heads, lost, usual, moreHead } = texts.myreport;
  // What people look for comes first: the columns that a narrow panel hides are the intervals.
  const titles = [title, heads.games, ...(scored ? [heads.score] : []), lost, ...(compared ? [usual, moreHead] : []), ...Object.values(SIGNS), heads.moves, heads.interval, ...(compared ? [texts.myreport.intervalOfMore] : [])];
  const rows = parts.map((part) => {
    const cells = [texts.common.number(part.games)];
    if (scored) cells.push(part.score?.value === null || !part.score ? "–" : texts.common.percent(part.score.value));
    cells.push(points(part.loss.value));
    if (compared) cells.push(points(part.usual_loss?.value), signed(part.difference?.value));
    for (const name of Object.keys(SIGNS) as (keyof typeof SIGNS)[]) cells.push(String(part.marks[name]));
    cells.push(texts.common.number(part.moves), interval(part.loss, points));
    if (compared) cells.push(interval(part.difference, signed));
    return el("tr", {}, el("th", { scope: "row" }, fromServer(part.label)), ...cells.map((text) => el("td", {}, text)));
  });
  const inside = el(
    "div",
    { class: "my-wide", tabindex: 0, role: "region", "aria-label": texts.myreport.allOf(title) },
    el("table", {}, el("thead", {}, el("tr", {}, ...titles.map((text) => el("th", { scope: "col" }, text)))), el("tbody", {}, ...rows)),
  );
  return el("details", { class: "my-numbers", open }, el("summary", {}, texts.myreport.all), inside);
}

/** The worst mistakes with their reasons; a click opens one. */
export function mistakeList(worst: Worst[], open: (mistake: Worst) => void): HTMLElement {
  const rows = worst.slice(0, LISTED).map((each) => {
    const made = button("", () => open(each), { title: whenAndHow(each) });
    const strength = ofGo(each) ? each.opponent_rank : each.opponent_rating;
    const why = lettered(inLanguage(each.reason?.why) ?? "");
    made.append(
      el("span", { class: "puzzle-move" }, `${moveOf(each)}${each.mark}`),
      el("span", { class: "my-against" }, `${texts.mygames.against(each.opponent)}${strength ? ` (${strength})` : ""}`),
      el("span", { class: "puzzle-lost" }, ofGo(each) ? texts.mygo.lost(texts.common.number(each.loss, 1)) : `−${texts.common.percent(lostPercent(each.loss) / 100, 4)}`),
    );
    if (why) made.append(el("span", { class: "my-reason" }, why));
    return el("li", {}, made);
  });
  return el("ol", { class: "puzzle-list my-mistakes", "aria-label": texts.myreport.worst }, ...rows);
}

function ofGo(mistake: Worst): mistake is GoWorst {
  return "vertex" in mistake;
}

/** "12… Qxe4"; in Go "White 38 Q4". */
export function moveOf(mistake: Worst): string {
  if (!ofGo(mistake)) return `${mistake.move_number}${mistake.side === "white" ? "." : "…"} ${lettered(mistake.san)}`;
  return texts.mygo.move(mistake.ply, mistake.side === "white" ? texts.common.white : texts.common.black, mistake.vertex);
}

/** The position before a mistake, as cards name it. */
export function placeOf(mistake: Worst): string {
  if (!ofGo(mistake)) return positionOf(mistake);
  const stones = mistake.stones.join("").replaceAll("X", "B").replaceAll("O", "W");
  return positionOf({ stones, turn: mistake.side === "black" ? "b" : "w" });
}

/** What a mistake lost, where its position is on the board. */
export function lostBefore(mistake: Worst): string {
  if (ofGo(mistake)) return texts.mygo.beforeLost(moveOf(mistake), texts.common.number(mistake.loss, 1));
  return texts.mygames.beforeLost(moveOf(mistake), lostPercent(mistake.loss));
}

function whenAndHow(mistake: Worst): string {
  const { date, phase, game } = mistake;
  const clock = ofGo(mistake) ? "" : clockOf(mistake);
  return texts.myreport.where(game, `${/\d/.test(date) ? `, ${date}` : ""}, ${ofGo(mistake) ? fromServer(`the ${phase}`) : phase}${clock}`);
}

function clockOf({ time_left: left }: ChessWorst): string {
  return left === null ? "" : texts.myreport.left(`${Math.floor(left / 60)}:${String(Math.floor(left % 60)).padStart(2, "0")}`);
}

type Said = (value: number | null | undefined) => string;

function interval(figure: Figure | undefined, say: Said): string {
  return !figure || figure.low === null ? "–" : texts.myreport.to(say(figure.low), say(figure.high));
}

function more(difference: Figure, wording: Wording): string {
  const { points, signed } = shownIn(wording);
  const value = difference.value ?? 0;
  const words = texts.myreport.moreHere(points(Math.abs(value)), value >= 0);
  return difference.low === null ? words : texts.myreport.withInterval(words, signed(difference.low), signed(difference.high));
}

/** Losses as a game shows them: percentage points with one decimal, points with two. */
function shownIn({ factor }: Wording): { points: Said; signed: Said } {
  const digits = factor === 1 ? 2 : 1;
  const points: Said = (value) => (value === null || value === undefined ? "–" : texts.common.number(factor * value, digits));
  const signed: Said = (value) => {
    if (value === null || value === undefined) return "–";
    const text = texts.common.number(factor * Math.abs(value), digits);
    if (Math.abs(factor * value) < 0.5 * 10 ** -digits) return text;
    return value > 0 ? `+${text}` : `−${text}`;
  };
  return { points, signed };
}
