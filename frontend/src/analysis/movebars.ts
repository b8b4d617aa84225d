/** A network's likely moves as a list: bars and percentages. Pointing previews on the board, a click plays. */

import "./movebars.css";

import type { OpinionLine } from "../server/api";
import { claimant, valueName } from "../app/chance";
import { el, percent } from "../ui/elements";
import { onFocus, onPoint } from "./linepoints";
import { scoreWords, scored } from "./opinion";
import { shown, type Candidate } from "../board/overlays";
import type { App, Network, Result } from "../app/state";
import { lettered, texts } from "../texts";

const LISTED_BY_RATING = 5;

/** Whether a network can say what players of a rating would play. */
export const asksRatings = (network: Network | undefined): boolean =>
  Boolean(network?.rated && network.game === "chess" && !network.single && !network.problem && !network.person && network.answers.includes("moves"));

export class MoveBars {
  readonly element = el("ol", { class: "move-bars" });
  private key = "";
  /** Where the pointer was last. */
  private pointer = "";

  constructor(
    private readonly app: App,
    narrow = false,
  ) {
    this.element.classList.toggle("narrow", narrow);
    this.element.addEventListener("pointerleave", () => shown.point(null));
  }

  /** `lines`: what a search says of moves; then each has the value after it and a line. `inks`: classes of the bars, by move. `awaited`: whether lines will come; rows without one have the room of a line. `running`: whether the values will change. */
  draw(moves: readonly Candidate[], lines: readonly OpinionLine[] = [], inks: ReadonlyMap<string, string> = new Map(), awaited = false, running = false): void {
    this.element.classList.toggle("running", running);
    const valued = awaited || lines.length > 0;
    const key = JSON.stringify([moves, lines, [...inks], valued]);
    if (key === this.key) return;
    this.key = key;
    this.element.classList.toggle("valued", valued);
    const focused = [...this.element.querySelectorAll("button")].indexOf(document.activeElement as HTMLButtonElement);
    this.element.replaceChildren(...moves.map((each) => this.row(each, lines, valued, inks.get(each.move))));
    // What a search adds does not take the focus away.
    if (focused >= 0) this.element.querySelectorAll("button")[focused]?.focus();
  }

  private row({ move, san, p }: Candidate, lines: readonly OpinionLine[], valued: boolean, ink = ""): HTMLLIElement {
    const fill = el("span", { class: `fill ${ink}` });
    fill.style.width = `${100 * p}%`;
    const found = lines.find((each) => each.moves[0] === move);
    const row = el(
      "button",
      { type: "button", title: texts.common.play(lettered(san)), ...onFocus(found?.moves ?? []) },
      el("span", { class: "san" }, `${lettered(san)} `),
      el("span", { class: "track" }, fill),
      el("span", { class: "number" }, percent(p)),
    );
    if (valued) row.append(...valuedBy(this.app, found, lines.length > 0));
    row.addEventListener("pointermove", (event) => {
      // Rows that come under a pointer at rest, when somebody steps, are not pointed at.
      const at = `${event.screenX} ${event.screenY}`;
      if (at !== this.pointer) shown.point(move);
      this.pointer = at;
    });
    row.addEventListener("focus", () => shown.point(move));
    row.addEventListener("blur", () => shown.point(null));
    row.addEventListener("click", () => {
      shown.point(null);
      void this.app.play(move).catch(() => undefined);
    });
    return el("li", {}, row);
  }
}

/** The value after a move, and how the game would go on. `searched`: whether the search has found something. */
function valuedBy(app: App, line: OpinionLine | undefined, searched: boolean): HTMLElement[] {
  if (!line) return [el("span", { class: "value", title: searched && texts.movebars.unsearched }, searched ? "–" : ""), el("span", { class: "continued" }, "\u00a0")];
  const { kind } = app.game;
  const chance = line.white ?? line.black;
  const value = line.mate ? scored(kind, line) : chance === null || chance === undefined ? "" : percent(chance);
  const moves = line.san.slice(1).flatMap((san, at) => [at ? " " : "", el("span", onPoint(line.moves.slice(0, at + 2)), lettered(san))]);
  const looks = line.visits === undefined ? "" : texts.movebars.visits(line.visits);
  const title = [valueName(kind, claimant(app)), line.mate || kind === "go" ? scoreWords(kind, line) : "", looks].filter(Boolean).join(" · ");
  return [
    el("span", { class: "value", title }, value),
    kind === "go"
      ? el("span", { class: "continued" }, scored(kind, line), el("span", { class: "looks" }, looks && ` · ${looks}`), moves.length > 0 && " · ", ...moves)
      : el("span", { class: "continued" }, ...moves),
  ];
}

/** The likely moves of weaker and stronger players side by side. */
export class MovesByRating {
  readonly element = el("div", { class: "by-rating" });
  private columns: MoveBars[] = [];
  private ratings = "";

  constructor(private readonly app: App) {}

  draw(players: NonNullable<Result["by_rating"]>): void {
    this.element.hidden = !players.length;
    const ratings = players.map(({ rating }) => rating).join(" ");
    if (ratings !== this.ratings) {
      this.ratings = ratings;
      this.columns = players.map(() => new MoveBars(this.app, true));
      this.element.replaceChildren(
        ...players.map(({ rating }, index) =>
          el("section", {}, el("h4", {}, texts.movebars.rated(rating)), this.columns[index]?.element ?? ""),
        ),
      );
    }
    players.forEach(({ moves }, index) => this.columns[index]?.draw(moves.slice(0, LISTED_BY_RATING)));
  }
}
