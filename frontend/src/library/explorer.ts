/** What was played in this position, over the games of a source: moves with counts and results, and some of the games. */

import "./explorer.css";

import type { Explored, Played, StoredGame } from "../server/api";
import { Kept, Latest, message } from "../server/asking";
import { BANDS, banded } from "../app/bands";
import { ExplorerFilters, scoreOf } from "./explorerfilters";
import { FILE, gamesOf, type Known, MINE, OpenedFile, preferred, sourcesOf } from "./explorersources";
import { keep, kept } from "../app/storage";
import { button, Choice, el, percent } from "../ui/elements";
import { shown } from "../board/overlays";
import type { App } from "../app/state";
import { findStored, openOfFile, openStored, pairing, playerOf, resultOf } from "./storedgames";
import { fromServer, lettered, texts } from "../texts";

/** What the panel leads to where it has no games. */
export interface Ways {
  open: () => void;
  mine: () => void;
}

/** Moves that are listed until more are asked for. */
const FIRST = 12;
/** So far games are known, plies. */
const DEPTH = 40;
/** While an index is made, ms. */
const AGAIN = 400;

export function mountExplorer(host: HTMLElement, app: App, ways: Ways): void {
  new ExplorerPanel(host, app, ways);
}

class ExplorerPanel {
  private readonly opening = el("p", { class: "opening" });
  private readonly source: Choice;
  private readonly band: Choice;
  private readonly filters: ExplorerFilters;
  private readonly choices: HTMLElement;
  private readonly state = el("div", { class: "note", role: "status" });
  private readonly skipped = el("p", { class: "note" });
  private readonly bar = el("progress", { max: 1, "aria-label": texts.explorer.indexing });
  private readonly table = el("table", { class: "played" });
  private readonly more = button(texts.explorer.more, () => this.all());
  private readonly games = el("ul", { class: "stored-games", "aria-label": texts.explorer.reached });
  private readonly search = button(texts.explorer.search, () => this.find());
  private readonly gamesHead = el("h3");
  private readonly gamesPart = el("section", {}, this.gamesHead, this.games);
  private readonly latest = new Latest(60);
  private readonly kept = new Kept<Explored>();
  private readonly file: OpenedFile;
  /** What the server has, by game; not known before its first answer. */
  private readonly known = new Map<"chess" | "go", Known>();
  /** The source that somebody chose. */
  private chosen = kept("session", "explorer");
  private answer: Explored | null = null;
  private whole = false;
  private timer = 0;
  private asked = "";

  constructor(
    host: HTMLElement,
    private readonly app: App,
    private readonly ways: Ways,
  ) {
    const anew = (): void => this.draw();
    this.file = new OpenedFile(app.api, anew);
    this.source = new Choice(texts.explorer.source, (id) => {
      this.chosen = id;
      keep("session", "explorer", id);
      this.draw();
    });
    this.band = new Choice(texts.gamelist.rated, anew);
    this.filters = new ExplorerFilters(app.flipped, anew);
    this.choices = el("div", { class: "explorer-choices" }, this.source.element, this.search, this.filters.side.element, this.band.element, this.filters.element);
    host.classList.add("panel", "explorer");
    host.replaceChildren(
      el("h2", {}, texts.explorer.title),
      this.opening,
      this.choices,
      this.state,
      this.skipped,
      this.bar,
      this.table,
      this.more,
      this.gamesPart,
    );
    // Until there is an answer.
    for (const part of [this.opening, this.choices, this.skipped, this.bar, this.table, this.more, this.gamesPart]) part.hidden = true;
    new IntersectionObserver(anew).observe(host);
    app.on("cursor", anew);
    app.on("tree", anew);
    app.on("game", anew);
    this.table.addEventListener("pointerleave", () => shown.point(null));
    this.seen = () => host.offsetParent !== null;
    this.draw();
  }

  private readonly seen: () => boolean;

  /** Games of the opened file; 0 for a position without moves. */
  private get opened(): number {
    const { file, nodes } = this.app.game;
    return file ? gamesOf(file, nodes.size > 1) : 0;
  }

  /** The source whose games are counted; undefined while none is known. */
  private get present(): string | undefined {
    const known = this.known.get(this.app.game.kind);
    return known && preferred(sourcesOf(known, this.opened), this.chosen, this.opened);
  }

  private draw(): void {
    window.clearTimeout(this.timer);
    // Of a tab that is not looked at nothing is asked, and no answer is awaited: it might be of another game.
    if (!this.seen()) return this.latest.cancel();
    const { app } = this;
    const { kind, file } = app.game;
    const source = this.present;
    this.offer(source);
    let store = source;
    if (source === FILE && file) {
      const sent = this.file.of(file, kind);
      if (!("store" in sent)) return this.sending(sent);
      store = sent.store;
    }
    const asked = { line: app.line(), store, rating: this.band.element.hidden ? "" : this.band.value, ...this.filters.wanted };
    const key = JSON.stringify(asked);
    const before = this.kept.get(key);
    if (before) this.show(before, key);
    // What is known is asked for again: games may have been added meanwhile.
    this.latest.ask(
      (signal) => app.api.explore(asked, signal),
      (answer) => this.answered(answer, key, source),
      (problem) => this.show(null, key, problem),
      () => {
        if (!before) this.state.textContent = texts.explorer.looking;
      },
    );
  }

  private answered(answer: Explored, key: string, source: string | undefined): void {
    const { stores, mine, building, problem, missing } = answer;
    this.known.set(this.app.game.kind, { stores, ...(mine && { mine }) });
    if (missing) {
      this.file.forget();
      return this.draw();
    }
    // Now it is known what there is, and another source may come first.
    const now = this.present;
    if (now !== source && now !== answer.store) return this.draw();
    if (JSON.stringify(answer) === JSON.stringify(this.kept.get(key)) && this.asked === key) return;
    if (building !== undefined) this.timer = window.setTimeout(() => this.draw(), AGAIN);
    else if (answer.store && !problem) this.kept.set(key, answer);
    this.show(answer, key, problem);
  }

  /** The choices that there are with a source. */
  private offer(source: string | undefined): void {
    const { kind } = this.app.game;
    const known = this.known.get(kind);
    if (known) {
      const sources = sourcesOf(known, this.opened);
      this.source.offer(sources, source);
      this.source.element.hidden = sources.length < 2 && sources[0]?.[0] !== FILE && sources[0]?.[0] !== MINE;
      this.choices.hidden = !sources.length;
    }
    const has = this.answer?.store ? this.answer.has : undefined;
    this.band.offer(BANDS[kind].map((band) => [band, banded(band)] as const));
    this.band.element.hidden = has?.ratings === false;
    this.filters.offer(kind, source === MINE, has);
  }

  /** Takes back what was filtered by facts that the games of this source do not have; whether there was any. */
  private forgetHidden(): boolean {
    const rated = this.band.element.hidden && this.band.value !== "";
    if (rated) this.band.value = "";
    return this.filters.forgetHidden() || rated;
  }

  /** While the opened file is sent, and where it cannot be. */
  private sending(sent: { share: number } | { problem: string }): void {
    this.latest.cancel();
    const problem = "problem" in sent ? sent.problem : "";
    this.clear();
    this.bar.hidden = Boolean(problem);
    if ("share" in sent) this.bar.value = sent.share;
    this.state.textContent = problem || texts.explorer.reading;
  }

  private clear(): void {
    this.answer = null;
    this.asked = "";
    for (const part of [this.opening, this.search, this.filters.element, this.skipped, this.table, this.more, this.gamesPart]) part.hidden = true;
  }

  private show(answer: Explored | null, key: string, problem = ""): void {
    if (key !== this.asked) this.whole = false;
    this.asked = key;
    this.answer = answer;
    const { opening, building, store } = answer ?? {};
    const { kind } = this.app.game;
    const chess = kind === "chess";
    this.opening.textContent = opening ? `${opening.eco} ${opening.name}` : "";
    this.opening.hidden = !opening;
    this.offer(this.present);
    if (this.forgetHidden()) return this.draw();
    this.search.hidden = this.filters.element.hidden = !store || building !== undefined || Boolean(problem);
    this.bar.hidden = building === undefined;
    this.bar.value = building ?? 0;
    const size = this.app.game.start.size ?? 19;
    if (problem) this.state.textContent = problem;
    else if (answer && !store) this.state.replaceChildren(...this.none(chess));
    else if (building !== undefined) this.state.textContent = texts.explorer.once;
    else if (!chess && size !== 19) this.state.textContent = texts.explorer.only19;
    else if (!answer?.games) this.state.textContent = this.nothing();
    else this.state.textContent = counted(answer);
    const left = Object.entries(answer?.left_out ?? {});
    this.skipped.textContent = left.length ? texts.explorer.skipped(left.reduce((sum, [, n]) => sum + n, 0), left.map(([reason]) => fromServer(reason)).join(", ")) : "";
    this.skipped.hidden = !left.length || building !== undefined;
    const found = building === undefined && !problem && Boolean(answer?.moves?.length);
    this.table.hidden = !found;
    this.gamesPart.hidden = !answer?.examples?.length;
    this.gamesHead.textContent = this.mine ? texts.explorer.newest : answer?.has?.ratings === false ? texts.gamelist.list : texts.explorer.highest;
    if (found) this.list();
    this.more.hidden = !found || this.whole || (answer?.moves.length ?? 0) <= FIRST;
    this.games.replaceChildren(...(answer?.examples ?? []).map((game) => this.game(game)));
  }

  private get mine(): boolean {
    return this.answer?.store === MINE;
  }

  private nothing(): string {
    const beyond = this.app.node().ply >= DEPTH;
    if (beyond) return texts.explorer.first(this.app.game.kind === "chess" ? DEPTH / 2 : DEPTH);
    return this.band.value ? texts.explorer.noneRated : this.filters.some ? texts.explorer.noneFiltered : texts.explorer.none;
  }

  /** What to do where there are no games. */
  private none(chess: boolean): HTMLElement[] {
    const ways = [button(texts.explorer.open, this.ways.open, { class: "primary" }), chess && button(texts.tabs.mygames, this.ways.mine)];
    const file = chess ? "games.pgn" : "games.sgf";
    return [
      el("p", {}, chess ? texts.explorer.noSource : texts.explorer.noSourceGo),
      el("div", { class: "buttons" }, ...ways),
      el("p", {}, texts.explorer.noStore),
      el("pre", {}, `kibitz import ${file} --into my.store\nkibitz board my.store`),
    ];
  }

  /** Lists the games of the source, or those with a move in this position. */
  private find(move?: Played): void {
    const { app, answer } = this;
    if (!answer?.store) return;
    const { side, ...others } = this.filters.wanted;
    const rating = this.band.value;
    const title = move ? texts.explorer.gamesWith(lettered(move.san)) : this.mine || this.source.value === FILE ? texts.gamelist.list : texts.gamelist.stored;
    const where = move ? { line: app.line(), move: move.move, filtered: { ...(side && { side }), ...others, rating } } : { filtered: side ? { side } : {} };
    const ply = move ? app.node().ply + 1 : 0;
    findStored(app, { store: answer.store, title, ...where }, (game) => void this.open(game, ply));
  }

  private async open(game: StoredGame, ply: number): Promise<void> {
    const { app, answer } = this;
    if (!answer?.store) return;
    const { mine } = this;
    const own = this.filters.side.value;
    const { value } = this.source;
    const opened = await (value === FILE || value === app.game.file?.given ? openOfFile(app, answer.store, game, ply) : openStored(app, answer.store, game.game, ply));
    if (mine && opened) app.set({ flipped: own === "black" });
  }

  private all(): void {
    this.whole = true;
    this.list();
    this.more.hidden = true;
    this.table.querySelectorAll<HTMLElement>("th button")[FIRST]?.focus();
  }

  private list(): void {
    const { answer } = this;
    if (!answer) return;
    const moves = this.whole ? answer.moves : answer.moves.slice(0, FIRST);
    const heads = [...texts.explorer.heads.slice(0, 3), this.mine ? texts.explorer.score : texts.explorer.heads[3]!].map((text) => el("th", { scope: "col" }, text));
    this.table.replaceChildren(el("thead", {}, el("tr", {}, ...heads)), el("tbody", {}, ...moves.map((each) => this.row(each, answer.games))));
  }

  private row(played: Played, games: number): HTMLTableRowElement {
    const { move } = played;
    const san = lettered(played.san);
    const play = button(san, () => this.play(move), { title: texts.common.play(san) });
    play.addEventListener("focus", () => shown.point(move));
    play.addEventListener("blur", () => shown.point(null));
    const list = button("", () => this.find(played), { title: texts.explorer.gamesWith(san) });
    list.append(el("span", {}, texts.common.number(played.games)), " ", el("small", {}, percent(played.games / games)));
    const last = this.mine ? percent(scoreOf(played, this.filters.side.value)) : rated(played, this.app.game.kind);
    const row = el(
      "tr",
      {},
      el("th", { scope: "row" }, play),
      el("td", { class: "count" }, list),
      el("td", {}, results(played, this.app.game.kind)),
      el("td", { class: "rating" }, last),
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
    const open = (): void => void this.open(game, app.node().ply);
    const entry = button("", open, { title: texts.explorer.openThis });
    entry.append(
      el("span", {}, this.mine ? playerOf(game, this.filters.side.value === "black" ? "white" : "black") : pairing(game, kind)),
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
