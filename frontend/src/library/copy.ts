/** Copies of the position and the game, for the clipboard. */

import { copy } from "../app/copying";
import { hashOf } from "../app/hash";
import type { Entry } from "../ui/menu";
import { found, progress } from "../analysis/found";
import type { Mistakes } from "../analysis/mistakes";
import { record } from "./save";
import type { App } from "../app/state";
import { texts } from "../texts";

export function copyEntries(app: App, mistakes: Mistakes): Entry[] {
  const go = (): boolean => app.game.kind === "go";
  const act = (what: string, text: () => string | Promise<string>) => () => void copy(app, what, text);
  return [
    { text: texts.copy.fen, act: act("FEN", () => app.node().fen ?? ""), hidden: go },
    { text: texts.copy.pgn, act: act("PGN", () => record(app)), hidden: go },
    { text: texts.copy.sgf, act: act("SGF", () => record(app)), hidden: () => !go() },
    { text: texts.copy.analysed, act: () => void copyAnalysed(app, mistakes), hidden: () => !app.api.annotates, disabled: () => !found(app, mistakes) },
    { text: texts.copy.address, act: act(texts.copy.addressWord, () => `${location.origin}${location.pathname}${hashOf(app)}`) },
  ];
}

/** Copies the game with evaluations. */
async function copyAnalysed(app: App, mistakes: Mistakes): Promise<void> {
  const part = progress(mistakes);
  const what = app.game.kind === "go" ? "SGF" : "PGN";
  await copy(app, what, () => record(app, found(app, mistakes)), part);
}
