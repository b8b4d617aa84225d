/** A list of games to choose from, with a search box and filters. */

import "./lists.css";
import { Latest } from "../server/asking";
import { button, Choice, el, write } from "../ui/elements";
import { BANDS, banded } from "../app/bands";
import { texts } from "../texts";

/** So many are listed at once; a search narrows them. */
export const SHOWN = 200;

/** What a game must have. search: words; result: as the first player sees it; rating: one of BANDS. */
export interface Wanted {
  search: string;
  result: "" | "1" | "0" | "-1";
  rating: string;
  first_year: number | null;
  last_year: number | null;
}

export interface Listed {
  index: number;
  title: string;
  /** What it is called, from 1; absent if that follows from `index`. */
  number?: number | undefined;
}

export interface Found {
  count: number;
  of: number;
  games: Listed[];
}

/** Where the games are from. */
export interface Source {
  title: string;
  kind: "chess" | "go";
  /** The game that is on the board. */
  current: number | null;
  /** Games of the file that are not listed. */
  unlisted: number;
  /** Whether more than their titles is known. */
  filters: boolean;
  /** The games that have all of it: how many of how many, and the first SHOWN. */
  find(wanted: Wanted, signal: AbortSignal): Promise<Found>;
  open(index: number): void;
}

export function showList(source: Source): void {
  const said = el("p", { class: "note", role: "status" });
  const list = el("ol", { "aria-label": texts.gamelist.list, tabindex: 0 });
  const search = el("input", { type: "search", "aria-label": texts.gamelist.search, placeholder: texts.gamelist.hint, autocomplete: "off" });
  const latest = new Latest(0);
  const filters = new Filters(source.kind, () => draw());
  const dialog = el(
    "dialog",
    { class: "dialog list-dialog", "aria-label": source.title },
    el("h2", {}, source.title),
    search,
    filters.element,
    said,
    list,
    el("div", { class: "dialog-buttons" }, button(texts.common.close, () => dialog.close(), { class: "primary" })),
  );
  filters.element.hidden = !source.filters;
  const open = (index: number): void => {
    dialog.close();
    source.open(index);
  };
  const show = ({ count, of, games }: Found, narrowed: boolean): void => {
    const rows = games.map(({ index, title, number = index + 1 }) => {
      const current = index === source.current ? "true" : null;
      return el("li", {}, button(`${texts.common.number(number)}. ${title}`, () => open(index), { "aria-current": current }));
    });
    list.replaceChildren(...rows);
    const found = narrowed ? texts.gamelist.fitting(count, of) : texts.gamelist.all(count);
    const unlisted = source.unlisted && !narrowed ? texts.gamelist.unlisted(source.unlisted) : "";
    write(said, count > games.length ? texts.gamelist.first(found, games.length) : `${found}${unlisted}.`, false);
  };
  let first = true;
  const draw = (): void => {
    const wanted = { search: search.value.trim(), ...filters.wanted };
    const narrowed = Object.values(wanted).some(Boolean);
    latest.ask(
      (signal) => source.find(wanted, signal),
      (found) => {
        show(found, narrowed);
        if (first) list.querySelector("[aria-current]")?.scrollIntoView({ block: "center" });
        first = false;
      },
      (problem) => write(said, problem, true),
    );
  };
  search.addEventListener("input", draw);
  search.addEventListener("keydown", (event) => {
    const top = list.querySelector("button");
    if (event.key === "Enter") top?.click();
    else if (event.key === "ArrowDown") top?.focus();
    else return;
    event.preventDefault();
  });
  list.addEventListener("keydown", (event) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const all = [...list.querySelectorAll("button")];
    const at = all.indexOf(document.activeElement as HTMLButtonElement);
    if (!by || at < 0) return;
    event.preventDefault();
    (all[at + by] ?? (by < 0 ? search : all[at]))?.focus();
  });
  dialog.addEventListener("close", () => {
    latest.cancel();
    dialog.remove();
  });
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  document.body.append(dialog);
  draw();
  dialog.showModal();
}

/** Result, ratings and years. */
class Filters {
  readonly element: HTMLElement;
  private readonly result: Choice;
  private readonly rating: Choice;
  private readonly years: [HTMLInputElement, HTMLInputElement];

  constructor(kind: "chess" | "go", changed: () => void) {
    this.result = new Choice(texts.gamelist.result, changed);
    this.rating = new Choice(texts.gamelist.rated, changed);
    const [won, lost] = kind === "chess" ? ["1–0", "0–1"] : ["B+", "W+"];
    this.result.offer([["", texts.gamelist.any], ["1", won], ["0", kind === "chess" ? "½–½" : texts.gamelist.draw], ["-1", lost]]);
    this.rating.offer(BANDS[kind].map((band) => [band, banded(band)] as const));
    this.years = [year(changed), year(changed)];
    this.element = el(
      "div",
      { class: "filters" },
      this.result.element,
      this.rating.element,
      el(
        "div",
        { class: "field" },
        el("label", { class: "field" }, el("span", {}, texts.gamelist.from), this.years[0]),
        el("label", { class: "field" }, el("span", {}, texts.gamelist.to), this.years[1]),
      ),
    );
  }

  get wanted(): Omit<Wanted, "search"> {
    const [first, last] = this.years.map((input) => (input.value && input.validity.valid ? input.valueAsNumber : null));
    return { result: this.result.value as Wanted["result"], rating: this.rating.value, first_year: first ?? null, last_year: last ?? null };
  }
}

export function year(changed: () => void): HTMLInputElement {
  const input = el("input", { type: "number", min: 1, max: 9999, step: 1, class: "year" });
  input.addEventListener("input", changed);
  return input;
}
