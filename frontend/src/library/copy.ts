/** Copies of the position and the game, for the clipboard. */

import { copy } from "../app/copying";
import { hashOf } from "../app/hash";
import type { Entry } from "../ui/menu";
import { record } from "./save";
import type { App } from "../app/state";
import { texts } from "../texts";

export function copyEntries(app: App): Entry[] {
  const go = (): boolean => app.game.kind === "go";
  const act = (what: string, text: () => string | Promise<string>) => () => void copy(app, what, text);
  return [
    { text: texts.copy.fen, act: act("FEN", () => app.node().fen ?? ""), hidden: go },
    { text: texts.copy.pgn, act: act("PGN", () => record(app)), hidden: go },
    { text: texts.copy.sgf, act: act("SGF", () => record(app)), hidden: () => !go() },
    { text: texts.copy.address, act: act(texts.copy.addressWord, () => `${location.origin}${location.pathname}${hashOf(app)}`) },
  ];
}
