/** Copies of the position and the game, for the clipboard. */

import { message } from "../server/asking";
import { button, el } from "../ui/elements";
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

async function copy(app: App, what: string, make: () => string | Promise<string>): Promise<void> {
  let text: string;
  try {
    text = await make();
  } catch (error) {
    app.say(message(error), true);
    return;
  }
  try {
    await navigator.clipboard.writeText(text);
    app.say(texts.copy.copied(what));
  } catch {
    byHand(what, text);
  }
}

/** Where the browser gives no clipboard: the text, selected. */
function byHand(what: string, text: string): void {
  const area = el("textarea", { rows: 10, readonly: true, "aria-label": what, spellcheck: "false" });
  area.value = text;
  const dialog = el(
    "dialog",
    { class: "dialog", "aria-label": texts.copy.title(what) },
    el("h2", {}, texts.copy.title(what)),
    el("p", { class: "note" }, texts.copy.byHand),
    area,
    el("div", { class: "dialog-buttons" }, button(texts.common.close, () => dialog.close(), { class: "primary" })),
  );
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  area.focus();
  area.select();
}
