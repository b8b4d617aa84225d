/** Keys for the whole page, and the wheel over the board. */

import { message } from "../server/asking";
import type { Typed } from "../board/controls";
import type { Mistakes } from "../analysis/mistakes";
import { showMoveMenu } from "../analysis/movemenu";
import { named } from "../app/naming";
import { toggleSound } from "../app/sound";
import { nextLook } from "../app/looks";
import type { App } from "../app/state";
import { texts } from "../texts";

/** Of the wheel, for one move, px. A wheel's notch is more, a touchpad gives less at a time. */
const NOTCH = 50;

export function mountKeys(app: App, mistakes: Mistakes, typed: Typed, board: HTMLElement, open: () => void): void {
  const acts: Record<string, () => void> = {
    ArrowLeft: () => app.step(-1),
    ArrowRight: () => app.step(1),
    PageUp: () => app.step(-10),
    PageDown: () => app.step(10),
    Home: () => app.step(-Infinity),
    End: () => app.step(Infinity),
    ArrowUp: () => beside(app, -1),
    ArrowDown: () => beside(app, 1),
    " ": () => void playFirst(app),
    m: () => mistake(app, mistakes, 1),
    M: () => mistake(app, mistakes, -1),
    "/": () => typed.focus(),
    f: () => app.game.kind === "chess" && app.set({ flipped: !app.flipped }),
    c: () => app.set({ coordinates: !app.coordinates }),
    h: () => {
      app.set({ hints: !app.hints });
      app.say(app.hints ? texts.keys.hintsOn : texts.keys.hintsOff);
    },
    s: () => toggleSound(app),
    n: () => app.game.kind === "go" && app.say(texts.keys.numbers[nextLook("numbers") as "none" | "last" | "all"]),
    o: open,
    "?": () => void import("./help").then(({ showHelp }) => showHelp()),
    e: () => {
      const at = document.querySelector("#moves [aria-current]")?.getBoundingClientRect();
      showMoveMenu(app, app.cursor, at?.left ?? innerWidth / 3, at?.bottom ?? innerHeight / 3);
    },
  };
  const withControl: Record<string, () => void> = {
    z: () => app.undo(),
    "+z": () => app.redo(),
    y: () => app.redo(),
    s: () => void import("../library/save").then(({ saveGame }) => saveGame(app)),
  };

  document.addEventListener("keydown", (event) => {
    const target = event.target instanceof Element ? event.target : null;
    if (event.defaultPrevented || event.altKey || event.isComposing) return;
    if (event.ctrlKey || event.metaKey) {
      const act = withControl[(event.shiftKey ? "+" : "") + event.key.toLowerCase()];
      if (!act || document.querySelector("dialog[open]") || writes(target)) return;
      event.preventDefault();
      act();
      return;
    }
    if (document.querySelector("dialog[open]") || takes(target, event.key)) return;
    const act = acts[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
  afterClicks(app, board, acts);
  // The keys, and what is pasted, are the page's again.
  board.addEventListener("pointerdown", () => typed.leave(), true);
  wheel(app, board);
}

/** Whether text is written there, which has an undo of its own. */
function writes(target: Element | null): boolean {
  const field = target?.closest<HTMLElement>("input, textarea");
  return Boolean(field) && !(field instanceof HTMLInputElement && (["checkbox", "radio"].includes(field.type) || !field.value));
}

/** Whether this key means something to what has the focus. */
function takes(target: Element | null, key: string): boolean {
  const field = target?.closest<HTMLElement>("input, select, textarea");
  if (field instanceof HTMLInputElement && field.type === "checkbox") return key === " ";
  if (field) return true;
  if (target?.closest('[role="tablist"], [role="menu"]')) return key !== "?";
  if (target?.closest("button, summary, a")) return key === " " || key === "Enter";
  // What scrolls by these keys.
  if (target?.closest('[role="region"][tabindex]')) return key.startsWith("Arrow") || ["Home", "End", " ", "PageUp", "PageDown"].includes(key);
  return false;
}

/** A board of Go that was only clicked leaves the arrow keys to the page; one that was reached by Tab keeps them. */
function afterClicks(app: App, board: HTMLElement, acts: Record<string, () => void>): void {
  let clicked = false;
  board.addEventListener("pointerdown", () => (clicked = true), true);
  document.addEventListener("keydown", (event) => event.key === "Tab" && (clicked = false), true);
  board.addEventListener(
    "keydown",
    (event) => {
      const act = acts[event.key];
      if (!clicked || app.game.kind !== "go" || !act || !(event.target as Element).closest("svg.go")) return;
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      event.stopPropagation();
      act();
    },
    true,
  );
}

function wheel(app: App, board: HTMLElement): void {
  let sum = 0;
  let at = 0;
  board.addEventListener(
    "wheel",
    (event) => {
      if (event.ctrlKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) return;
      event.preventDefault();
      const pixels = event.deltaY * (event.deltaMode === 1 ? 30 : event.deltaMode === 2 ? 300 : 1);
      // Another direction, or another time: begun anew.
      if (event.timeStamp - at > 300 || Math.sign(pixels) !== Math.sign(sum)) sum = 0;
      at = event.timeStamp;
      sum += pixels;
      if (Math.abs(sum) < NOTCH) return;
      app.step(Math.sign(sum));
      sum = 0;
    },
    { passive: false },
  );
}

/** The variation before or after this one: at this move, or at the last one before it that has any. */
function beside(app: App, by: number): void {
  for (let at = app.node(); at.parent !== null; at = app.node(at.parent)) {
    const siblings = app.node(at.parent).children;
    if (siblings.length < 2) continue;
    const to = siblings[siblings.indexOf(at.id) + by];
    if (to === undefined) return;
    app.go(to);
    app.say(texts.keys.variation(named(app, app.node(to))));
    return;
  }
}

async function playFirst(app: App): Promise<void> {
  const first = app.hints && app.network ? app.result(app.network, app.cursor)?.moves?.[0] : undefined;
  if (!first) {
    app.say(app.hints ? texts.keys.noMoves : texts.common.hintsOff);
    return;
  }
  try {
    await app.play(first.move);
  } catch (error) {
    app.say(message(error), true);
  }
}

/** Opens the position before the next mistake. */
function mistake(app: App, mistakes: Mistakes, by: number): void {
  const places = mistakes.all.map(({ id }) => app.placeOf(id)! - 1);
  const to = by > 0 ? places.find((place) => place > app.place) : places.findLast((place) => place < app.place);
  if (to === undefined) {
    const more = Boolean(mistakes.judging.progress);
    app.say(texts.keys.noMistake(by > 0, more));
    return;
  }
  app.go(app.path[to]!);
  app.say(texts.common.before(named(app, app.node(app.path[to + 1]!))));
}
