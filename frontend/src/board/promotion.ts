/** What a pawn becomes: a small dialog over the board, at the square it has reached. */

import "./promotion.css";
import { el } from "../ui/elements";
import { texts } from "../texts";

const ROLES = [
  ["queen", "q"],
  ["rook", "r"],
  ["bishop", "b"],
  ["knight", "n"],
] as const;

/**
 * Asks; `answer` is "q", "r", "b", "n", or null when it was given up (Escape, a click beside it, `close`).
 * The keys Q, R, B and N answer, the arrows go from one to the next.
 */
export function askPromotion(
  host: HTMLElement,
  square: string,
  colour: "white" | "black",
  flipped: boolean,
): { answer: Promise<string | null>; close: () => void } {
  const before = document.activeElement;
  let close = (): void => undefined;
  const answer = new Promise<string | null>((resolve) => {
    const end = (role: string | null): void => {
      veil.remove();
      if (before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true });
      resolve(role);
    };
    const buttons = ROLES.map(([name, letter]) => {
      const piece = document.createElement("piece");
      piece.className = `${colour} ${name}`;
      const made = el(
        "button",
        { type: "button", "aria-label": texts.promotion[name], title: `${texts.promotion[name]} (${letter.toUpperCase()})` },
        piece,
      );
      made.addEventListener("click", (event) => {
        event.stopPropagation();
        end(letter);
      });
      return made;
    });
    const file = "abcdefgh".indexOf(square[0]!);
    const atTop = (square[1] === "8") !== flipped;
    const box = el("div", {
      class: "promotion",
      role: "dialog",
      "aria-modal": "true",
      "aria-label": texts.promotion.becomes,
    });
    box.append(...(atTop ? buttons : [...buttons].reverse()));
    box.style.left = `${12.5 * (flipped ? 7 - file : file)}%`;
    box.style[atTop ? "top" : "bottom"] = "0";
    const veil = el("div", { class: "promotion-veil" }, box);
    veil.addEventListener("click", () => end(null));
    for (const kind of ["mousedown", "touchstart"]) veil.addEventListener(kind, (event) => event.stopPropagation());
    veil.addEventListener("keydown", (event) => {
      event.stopPropagation();
      const letter = event.key.toLowerCase();
      const shown = [...box.querySelectorAll("button")];
      const at = shown.findIndex((each) => each === document.activeElement);
      const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
      if (ROLES.some(([, each]) => each === letter)) end(letter);
      else if (event.key === "Escape") end(null);
      else if (step) shown[(at + step + shown.length) % shown.length]?.focus();
      else if (event.key === "Tab") shown[(at + (event.shiftKey ? -1 : 1) + shown.length) % shown.length]?.focus();
      else return;
      event.preventDefault();
    });
    host.append(veil);
    buttons[0]!.focus({ preventScroll: true });
    close = () => end(null);
  });
  return { answer, close: () => close() };
}
