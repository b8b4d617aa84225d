/** Texts for the clipboard, or for the hand where the browser gives no clipboard. */

import { message } from "../server/asking";
import { button, el } from "../ui/elements";
import type { App } from "./state";
import { texts } from "../texts";

/** Copy a text, which is called so; a text that cannot be made, or not be copied, is said or shown. more: what else is said. */
export async function copy(app: App, what: string, make: () => string | Promise<string>, more = ""): Promise<void> {
  let text: string;
  try {
    text = await make();
  } catch (error) {
    app.say(message(error), true);
    return;
  }
  try {
    await navigator.clipboard.writeText(text);
    app.say([texts.copy.copied(what), more].filter(Boolean).join(" "));
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
