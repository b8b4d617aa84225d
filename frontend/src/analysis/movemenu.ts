/** What can be done with a move: opened on it by the right button, a long press or a key. */

import type { App } from "../app/state";

/** A finger that rests so long on a move opens its menu, ms. */
const LONG = 500;

/** Opens the menu of a position at a place on the screen. */
export function showMoveMenu(app: App, id: number, x: number, y: number): void {
  const game = app.game;
  void import("./openedmovemenu").then((opened) => {
    if (game === app.game && game.nodes.has(id)) opened.showMoveMenu(app, id, x, y);
  });
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
      if (!document.querySelector(".move-menu")) act(event);
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
