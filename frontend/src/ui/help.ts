/** The keys, told. */

import { button, el } from "./elements";
import { texts } from "../texts";

let dialog: HTMLDialogElement | null = null;

export function showHelp(): void {
  dialog ??= make();
  if (!dialog.open) dialog.showModal();
}

function make(): HTMLDialogElement {
  const rows = texts.help.keys.map(([keys, words]) => el("div", {}, el("dt", {}, ...keys.split(", ").map((key) => el("kbd", {}, key))), el("dd", {}, words)));
  const made = el(
    "dialog",
    { class: "dialog help", "aria-labelledby": "help-title" },
    el("h2", { id: "help-title", tabindex: -1, autofocus: true }, texts.help.title),
    el("dl", {}, ...rows),
    el("p", { class: "note" }, texts.help.about),
    el("div", { class: "dialog-buttons" }, button(texts.common.close, () => made.close(), { class: "primary" })),
  );
  // A click beside it closes it.
  made.addEventListener("click", (event) => event.target === made && made.close());
  document.body.append(made);
  return made;
}
