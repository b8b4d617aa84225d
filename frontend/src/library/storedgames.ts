/** The games of the explorer: looked for, and opened. */

import type { StoredGame } from "../server/api";
import type { Filtered } from "./explorerfilters";
import { showList, type Wanted } from "./gamelist";
import type { App, Line } from "../app/state";
import { texts } from "../texts";

/** Games that are listed: of the store, the position and move in them, and what the explorer filters. */
export interface Listing {
  store: string;
  title: string;
  filtered?: Filtered & { rating?: string };
  line?: Line;
  move?: string;
}

export function findStored(app: App, { store, title, filtered = {}, ...where }: Listing, open: (game: StoredGame) => void): void {
  const { kind } = app.game;
  const known = new Map<number, StoredGame>();
  showList({
    title,
    kind,
    current: null,
    unlisted: 0,
    filters: true,
    find: async (wanted, signal) => {
      const { count, of, games } = await app.api.storedGames(store, { ...both(wanted, filtered), ...where }, signal);
      for (const game of games) known.set(game.game, game);
      return { count, of, games: games.map((game) => ({ index: game.game, number: game.number, title: titled(game, kind) })) };
    },
    open: (game) => open(known.get(game)!),
  });
}

/** What is chosen in the list comes before what the explorer filters. */
function both(wanted: Wanted, filtered: Filtered & { rating?: string }): Wanted & { side?: string } {
  const { side, result = "", rating = "", first_year: first = null, last_year: last = null } = filtered;
  return {
    search: wanted.search,
    result: wanted.result || result,
    rating: wanted.rating || rating,
    first_year: wanted.first_year ?? first,
    last_year: wanted.last_year ?? last,
    ...(side && { side }),
  };
}

/** Opens a game, at one of its positions; whether it was opened. */
export async function openStored(app: App, store: string, game: number, ply = 0): Promise<boolean> {
  return opened(app, ply, async () => {
    const text = await app.api.stored(store, game);
    if (!(await app.mayOpen())) return false;
    await app.load(text);
    return true;
  });
}

/** Opens another game of the opened file; one that the file has elsewhere comes from the store. */
export async function openOfFile(app: App, store: string, game: StoredGame, ply = 0): Promise<boolean> {
  const index = (game.number ?? 0) - 1;
  const title = app.game.file?.games[index]?.title;
  const fits = title === undefined || [game.white, game.black].every((name) => title.includes(name ?? ""));
  if (index < 0 || index >= (app.game.file?.count ?? 0) || !fits) return openStored(app, store, game.game, ply);
  return opened(app, ply, async () => {
    const before = app.opened;
    await app.openOfFile(index);
    return app.opened !== before;
  });
}

async function opened(app: App, ply: number, open: () => Promise<boolean>): Promise<boolean> {
  try {
    if (!(await open())) return false;
    // Where another order of moves led here, this is at least near.
    if (ply && app.path.length > ply) app.go(app.path[ply]!);
    app.say(`${texts.load.game}${app.whereLeft}`);
    return true;
  } catch (error) {
    app.notOpened(error);
    return false;
  }
}

function titled(game: StoredGame, kind: "chess" | "go"): string {
  return [pairing(game, kind), resultOf(game, kind), game.date].filter(Boolean).join(", ");
}

/** "Ann (1500) – Bo (1600)". */
export function pairing(game: StoredGame, kind: "chess" | "go"): string {
  const [first, second] = kind === "chess" ? (["white", "black"] as const) : (["black", "white"] as const);
  return `${playerOf(game, first)} – ${playerOf(game, second)}`;
}

/** "Ann (1500)". */
export function playerOf(game: StoredGame, colour: "white" | "black"): string {
  const rating = game[`${colour}_rating`] ?? game[`${colour}_rank`];
  return `${game[colour] ?? "?"}${rating ? ` (${rating})` : ""}`;
}

export function resultOf({ result }: StoredGame, kind: "chess" | "go"): string {
  return kind === "chess" ? { 1: "1–0", 0: "½–½", [-1]: "0–1" }[result] : { 1: "B+", 0: texts.gamelist.draw, [-1]: "W+" }[result];
}
