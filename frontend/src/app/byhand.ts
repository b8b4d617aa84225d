/** Copying by hand, where the browser gives no clipboard. */

import { button, el } from "../ui/elements";
import { texts } from "../texts";

/** How a text that is selected is copied by hand: without a keyboard by a menu of the phone or tablet. */
export const handWords = (): string => (matchMedia("(hover: none) and (pointer: coarse)").matches ? texts.copy.byTouch : texts.copy.byHand);

/** Copies what is selected, as browsers also do over plain http; whether that was possible. */
export function copySelected(): boolean {
  try {
    return document.execCommand("copy");
  } catch {
    return false;
  }
}

/** Where the browser gives no clipboard: the text, selected. done: called when it could be copied after all. */
export function byHand(what: string, text: string, done: () => void): void {
  const area = el("textarea", { rows: 10, readonly: true, "aria-label": what, spellcheck: "false" });
  area.value = text;
  const dialog = el(
    "dialog",
    { class: "dialog", "aria-label": texts.copy.title(what) },
    el("h2", {}, texts.copy.title(what)),
    el("p", { class: "note" }, handWords()),
    area,
    el("div", { class: "dialog-buttons" }, button(texts.common.close, () => dialog.close(), { class: "primary" })),
  );
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  area.focus();
  area.select();
  area.scrollTop = 0;
  if (!copySelected()) return;
  dialog.close();
  done();
}
