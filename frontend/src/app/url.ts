/** The address: it names the network and the position, and what the tab had open comes back when it is loaded anew. */

import { message } from "../server/asking";
import { grown, hashOf, read, same, type Read } from "./hash";
import { keep, kept } from "./storage";
import { reopened } from "./earlier";
import type { App, Game, Line } from "./state";
import type { Tabs } from "../ui/tabs";
import { texts } from "../texts";
import { empty, loaded, START, written } from "./tree";

/** Browsers do not like addresses that change often, ms. */
const PAUSE = 350;
/** Trees beyond this are not kept for a reload; the address's own line is. */
const MOST = 1_500_000;
const SIZES = [9, 13, 19];

/** Whether two games begin alike: with the same position, and in Go with the same komi and rules. */
function sameStart(one: Line, other: Line): boolean {
  const parts = ({ fen, size, komi, rules, setup, side }: Line): string => JSON.stringify([fen ?? START, size, komi, rules, [...(setup?.B ?? [])].sort(), [...(setup?.W ?? [])].sort(), side]);
  return parts(one) === parts(other);
}

export class Address {
  private timer = 0;
  private tabs: Tabs | null = null;
  private shown = "";
  /** What the address named is open: from now on the page writes it. */
  private begun = false;
  private treeKept = "";

  constructor(private readonly app: App) {}

  /** Opens what the address names, and follows the page from then on. */
  async begin(tabs: Tabs): Promise<void> {
    const { app } = this;
    this.tabs = tabs;
    const said = read(location.hash);
    if (said?.tab) tabs.choose(said.tab);
    // A tab is named at once: a reload begins with the address as it stands, whatever the page writes while it goes.
    tabs.on(() => (this.begun ? this.write() : this.nameTab()));
    // The board is there before the networks are.
    const opened = (said ? this.open(said) : this.openGiven()).then(() => app.begin());
    await Promise.all([opened, this.networks(said?.network ?? null, opened)]);
    if (said) this.orGameOf(said);
    for (const event of ["game", "tree", "path", "cursor", "networks"] as const) app.on(event, () => this.soon());
    this.begun = true;
    this.write();
    window.addEventListener("hashchange", () => {
      if (location.hash === this.shown) return;
      const next = read(location.hash);
      if (!next) return;
      if (next.tab) tabs.choose(next.tab);
      void this.open(next).then(() => {
        this.orGameOf(next);
        if (next.network && next.network !== app.network && app.named(next.network)) app.choose(next.network);
      });
    });
    window.addEventListener("pagehide", () => this.write());
  }

  /** Opens the first file of the command line in a tab that has had nothing open. */
  private async openGiven(): Promise<void> {
    const { app } = this;
    if (!app.api.annotates || kept("session", "hash") !== null) return;
    await (await import("../library/given")).openGiven(app);
  }

  private async networks(wanted: string | null, opened: Promise<void>): Promise<void> {
    const { app } = this;
    for (;;) {
      try {
        await app.findNetworks(wanted);
        break;
      } catch (error) {
        if (app.connected) app.say(message(error), true);
        await new Promise((next) => window.setTimeout(next, 1500));
      }
    }
    // A network of Go was named first, and nothing is open: a board of Go. A file may still be on its way.
    await opened;
    const first = app.named(wanted) ?? app.named(app.given[0] ?? null);
    if (first && first.game !== app.game.kind && !app.touched && !/game=/.test(location.hash)) app.choose(first.name);
  }

  /** The address names only a network. */
  private orGameOf(said: Read): void {
    const network = this.app.named(said.network);
    if (network && network.game === this.app.game.kind) this.app.choose(network.name);
  }

  private async open({ line, ply, headers }: Read): Promise<void> {
    const { app } = this;
    // What somebody opens while the server answers stays.
    const { opened } = app;
    try {
      const kept = await this.again(line, ply);
      if (opened !== app.opened) return;
      if (kept) return app.open(...kept);
      const board = SIZES.includes(line.size ?? 19) ? empty(line.game, line.size) : null;
      if (!board || !same(board.start, line)) {
        const nodes = await app.api.line(line);
        if (opened === app.opened) app.open(...grown(line, nodes, ply, headers));
      } else if (app.touched || !same(board.start, app.game.start)) app.open(board);
    } catch (error) {
      app.say(texts.url.broken(message(error)), true);
    }
  }

  /** What this tab had open, with its variations and words, where it is what the address means. */
  private async again(line: Line, ply: number): Promise<Parameters<App["open"]> | null> {
    const game = (await this.fromStore(line)) ?? (await this.fromSession(line));
    if (!game) return null;
    const path = [game.root];
    for (const move of line.moves) {
      const next = game.nodes.get(path.at(-1)!)!.children.find((each) => game.nodes.get(each)!.move === move);
      if (next === undefined) break;
      path.push(next);
    }
    return [game, path[Math.max(0, Math.min(path.length - 1, ply))]!, path.at(-1)!];
  }

  /** The game as this tab had it, or as another tab or an earlier visit left it, if that had just this line. */
  private async fromStore(line: Line): Promise<Game | null> {
    if (!line.moves.length) return null;
    const { store } = this.app;
    const own = this.sameAsBefore(line) ? await store.get(kept("session", "key") ?? "") : undefined;
    if (own && own.revision === Number(kept("session", "revision"))) return this.withFile(reopened(own)[0]);
    if (kept("session", "hash")) return null;
    const moves = line.moves.join(".");
    const found = (await store.all()).find((each) => each.kind === line.game && each.line === moves && sameStart(each.start, line));
    return found ? reopened(found, true)[0] : null;
  }

  private async fromSession(line: Line): Promise<Game | null> {
    const body = kept("session", "tree");
    if (!body || !this.sameAsBefore(line)) return null;
    const game = this.withFile(loaded(await this.app.api.load(await this.app.api.save(JSON.parse(body)))));
    const key = kept("session", "key");
    if (key) Object.assign(game, { key, changed: true, revision: Number(kept("session", "revision")) });
    return game;
  }

  private withFile(game: Game): Game {
    const file = kept("session", "file");
    if (file) game.file = JSON.parse(file);
    return game;
  }

  /** Whether this tab had this line open. */
  private sameAsBefore(line: Line): boolean {
    const hash = kept("session", "hash");
    const before = hash ? read(hash)?.line : undefined;
    return before !== undefined && same(before, line);
  }

  /** The tab as the address names it: none for the first. */
  private get tab(): string {
    const chosen = this.tabs?.chosen ?? "";
    return chosen === "analysis" ? "" : chosen;
  }

  private soon(): void {
    window.clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.write(), PAUSE);
  }

  /** While what the address names is still being opened, only its tab changes. */
  private nameTab(): void {
    const said = new URLSearchParams(location.hash.replace(/^#/, ""));
    if (this.tab) said.set("tab", this.tab);
    else said.delete("tab");
    history.replaceState(null, "", `#${said}`);
  }

  private write(): void {
    window.clearTimeout(this.timer);
    const { app } = this;
    const hash = hashOf(app, this.tab);
    if (hash !== this.shown) {
      this.shown = hash;
      history.replaceState(null, "", hash);
    }
    keep("session", "hash", hash);
    this.keepTree();
  }

  private keepTree(): void {
    const { game } = this.app;
    keep("session", "key", game.changed ? game.key : null);
    keep("session", "revision", String(game.revision));
    const key = `${game.root} ${game.revision}`;
    if (key === this.treeKept) return;
    this.treeKept = key;
    const small = (value: unknown): string | null => {
      const text = JSON.stringify(value);
      return text.length < MOST ? text : null;
    };
    const body = { tree: written(game), headers: game.headers, game: game.kind, line: game.start };
    keep("session", "tree", this.app.touched ? small(body) : null);
    keep("session", "file", game.file ? small(game.file) : null);
  }
}
