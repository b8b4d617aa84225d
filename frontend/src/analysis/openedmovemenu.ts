/** The menu of a move. It is loaded when somebody opens it for the first time. */

import { button, el } from "../ui/elements";
import { copy } from "../app/copying";
import { branch, comment, draw, GLYPHS, makeMain, promote, removeFrom, toggleGlyph } from "../app/editing";
import { menuKeys } from "../ui/menu";
import { named, numeral } from "../app/naming";
import type { App } from "../app/state";
import { texts } from "../texts";
import { ancestry } from "../app/tree";

let closing: (() => void) | null = null;

/** Opens the menu of a position at a place on the screen. */
export function showMoveMenu(app: App, id: number, x: number, y: number): void {
  closing?.();
  const before = document.activeElement instanceof HTMLElement ? document.activeElement : null;
  const node = app.node(id);
  const acts: HTMLButtonElement[] = [];
  const list = el("div", { class: "menu-list move-menu", role: "menu", "aria-label": named(app, node) });
  const close = (back: boolean): void => {
    document.removeEventListener("pointerdown", outside, true);
    closing = null;
    list.remove();
    if (back) before?.focus();
  };
  const outside = (event: Event): void => {
    if (!list.contains(event.target as globalThis.Node | null)) close(false);
  };
  const add = (to: HTMLElement, text: string, act: () => void, attributes: Record<string, string> = {}): void => {
    const made = button(
      text,
      () => {
        close(true);
        act();
      },
      { role: "menuitem", tabindex: -1, ...attributes },
    );
    acts.push(made);
    to.append(made);
  };
  const head = branch(app, id);
  if (id !== app.game.root) {
    const signs = el("div", { class: "signs", role: "group", "aria-label": texts.movemenu.signs });
    for (const [nag, text, words] of GLYPHS) {
      const checked = String(node.nags.includes(nag));
      add(signs, text, () => toggleGlyph(app, id, nag), { role: "menuitemradio", "aria-checked": checked, "aria-label": `${text} ${words}`, title: words });
    }
    list.append(signs);
  }
  add(list, node.comment ? texts.movemenu.edit : texts.movemenu.add, () => editComment(app, id));
  if (head !== null) {
    add(list, texts.movemenu.promote, () => promote(app, id));
    add(list, texts.movemenu.main, () => makeMain(app, id));
  }
  if (id !== app.game.root) add(list, texts.movemenu.copy, () => void copyLine(app, id));
  if (node.shapes?.length) add(list, texts.movemenu.undraw, () => draw(app, id, []));
  if (id !== app.game.root) add(list, texts.movemenu.delete, () => removeFrom(app, id), { class: "danger" });
  menuKeys(list, () => acts, close);
  document.body.append(list);
  list.style.left = `${Math.max(4, Math.min(x, innerWidth - list.offsetWidth - 4))}px`;
  list.style.top = `${Math.max(4, Math.min(y, innerHeight - list.offsetHeight - 4))}px`;
  closing = () => close(false);
  document.addEventListener("pointerdown", outside, true);
  acts[0]?.focus();
}

/** Asks for the comment on a position. */
export function editComment(app: App, id: number): void {
  const node = app.node(id);
  const game = app.game;
  const area = el("textarea", { rows: 6, "aria-label": texts.movemenu.comment, maxlength: 20_000 });
  area.value = node.comment;
  const form = el(
    "form",
    {},
    el("h2", {}, node.move === null ? texts.movemenu.onStart : texts.movemenu.on(named(app, node))),
    area,
    el(
      "div",
      { class: "dialog-buttons" },
      button(texts.common.cancel, () => dialog.close()),
      el("button", { type: "submit", class: "primary" }, texts.movemenu.save),
    ),
  );
  const dialog = el("dialog", { class: "dialog", "aria-label": texts.movemenu.comment }, form);
  const save = (): void => {
    dialog.close();
    if (game === app.game && game.nodes.has(id)) comment(app, id, area.value.trim());
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    save();
  });
  area.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) save();
  });
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

/** "1. e4 e5 2. Nf3": the moves from the start to a position, to the clipboard. */
async function copyLine(app: App, id: number): Promise<void> {
  const moves = ancestry(app.game, id).slice(1);
  const words = moves.map((each, index) => {
    const node = app.node(each);
    const number = numeral(app.game, node);
    return index === 0 || app.game.kind === "go" || number.endsWith(".") ? `${number} ${node.san}` : node.san;
  });
  await copy(app, texts.movemenu.line, () => words.join(" "));
}
