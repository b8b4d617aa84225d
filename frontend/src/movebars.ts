/** A network's likely moves as a list: bars and percentages. Pointing previews on the board, a click plays. */

import { el, percent } from "./elements";
import { shown, type Candidate } from "./overlays";
import type { App, Result } from "./state";

const LISTED_BY_RATING = 5;

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

  draw(moves: readonly Candidate[]): void {
    const key = JSON.stringify(moves);
    if (key === this.key) return;
    this.key = key;
    this.element.replaceChildren(...moves.map((each) => this.row(each)));
  }

  private row({ move, san, p }: Candidate): HTMLLIElement {
    const fill = el("span", { class: "fill" });
    fill.style.width = `${100 * p}%`;
    const row = el(
      "button",
      { type: "button", title: `Play ${san}` },
      el("span", { class: "san" }, `${san} `),
      el("span", { class: "track" }, fill),
      el("span", { class: "number" }, percent(p)),
    );
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
          el("section", {}, el("h4", {}, `Players rated ${rating}`), this.columns[index]?.element ?? ""),
        ),
      );
    }
    players.forEach(({ moves }, index) => this.columns[index]?.draw(moves.slice(0, LISTED_BY_RATING)));
  }
}
