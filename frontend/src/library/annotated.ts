/** The game with evaluations, as a file or on the clipboard. */

import { found, progress } from "../analysis/found";
import type { Mistakes } from "../analysis/mistakes";
import { copy } from "../app/copying";
import { players } from "../app/naming";
import type { App } from "../app/state";
import { message } from "../server/asking";
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

/** Saves the game as a page that others open without kibitz: an HTML file with a board, the marks and the reasons. */
export async function saveAsPage(app: App, mistakes: Mistakes): Promise<void> {
  const name = fileName(players(app.game), "html");
  const part = progress(mistakes);
  try {
    // The page has the values of searches. They are win probabilities, also for a network that says something else.
    const claim = app.named(app.network)?.claim;
    const value = claim && !claim.note ? claim.name : "";
    download(name, await app.api.gamePage({ ...saving(app, found(app, mistakes)), value }), "text/html");
    app.say([texts.save.saved(name), part].filter(Boolean).join(" "));
  } catch (error) {
    app.say(texts.save.failed(message(error)), true);
  }
}
