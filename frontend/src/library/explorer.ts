/** What was played in this position, over the games of a store: moves with counts and results, and some of the games. */

import "./explorer.css";

import type { Explored, Played, StoredGame } from "../server/api";
import { Kept, Latest, message } from "../server/asking";
import { BANDS, banded } from "../app/bands";
import { button, Choice, el, percent } from "../ui/elements";
import { shown } from "../board/overlays";
import type { App } from "../app/state";
import { findStored, openStored, pairing, resultOf } from "./storedgames";
import { texts } from "../texts";

/** Moves that are listed until more are asked for. */
const FIRST = 12;
/** So far games are known, plies. */
const DEPTH = 40;
/** While an index is made, ms. */
const AGAIN = 400;

export function mountExplorer(host: HTMLElement, app: App): void {
  new ExplorerPanel(host, app);
}

class ExplorerPanel {
  private readonly opening = el("p", { class: "opening" });
  private readonly store: Choice;
  private readonly band: Choice;
  private readonly choices: HTMLElement;
  private readonly state = el("div", { class: "note", role: "status" });
  private readonly bar = el("progress", { max: 1, "aria-label": texts.explorer.indexing });
  private readonly table = el("table", { class: "played" });
  private readonly more = button(texts.explorer.more, () => this.all());
  private readonly games = el("ul", { class: "stored-games", "aria-label": texts.explorer.reached });
  private readonly search = button(texts.explorer.search, () => findStored(this.app, this.answer?.store ?? ""));
  private readonly gamesPart = el("section", {}, el("h3", {}, texts.explorer.highest), this.games);
  private readonly latest = new Latest(60);
  private readonly kept = new Kept<Explored>();
  private answer: Explored | null = null;
  private whole = false;
  private timer = 0;
  private asked = "";

  constructor(
    host: HTMLElement,
    private readonly app: App,
  ) {
    const anew = (): void => this.draw();
    this.store = new Choice(texts.explorer.store, anew);
    this.band = new Choice(texts.explorer.rated, anew);
    this.choices = el("div", { class: "explorer-choices" }, this.store.element, this.band.element, this.search);
    host.classList.add("panel", "explorer");
    host.replaceChildren(
      el("h2", {}, texts.explorer.title),
      this.opening,
      this.choices,
      this.state,
      this.bar,
      this.table,
      this.more,
      this.gamesPart,
    );
    // Until there is an answer.
    for (const part of [this.opening, this.choices, this.bar, this.table, this.more, this.gamesPart]) part.hidden = true;
    // Of a tab that is not looked at nothing is asked.
    new IntersectionObserver(anew).observe(host);
    app.on("cursor", anew);
    app.on("tree", anew);
    app.on("game", anew);
    this.table.addEventListener("pointerleave", () => shown.point(null));
    this.seen = () => host.offsetParent !== null;
    this.draw();
  }

  private readonly seen: () => boolean;

  private draw(): void {
    window.clearTimeout(this.timer);
    if (!this.seen()) return;
    const { app } = this;
    const kind = app.game.kind;
    this.band.offer(BANDS[kind].map((band) => [band, banded(band)] as const));
    const line = app.line();
    const asked = { line, store: this.store.value || undefined, rating: this.band.value };
    const key = JSON.stringify(asked);
    const known = this.kept.get(key);
    if (known) this.show(known, key);
    // What is known is asked for again: games may have been added meanwhile.
    this.latest.ask(
      (signal) => app.api.explore(asked, signal),
      (answer) => {
        const { building, problem } = answer;
        if (JSON.stringify(answer) === JSON.stringify(known)) return;
        if (building !== undefined) this.timer = window.setTimeout(() => this.draw(), AGAIN);
        else if (answer.stores.length && !problem) this.kept.set(key, answer);
        this.show(answer, key, problem);
      },
      (problem) => this.show(null, key, problem),
      () => {
        if (!known) this.state.textContent = texts.explorer.looking;
      },
    );
  }

  private show(answer: Explored | null, key: string, problem = ""): void {
    if (key !== this.asked) this.whole = false;
    this.asked = key;
    this.answer = answer;
    const { opening, stores = [], building } = answer ?? {};
    const chess = this.app.game.kind === "chess";
    this.opening.textContent = opening ? `${opening.eco} ${opening.name}` : "";
    this.opening.hidden = !opening;
    if (answer) {
      // Without an answer what was chosen stays.
      this.store.offer(stores.map((name) => [name, name.split("/").pop() ?? name] as const), answer.store);
      this.store.element.hidden = stores.length < 2;
      this.choices.hidden = !stores.length;
    }
    this.search.hidden = building !== undefined || Boolean(problem);
    this.bar.hidden = building === undefined;
    this.bar.value = building ?? 0;
    const size = this.app.game.start.size ?? 19;
    if (problem) this.state.textContent = problem;
    else if (!stores.length) this.state.replaceChildren(...none(chess));
    else if (building !== undefined) this.state.textContent = texts.explorer.once;
    else if (!chess && size !== 19) this.state.textContent = texts.explorer.only19;
    else if (!answer?.games) this.state.textContent = this.nothing();
    else this.state.textContent = counted(answer);
    const found = building === undefined && !problem && Boolean(answer?.moves?.length);
    this.table.hidden = !found;
    this.gamesPart.hidden = !answer?.examples?.length;
    if (found) this.list();
    this.more.hidden = !found || this.whole || (answer?.moves.length ?? 0) <= FIRST;
    this.games.replaceChildren(...(answer?.examples ?? []).map((game) => this.game(game)));
  }

  private nothing(): string {
    const beyond = this.app.node().ply >= DEPTH;
    return beyond ? texts.explorer.first(this.app.game.kind === "chess" ? DEPTH / 2 : DEPTH) : (this.band.value ? texts.explorer.noneRated : texts.explorer.none);
  }

  private all(): void {
    this.whole = true;
    this.list();
    this.more.hidden = true;
    this.table.querySelectorAll("button")[FIRST]?.focus();
  }

  private list(): void {
    const { answer } = this;
    if (!answer) return;
    const moves = this.whole ? answer.moves : answer.moves.slice(0, FIRST);
    const heads = texts.explorer.heads.map((text) => el("th", { scope: "col" }, text));
    this.table.replaceChildren(el("thead", {}, el("tr", {}, ...heads)), el("tbody", {}, ...moves.map((each) => this.row(each, answer.games))));
  }

  private row(played: Played, games: number): HTMLTableRowElement {
    const { move, san } = played;
    const play = button(san, () => this.play(move), { title: texts.common.play(san) });
    play.addEventListener("focus", () => shown.point(move));
    play.addEventListener("blur", () => shown.point(null));
    const row = el(
      "tr",
      {},
      el("th", { scope: "row" }, play),
      el("td", { class: "count" }, el("span", {}, texts.common.number(played.games)), el("small", {}, percent(played.games / games))),
      el("td", {}, results(played, this.app.game.kind)),
      el("td", { class: "rating" }, rated(played, this.app.game.kind)),
    );
    row.addEventListener("pointerenter", () => shown.point(move));
    row.addEventListener("click", (event) => !(event.target as Element).closest("button") && this.play(move));
    return row;
  }

  private play(move: string): void {
    shown.point(null);
    this.app.play(move).catch((error: unknown) => this.app.say(message(error), true));
  }

  private game(game: StoredGame): HTMLLIElement {
    const { app } = this;
    const { kind } = app.game;
    const open = (): void => void openStored(app, this.answer?.store ?? "", game.game, app.node().ply);
    const entry = button("", open, { title: texts.explorer.openThis });
    entry.append(
      el("span", {}, pairing(game, kind)),
      el("span", { class: "result" }, resultOf(game, kind)),
      el("span", { class: "year" }, game.date?.slice(0, 4) ?? ""),
    );
    return el("li", {}, entry);
  }
}

function counted({ games, average_rating: rating }: Explored): string {
  const many = texts.explorer.games(games);
  return rating === null || rating < 100 ? `${many}.` : texts.explorer.average(many, Math.round(rating));
}

function rated({ average_rating: rating }: Played, kind: "chess" | "go"): string {
  if (rating === null) return "";
  const value = Math.round(rating);
  if (kind === "chess") return String(value);
  return value > 10 ? `${value - 10}p` : value > 0 ? `${value}d` : `${1 - value}k`;
}

/** A bar of the results: of chess White's part, the draws, Black's; of Go Black's first. */
function results({ games, white, draws, black }: Played, kind: "chess" | "go"): HTMLElement {
  const parts: [string, string, number][] = [
    ["white", texts.explorer.whiteWon, white],
    ["draws", texts.explorer.drawn, draws],
    ["black", texts.explorer.blackWon, black],
  ];
  if (kind === "go") parts.reverse();
  const bar = el("div", { class: "results", role: "img", "aria-label": parts.map(([, words, n]) => `${words} ${percent(n / games)}`).join(", ") });
  bar.title = bar.getAttribute("aria-label")!;
  for (const [name, , n] of parts) {
    if (!n) continue;
    const share = n / games;
    const part = el("span", { class: name }, share >= 0.16 ? percent(share) : "");
    part.style.width = `${100 * share}%`;
    bar.append(part);
  }
  return bar;
}

/** What to do where the board has no store. */
function none(chess: boolean): HTMLElement[] {
  const file = chess ? "games.pgn" : "games.sgf";
  return [
    el("p", {}, texts.explorer.noStore),
    el("pre", {}, `kibitz import ${file} --into my.store\nkibitz board my.store`),
  ];
}
