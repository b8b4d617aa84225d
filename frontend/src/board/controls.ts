/** Under the board: stepping, turning, and a box for a typed move. */

import { message } from "../server/asking";
import { pointName } from "./gopoints";
import { el } from "../ui/elements";
import { iconButton } from "../ui/icons";
import { english } from "../app/typing";
import { shown } from "./overlays";
import type { App } from "../app/state";
import { texts } from "../texts";

export interface Typed {
  focus(): void;
  leave(): void;
}

export function mountControls(host: HTMLElement, app: App): Typed {
  const first = iconButton("first", texts.controls.first, () => app.step(-Infinity), texts.controls.firstKey);
  const back = iconButton("back", texts.controls.back, () => app.step(-1), "←");
  const forward = iconButton("forward", texts.controls.forward, () => app.step(1), "→");
  const last = iconButton("last", texts.controls.last, () => app.step(Infinity), texts.controls.lastKey);
  const flip = iconButton("flip", texts.controls.flip, () => app.set({ flipped: !app.flipped }), "f");
  const input = el("input", {
    type: "text",
    "aria-label": texts.controls.type,
    autocomplete: "off",
    autocapitalize: "off",
    spellcheck: "false",
    maxlength: 12,
    enterkeyhint: "go",
  });
  const form = el("form", { class: "typed" }, input);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const move = input.value.trim();
    if (!move) return;
    input.value = "";
    // While a network thinks, a move is made ahead of its turn.
    if (shown.early && app.node().turn !== shown.early) {
      if (!/^[a-h][1-8][a-h][1-8]$/.test(move) || !shown.ahead?.(move)) app.say(texts.controls.early, true);
      return;
    }
    const sent = english(move, app.node());
    app.play(sent).then(
      () => input.classList.remove("wrong"),
      (error: unknown) => {
        input.classList.add("wrong");
        input.value ||= move;
        input.select();
        app.refuse(message(error).replace(sent, () => move));
      },
    );
  });
  input.addEventListener("input", () => input.classList.remove("wrong"));
  input.addEventListener("keydown", (event) => {
    if (event.key === "Escape") input.blur();
    // No move begins with it: it is the key that comes here.
    if (event.key === "/") {
      event.preventDefault();
      input.select();
    }
  });
  host.replaceChildren(
    el("div", { class: "steps", role: "group", "aria-label": texts.controls.steps }, first, back, forward, last),
    flip,
    form,
  );
  let shownFor = "";
  const ends = (): void => {
    first.disabled = back.disabled = app.place === 0;
    forward.disabled = last.disabled = app.place === app.path.length - 1;
  };
  const game = (): void => {
    const board = `${app.game.kind} ${app.game.start.size}`;
    if (board !== shownFor) {
      shownFor = board;
      input.placeholder = app.game.kind === "chess" ? texts.controls.hintChess : texts.controls.hintGo(examplePoint(app.game.start.size ?? 19));
    }
    // Go is looked at from one side.
    flip.hidden = app.game.kind === "go";
    ends();
  };
  /** A move that could not be made is over with the next step. */
  const forget = (): void => {
    if (input.classList.contains("wrong")) input.value = "";
    input.classList.remove("wrong");
  };
  for (const event of ["cursor", "game"] as const) app.on(event, forget);
  app.on("cursor", ends);
  app.on("path", ends);
  app.on("game", game);
  game();
  return { focus: () => input.select(), leave: () => input.blur() };
}

/** A point that every player knows: the upper right star point of a board, "Q16" on 19 × 19, "G7" on 9 × 9. */
export function examplePoint(size: number): string {
  const edge = size < 13 ? 2 : 3;
  return pointName(edge * size + (size - 1 - edge), size);
}
