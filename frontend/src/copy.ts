/** Copies of the position and the game, for the clipboard. */

import { message } from "./asking";
import { button, el } from "./elements";
import type { Entry } from "./menu";
import { record } from "./save";
import type { App } from "./state";
import { hashOf } from "./url";

export function copyEntries(app: App): Entry[] {
  const go = (): boolean => app.game.kind === "go";
  const act = (what: string, text: () => string | Promise<string>) => () => void copy(app, what, text);
  return [
    { text: "Position as FEN", act: act("FEN", () => app.node().fen ?? ""), hidden: go },
    { text: "Game as PGN", act: act("PGN", () => record(app)), hidden: go },
    { text: "Game as SGF", act: act("SGF", () => record(app)), hidden: () => !go() },
    { text: "Address of this position", act: act("Address", () => `${location.origin}/${hashOf(app)}`) },
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
    app.say(`${what} copied.`);
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
    { class: "dialog", "aria-label": `Copy ${what}` },
    el("h2", {}, `Copy ${what}`),
    el("p", { class: "note" }, "The browser does not let the page copy. The text is selected: copy it with Ctrl+C."),
    area,
    el("div", { class: "dialog-buttons" }, button("Close", () => dialog.close(), { class: "primary" })),
  );
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  area.focus();
  area.select();
}
