/** What can be done with a move: opened on it by the right button, a long press or a key. */

import { button, el } from "../ui/elements";
import { copy } from "../app/copying";
import { branch, comment, draw, GLYPHS, makeMain, promote, removeFrom, toggleGlyph } from "../app/editing";
import { menuKeys } from "../ui/menu";
import { named, numeral } from "../app/naming";
import type { App } from "../app/state";
import { texts } from "../texts";
import { ancestry } from "../app/tree";

/** A finger that rests so long on a move opens its menu, ms. */
const LONG = 500;

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

/** Opens the menu of the move whose button was pressed: by the right button, by a key, or long. */
export function listenForMenus(app: App, list: HTMLElement): void {
  const of = (target: EventTarget | null): HTMLElement | null => (target as Element | null)?.closest<HTMLElement>("button[data-id]") ?? null;
  const show = (at: HTMLElement, x: number, y: number): void => {
    const id = Number(at.dataset.id);
    if (app.game.nodes.has(id)) showMoveMenu(app, id, x, y);
  };
  list.addEventListener("contextmenu", (event) => {
    const at = of(event.target);
    if (!at) return;
    event.preventDefault();
    // A key gives no place.
    const box = at.getBoundingClientRect();
    const pointed = event.clientX > 0 || event.clientY > 0;
    show(at, pointed ? event.clientX : box.left, pointed ? event.clientY : box.bottom);
  });
  list.addEventListener("keydown", (event) => {
    const at = of(event.target);
    if (!at || !(event.key === "ContextMenu" || (event.key === "F10" && event.shiftKey))) return;
    event.preventDefault();
    const box = at.getBoundingClientRect();
    show(at, box.left, box.bottom);
  });
  longPress(list, (event) => {
    const at = of(event.target);
    if (at) show(at, event.clientX, event.clientY);
  });
}

/** Where a browser gives no contextmenu for a finger. */
function longPress(list: HTMLElement, act: (event: PointerEvent) => void): void {
  let timer = 0;
  let pressed = false;
  const stop = (): void => window.clearTimeout(timer);
  list.addEventListener("pointerdown", (event) => {
    stop();
    pressed = false;
    if (event.pointerType !== "touch") return;
    timer = window.setTimeout(() => {
      pressed = true;
      if (!closing) act(event);
    }, LONG);
  });
  for (const name of ["pointerup", "pointercancel", "pointermove"] as const) {
    list.addEventListener(name, (event) => (name !== "pointermove" || Math.hypot(event.movementX, event.movementY) > 4) && stop());
  }
  // The click that ends a long press is none.
  list.addEventListener(
    "click",
    (event) => {
      if (!pressed) return;
      pressed = false;
      event.stopImmediatePropagation();
      event.preventDefault();
    },
    true,
  );
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
