/** The lines within the reason of a mistake: each move has the small board with the position after it. */

import { el } from "../ui/elements";
import { onFocus, onPoint } from "./linepoints";
import { lettered } from "../texts";
import type { Node } from "../app/state";

/** Moves that a reason mentions. instead: whether they begin instead of the move that was played, or else after it. written: as they are in the text. */
export interface ReasonLine {
  instead: boolean;
  moves: string[];
  written: string;
}

/** A reason's text cut into words and its lines, which are in this order in the text. What is not found in it stays text. */
export function reasonParts(text: string, lines: readonly ReasonLine[]): (string | ReasonLine)[] {
  const parts: (string | ReasonLine)[] = [];
  let rest = text;
  // From the end: a point or a square that has the name of a move comes before the move.
  for (const line of [...lines].reverse()) {
    const at = place(rest, line.written);
    if (at < 0 || line.written.split(" ").length !== line.moves.length) continue;
    parts.unshift(line, rest.slice(at + line.written.length));
    rest = rest.slice(0, at);
  }
  return [rest, ...parts].filter((each) => each !== "");
}

/** The last place of a line in a text, as whole words; -1 without one. */
function place(text: string, written: string): number {
  for (let at = text.lastIndexOf(written); at >= 0; at = at > 0 ? text.lastIndexOf(written, at - 1) : -1) {
    const end = text.slice(at + written.length);
    if (written && !/[\w=+#-]$/.test(text.slice(0, at)) && !/^[\w=+#-]/.test(end)) return at;
  }
  return -1;
}

/** The elements of a reason of the move that led to a position. */
export function reasonElements(text: string, lines: readonly ReasonLine[], node: Node): (string | HTMLElement)[] {
  return reasonParts(text, lines).map((part) => {
    const from = typeof part === "string" ? null : part.instead ? node.parent : node.id;
    if (typeof part === "string" || from === null) return lettered(typeof part === "string" ? part : part.written);
    const words = part.written.split(" ").flatMap((word, at) => [at ? " " : "", el("span", onPoint(part.moves.slice(0, at + 1), from), lettered(word))]);
    return el("span", { class: "line", tabindex: -1, ...onFocus(part.moves, from) }, ...words);
  });
}
