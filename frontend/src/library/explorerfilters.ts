/** Which games of a source the explorer counts: result and years, and of one's own games the side. */

import { Choice, el } from "../ui/elements";
import type { Explored } from "../server/api";
import { year } from "./gamelist";
import { texts } from "../texts";

/** What the server is asked; what is not filtered is absent. */
export interface Filtered {
  side?: "white" | "black";
  result?: "1" | "0" | "-1";
  first_year?: number;
  last_year?: number;
}

/** One's own result as the server counts it: as the first player sees it, White of chess. */
export function resultFor(chosen: string, side: string): Filtered["result"] | undefined {
  if (!chosen) return undefined;
  return (side === "black" ? String(-Number(chosen)) : chosen) as Filtered["result"];
}

/** One's own points of a game on average, 0..1. */
export function scoreOf({ games, white, draws, black }: { games: number; white: number; draws: number; black: number }, side: string): number {
  return ((side === "black" ? black : white) + draws / 2) / games;
}

export class ExplorerFilters {
  readonly element: HTMLDetailsElement;
  readonly side: Choice;
  private readonly result: Choice;
  private readonly years: [HTMLInputElement, HTMLInputElement];
  private readonly dates: HTMLElement;
  private readonly head = el("summary", {}, texts.explorer.filters);
  private mine = false;
  /** What a result means: one's own, or that of a side. */
  private meaning = "";

  constructor(flipped: boolean, changed: () => void) {
    this.side = new Choice(texts.explorer.side, changed);
    this.side.offer([["white", texts.explorer.white], ["black", texts.explorer.black]], flipped ? "black" : "white");
    this.result = new Choice(texts.gamelist.result, changed);
    this.years = [year(changed), year(changed)];
    this.dates = el(
      "div",
      { class: "field" },
      el("label", { class: "field" }, el("span", {}, texts.gamelist.from), this.years[0]),
      el("label", { class: "field" }, el("span", {}, texts.gamelist.to), this.years[1]),
    );
    this.element = el("details", { class: "explorer-filters" }, this.head, el("div", { class: "explorer-choices" }, this.result.element, this.dates));
  }

  /** What can be chosen of a source. */
  offer(kind: "chess" | "go", mine: boolean, has: Explored["has"] | undefined): void {
    this.mine = mine;
    // A win of one's own is no win of White: what was chosen of another source says nothing of this one.
    const meaning = mine ? "own" : kind;
    if (this.meaning && meaning !== this.meaning) this.result.value = "";
    this.meaning = meaning;
    this.side.element.hidden = !mine;
    const results = mine ? texts.explorer.own : kind === "chess" ? ["1–0", "½–½", "0–1"] : ["B+", texts.gamelist.draw, "W+"];
    this.result.offer([["", texts.gamelist.any], ...["1", "0", "-1"].map((value, at): [string, string] => [value, results[at]!])]);
    this.dates.hidden = has?.dates === false;
    this.head.textContent = this.some ? texts.explorer.filtered : texts.explorer.filters;
  }

  /** Whether anything but the side is filtered. */
  get some(): boolean {
    const { result, first_year: first, last_year: last } = this.wanted;
    return Boolean(result ?? first ?? last);
  }

  /** Takes back the years where no game has a date; whether there were any. */
  forgetHidden(): boolean {
    const set = this.dates.hidden ? this.years.filter(({ value }) => value) : [];
    for (const input of set) input.value = "";
    return set.length > 0;
  }

  get wanted(): Filtered {
    const side = this.mine ? (this.side.value as "white" | "black") : undefined;
    const result = resultFor(this.result.value, side ?? "");
    const [first, last] = this.dates.hidden ? [] : this.years.map((input) => (input.value && input.validity.valid ? input.valueAsNumber : undefined));
    return { ...(side && { side }), ...(result && { result }), ...(first && { first_year: first }), ...(last && { last_year: last }) };
  }
}
