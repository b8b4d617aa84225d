/** Games with changes, kept by the browser: the present one all the time, and the last ones before it. */

import { firstColumn, numeral, occasion, players } from "./naming";
import type { App, Game, Node } from "./state";
import { texts } from "../texts";
import { ancestry, newKey, numberedAnew, whole, worth } from "./tree";

/** So many are kept, the present one not counted. */
export const MOST = 20;
/** Between a change and its being kept, ms. */
const PAUSE = 300;

export interface Kept {
  key: string;
  /** When it was changed last. */
  time: number;
  title: string;
  about: string;
  revision: number;
  /** The line that was looked at, from the start to its end: it names the game in an address. */
  line: string;
  kind: Game["kind"];
  headers: Game["headers"];
  start: Game["start"];
  nodes: Node[];
  root: number;
  cursor: number;
}

/** The games in the browser's database; where it has none, in this page alone. */
export class Store {
  private readonly here = new Map<string, Kept>();
  private opened: Promise<IDBDatabase | null> | null = null;

  async put(game: Kept): Promise<void> {
    this.here.set(game.key, game);
    await this.within("readwrite", (store) => store.put(game));
    const open = await held();
    const spare = (await this.all()).slice(MOST + 1).filter(({ key }) => !open.has(key));
    for (const { key } of spare) await this.remove(key);
  }

  async remove(key: string): Promise<void> {
    this.here.delete(key);
    await this.within("readwrite", (store) => store.delete(key));
  }

  async get(key: string): Promise<Kept | undefined> {
    const found = await this.within<Kept | undefined>("readonly", (store) => store.get(key) as IDBRequest<Kept | undefined>);
    return found ?? this.here.get(key);
  }

  /** All of them, the latest first. */
  async all(): Promise<Kept[]> {
    const found = (await this.within<Kept[]>("readonly", (store) => store.getAll() as IDBRequest<Kept[]>)) ?? [...this.here.values()];
    return found.sort((a, b) => b.time - a.time);
  }

  private database(): Promise<IDBDatabase | null> {
    this.opened ??= new Promise((done) => {
      try {
        const asked = indexedDB.open("kibitz", 1);
        asked.onupgradeneeded = () => asked.result.createObjectStore("games", { keyPath: "key" });
        asked.onsuccess = () => done(asked.result);
        asked.onerror = asked.onblocked = () => done(null);
      } catch {
        done(null);
      }
    });
    return this.opened;
  }

  private async within<T>(mode: IDBTransactionMode, act: (store: IDBObjectStore) => IDBRequest<T>): Promise<T | undefined> {
    const database = await this.database();
    if (!database) return undefined;
    return new Promise((done) => {
      try {
        const transaction = database.transaction("games", mode);
        const request = act(transaction.objectStore("games"));
        transaction.oncomplete = () => done(request.result);
        transaction.onerror = transaction.onabort = () => done(undefined);
      } catch {
        done(undefined);
      }
    });
  }
}

const LOCK = "kibitz-";

/** Keys of the games that are open now, in this tab or another one. */
async function held(): Promise<Set<string>> {
  const locks = (await navigator.locks?.query())?.held ?? [];
  return new Set(locks.flatMap(({ name }) => (name?.startsWith(LOCK) ? [name.slice(LOCK.length)] : [])));
}

/** Keeps the present game whenever it has changed. */
export class Keeper {
  private timer = 0;
  private game: Game;
  private cursor: number;
  private kept = "";

  /** Gives the name of the present game free: other tabs see that it is open no more. */
  private release: () => Promise<unknown> = () => Promise.resolve();

  constructor(
    app: App,
    readonly store: Store,
  ) {
    this.game = app.game;
    this.cursor = app.cursor;
    app.on("game", () => {
      const { release } = this;
      const done = this.flush();
      const other = app.game.key !== this.game.key;
      this.game = app.game;
      this.cursor = app.cursor;
      if (other) this.alone();
      // Kept first: until then no other tab may take it for a game that nobody has open.
      void Promise.resolve(done).then(() => other && release()).then(() => done && unite(this.store));
    });
    app.on("cursor", () => (this.cursor = app.cursor));
    app.on("tree", () => {
      this.cursor = app.cursor;
      window.clearTimeout(this.timer);
      this.timer = window.setTimeout(() => void this.flush(), PAUSE);
    });
    window.addEventListener("pagehide", () => void this.flush());
    this.alone();
  }

  /** Resolves when the game is kept; undefined where there is nothing to keep. */
  private flush(): Promise<void> | undefined {
    window.clearTimeout(this.timer);
    const { game } = this;
    const state = `${game.key} ${game.revision}`;
    if (!game.changed || !worth(game) || state === this.kept) return undefined;
    this.kept = state;
    return this.store.put(keptOf(game, this.cursor));
  }

  /** A game that another tab holds, because this tab is its copy, is kept under a name of its own. */
  private alone(): void {
    const { game } = this;
    const { locks } = navigator;
    if (!locks) return;
    let leave: () => void = () => undefined;
    // Until another game is opened here, or the tab is closed.
    const left = new Promise<void>((resolve) => (leave = resolve));
    const hold = (): Promise<unknown> =>
      locks.request(`${LOCK}${game.key}`, { ifAvailable: true }, (lock) => {
        if (lock) return left;
        game.key = newKey();
        return undefined;
      });
    const { key } = game;
    // The copy holds its own name.
    const free = hold().then(() => (game.key === key ? undefined : hold()));
    this.release = () => (leave(), free);
  }
}

type Content = Pick<Kept, "kind" | "headers" | "start" | "root"> & { nodes: ReadonlyMap<number, Node> };

/** All that is in a game, but not the numbers of its positions, nor the position that was looked at. */
function contentOf({ kind, headers, start, root, nodes }: Content): string {
  const parts: unknown[] = [kind, Object.entries(headers).sort(), start.fen, start.size, start.komi, start.rules, start.side, start.setup];
  const pile = [root];
  for (let at = nodes.get(pile.pop()!); at; at = nodes.get(pile.pop()!)) {
    const { move, comment, nags, commands, shapes, props, children } = at;
    parts.push([move, comment, nags, commands ?? 0, shapes ?? 0, props ?? 0, children.length]);
    pile.push(...[...children].reverse());
  }
  return JSON.stringify(parts);
}

/** Keeps one of the games with the same content, the latest, and those that are open; resolves with each once. */
export async function unite(store: Store): Promise<Kept[]> {
  const open = await held();
  const all = await store.all();
  const { once, again } = distinct([...all].sort((a, b) => Number(open.has(b.key)) - Number(open.has(a.key))));
  for (const { key } of again) if (!open.has(key)) await store.remove(key);
  return once.sort((a, b) => b.time - a.time);
}

/** Games with the same content once, the first of them; the others, and those that are the same as `present`, apart. */
export function distinct(games: readonly Kept[], present?: Game): { once: Kept[]; again: Kept[] } {
  const found = new Map<string, string>();
  if (present) found.set(contentOf(present), present.key);
  const once: Kept[] = [];
  const again: Kept[] = [];
  for (const game of games) {
    const content = contentOf({ ...game, nodes: new Map(game.nodes.map((each) => [each.id, each])) });
    const same = found.get(content);
    if (same === undefined) found.set(content, game.key);
    (same === undefined || same === game.key ? once : again).push(game);
  }
  return { once, again };
}

function keptOf(game: Game, cursor: number): Kept {
  const { key, kind, headers, start, nodes, root, revision } = game;
  const at = nodes.get(cursor);
  return {
    key,
    kind,
    headers,
    start,
    root,
    cursor,
    revision,
    time: Date.now(),
    title: players(game) || (kind === "chess" ? texts.common.chess : texts.common.goBoard(start.size ?? 19)),
    about: [occasion(game), firstMoves(game)].filter(Boolean).join(" · "),
    line: lineOf(game, at?.id ?? root),
    nodes: [...nodes.values()].map((each) => ({ ...each })),
  };
}

/** The start and moves of the line through a position, as an address names them. */
function lineOf(game: Game, id: number): string {
  const moves = ancestry(game, id).slice(1);
  for (let next = game.nodes.get(id)?.children[0]; next !== undefined; next = game.nodes.get(next)?.children[0]) moves.push(next);
  return moves.map((each) => game.nodes.get(each)!.move).join(".");
}

/** "1. e4 e5 2. Nf3 … (34 moves)". */
export function firstMoves(game: Game): string {
  const words: string[] = [];
  let count = 0;
  for (let id = game.nodes.get(game.root)!.children[0]; id !== undefined; id = game.nodes.get(id)!.children[0]) {
    const node = game.nodes.get(id)!;
    count += 1;
    if (count <= 6) words.push(count === 1 || firstColumn(game, node) ? `${numeral(game, node)} ${node.san}` : node.san);
  }
  return `${words.join(" ")}${count > 6 ? " …" : ""} (${texts.earlier.moves(game.kind === "chess" ? Math.ceil(count / 2) : count)})`;
}

/** A game that was kept, and the position that was looked at; under its own name, or as a copy. */
export function reopened(kept: Kept, copy = false): [Game, number] {
  const { nodes, of } = numberedAnew(kept.nodes);
  const game = whole(kept.kind, kept.headers, kept.start, nodes, of.get(kept.root)!);
  game.changed = true;
  game.revision = kept.revision;
  if (!copy) game.key = kept.key;
  return [game, of.get(kept.cursor) ?? game.root];
}
