/** The game with evaluations, as a file or on the clipboard. */

import { found, progress } from "../analysis/found";
import { isMain } from "../analysis/summary";
import type { Mistakes } from "../analysis/mistakes";
import { copy } from "../app/copying";
import { players } from "../app/naming";
import type { App } from "../app/state";
import type { Saving } from "../server/api";
import { message } from "../server/asking";
import { markedDead } from "../play/marked";
import { texts } from "../texts";
import { chosen, download, fileName, record, saving, write } from "./save";

/** Saves a copy of the game with evaluations. The file of the game stays as it is. */
export async function saveAnnotated(app: App, mistakes: Mistakes): Promise<void> {
  const go = app.game.kind === "go";
  const name = fileName(`${players(app.game) || "game"} ${texts.save.annotated}`, go ? "sgf" : "pgn");
  const part = progress(mistakes);
  try {
    const file = await chosen(name, go);
    const text = await record(app, found(app, mistakes));
    if (file) await write(file, text);
    else download(name, text);
    app.say([texts.save.saved(file?.name ?? name), part].filter(Boolean).join(" "));
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") return;
    app.say(texts.save.failed(message(error)), true);
  }
}

/** Copies the game with evaluations. */
export async function copyAnnotated(app: App, mistakes: Mistakes): Promise<void> {
  const part = progress(mistakes);
  const what = app.game.kind === "go" ? "SGF" : "PGN";
  await copy(app, what, () => record(app, found(app, mistakes)), part);
}

/** The result of a game, as PGN and SGF call it: a variation has none. */
const RESULTS = ["Result", "RE"];

/** What the server writes a page from: the line that is shown, and what was found of it. */
export function shownLine(app: App, mistakes: Mistakes): Saving {
  const { tree, headers, ...game } = saving(app, found(app, mistakes, true));
  const line = new Set<unknown>(app.path);
  const kept = Object.entries(headers).filter(([name]) => isMain(app) || !RESULTS.includes(name));
  const dead = markedDead(app.node(app.path.at(-1)!), app.game.start.size ?? 19);
  return { ...game, ...(dead && { dead }), tree: (tree as { id: number }[]).filter(({ id }) => line.has(id)), headers: Object.fromEntries(kept) };
}

/** Saves the line shown as a page that others open without kibitz: an HTML file with a board, the marks and the reasons. */
export async function saveAsPage(app: App, mistakes: Mistakes): Promise<void> {
  const name = fileName(players(app.game), "html");
  const part = progress(mistakes);
  try {
    // The page has the values of searches. They are win probabilities, also for a network that says something else.
    const claim = app.named(app.network)?.claim;
    const value = claim && !claim.note ? claim.name : "";
    download(name, await app.api.gamePage({ ...shownLine(app, mistakes), value, by: app.network ?? "" }), "text/html");
    app.say([texts.save.saved(name), isMain(app) ? "" : texts.save.variation, part].filter(Boolean).join(" "));
  } catch (error) {
    app.say(texts.save.failed(message(error)), true);
  }
}
