/** The games of a store that the board was given: looked for, and opened. */

import type { StoredGame } from "../server/api";
import { showList } from "./gamelist";
import type { App } from "../app/state";
import { texts } from "../texts";

export function findStored(app: App, store: string): void {
  const { kind } = app.game;
  showList({
    title: texts.gamelist.stored,
    kind,
    current: null,
    unlisted: 0,
    filters: true,
    find: async (wanted, signal) => {
      const { count, of, games } = await app.api.storedGames(store, wanted, signal);
      return { count, of, games: games.map((game) => ({ index: game.game, title: titled(game, kind) })) };
    },
    open: (game) => void openStored(app, store, game),
  });
}

/** Opens a game, at one of its positions. */
export async function openStored(app: App, store: string, game: number, ply = 0): Promise<void> {
  try {
    const text = await app.api.stored(store, game);
    if (!(await app.mayOpen())) return;
    await app.load(text);
    // Where another order of moves led here, this is at least near.
    if (ply && app.path.length > ply) app.go(app.path[ply]!);
    app.say(`${texts.load.game}${app.whereLeft}`);
  } catch (error) {
    app.notOpened(error);
  }
}

function titled(game: StoredGame, kind: "chess" | "go"): string {
  return [pairing(game, kind), resultOf(game, kind), game.date].filter(Boolean).join(", ");
}

/** "Ann (1500) – Bo (1600)". */
export function pairing(game: StoredGame, kind: "chess" | "go"): string {
  const player = (colour: "white" | "black"): string => {
    const rating = game[`${colour}_rating`] ?? game[`${colour}_rank`];
    return `${game[colour] ?? "?"}${rating ? ` (${rating})` : ""}`;
  };
  const [first, second] = kind === "chess" ? (["white", "black"] as const) : (["black", "white"] as const);
  return `${player(first)} – ${player(second)}`;
}

export function resultOf({ result }: StoredGame, kind: "chess" | "go"): string {
  return kind === "chess" ? { 1: "1–0", 0: "½–½", [-1]: "0–1" }[result] : { 1: "B+", 0: texts.explorer.draw, [-1]: "W+" }[result];
}
