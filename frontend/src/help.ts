/** The keys, told. */

import { button, el } from "./elements";

const KEYS: [string, string][] = [
  ["← →", "one move back, forward"],
  ["Page Up, Page Down", "ten moves back, forward"],
  ["Home, End", "to the start, to the end"],
  ["↑ ↓", "the variation before, after this one"],
  ["Space", "play the network’s likeliest move"],
  ["m, M", "to the next, the previous mistake"],
  ["/", "type a move: e4, Nf3, e2e4; Q16, pass"],
  ["f", "flip the board"],
  ["c", "coordinates on or off"],
  ["h", "hints on or off: what the network thinks"],
  ["s", "sound on or off"],
  ["e", "edit this move: sign, comment, promote, delete; also the right button on it"],
  ["Ctrl+Z, Ctrl+Shift+Z", "take a change back, make it again"],
  ["Ctrl+S", "save the game to a file"],
  ["o", "open a game; or paste it, or drop a file anywhere"],
  ["Tab, then arrows", "on a board of Go: choose a point; Enter plays it"],
  ["?", "this help"],
];

let dialog: HTMLDialogElement | null = null;

export function showHelp(): void {
  dialog ??= make();
  if (!dialog.open) dialog.showModal();
}

function make(): HTMLDialogElement {
  const rows = KEYS.map(([keys, words]) => el("div", {}, el("dt", {}, ...keys.split(", ").map((key) => el("kbd", {}, key))), el("dd", {}, words)));
  const made = el(
    "dialog",
    { class: "dialog help", "aria-labelledby": "help-title" },
    el("h2", { id: "help-title" }, "Keys"),
    el("dl", {}, ...rows),
    el("p", { class: "note" }, "The wheel over the board steps too. Chances are White’s in chess and Black’s in Go."),
    el("div", { class: "dialog-buttons" }, button("Close", () => made.close(), { class: "primary" })),
  );
  // A click beside it closes it.
  made.addEventListener("click", (event) => event.target === made && made.close());
  document.body.append(made);
  return made;
}
