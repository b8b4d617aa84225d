/** The chance that is shown of a position: what a search has found where one has looked, else what the network alone says. */

import { chanceOf } from "./chance";
import type { Judging } from "./judging";
import type { App } from "./state";

/** White's chance in chess, Black's in Go, of a position for the chosen network; null where nothing is known. */
export function believed(app: App, judging: Judging, id = app.cursor): number | null {
  const alone = app.network ? chanceOf(app.game.kind, app.result(app.network, id)) : null;
  if (alone === null || app.node(id).end) return alone;
  // A position is searched as the one after a move, and as the one before the next.
  const place = app.placeOf(id);
  const next = place === undefined ? undefined : app.path[place + 1];
  const after = judging.of(id);
  const before = next === undefined ? undefined : judging.of(next);
  const found = [
    { exact: after?.exact, white: after?.white.after },
    { exact: before?.exact, white: before?.white.before },
  ].filter(({ white }) => typeof white === "number");
  const white = (found.find(({ exact }) => exact) ?? found[0])?.white;
  return typeof white !== "number" ? alone : app.game.kind === "chess" ? white : 1 - white;
}
