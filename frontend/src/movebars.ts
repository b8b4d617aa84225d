/** A network's first moves as a list: bars and percentages. Pointing previews on the board, a click plays. */

import { el, percent } from "./elements";
import { shown, type Candidate } from "./overlays";
import type { App } from "./state";

export class MoveBars {
  readonly element = el("ol", { class: "move-bars" });
  private key = "";
  /** Where the pointer was last. */
  private pointer = "";

  constructor(private readonly app: App) {
    this.element.addEventListener("pointerleave", () => shown.point(null));
  }

  draw(moves: readonly Candidate[]): void {
    const key = JSON.stringify(moves);
    if (key === this.key) return;
    this.key = key;
    const most = Math.max(...moves.map((each) => each.p), 0.01);
    this.element.replaceChildren(...moves.map((each) => this.row(each, most)));
  }

  private row({ move, san, p }: Candidate, most: number): HTMLLIElement {
    const fill = el("span", { class: "fill" });
    fill.style.width = `${(100 * p) / most}%`;
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
