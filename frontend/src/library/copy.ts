/** Copies of the position and the game, for the clipboard. */

import { copy } from "../app/copying";
import { hasValues } from "../app/displayed";
import { hashOf } from "../app/hash";
import type { Entry } from "../ui/menu";
import type { Mistakes } from "../analysis/mistakes";
import type { App } from "../app/state";
import { texts } from "../texts";

const record = (app: App): Promise<string> => import("./save").then((save) => save.record(app));

/** Whether only this computer can open the address of the page. */
export const onlyHere = (host = location.hostname): boolean => /^(localhost|127(\.\d+){3}|\[::1\])$/.test(host);

export function copyEntries(app: App, mistakes: Mistakes): Entry[] {
  const go = (): boolean => app.game.kind === "go";
  const act = (what: string, text: () => string | Promise<string>) => () => void copy(app, what, text);
  return [
    { text: texts.copy.fen, act: act("FEN", () => app.node().fen ?? ""), hidden: go },
    { text: texts.copy.pgn, act: act("PGN", () => record(app)), hidden: go },
    { text: texts.copy.sgf, act: act("SGF", () => record(app)), hidden: () => !go() },
    { text: texts.copy.analysed, act: () => void import("./annotated").then(({ copyAnnotated }) => copyAnnotated(app, mistakes)), hidden: () => !app.api.annotates, disabled: () => !hasValues(app, mistakes.judging) },
    { text: texts.copy.address, act: () => void copy(app, texts.copy.addressWord, () => `${location.origin}${location.pathname}${hashOf(app)}`, onlyHere() ? texts.copy.onlyHere : "") },
  ];
}
