/** What a record says of a move beside words: clocks and evaluations. */

import { face, leftAfter } from "../play/clock";
import type { App, Node } from "./state";
import { decimals, texts } from "../texts";

/** "0:05:03" as "5:03", "1:02:03.5" as "1:02:03"; "" where it is no time. */
export function shortTime(text: string | undefined): string {
  const parts = /^(?:(\d+):)?(\d{1,2}):(\d{1,2})(?:\.\d+)?$/.exec(text?.trim() ?? "");
  if (!parts) return "";
  const [, hours = "0", minutes, seconds] = parts;
  const tail = `${seconds!.padStart(2, "0")}`;
  return Number(hours) ? `${Number(hours)}:${minutes!.padStart(2, "0")}:${tail}` : `${Number(minutes)}:${tail}`;
}

/** The time that a side had left at a position; "" where the record does not say. */
export function clockOf(app: App, side: "w" | "b", id = app.cursor): string {
  for (let at: Node | undefined = app.game.nodes.get(id); at && at.parent !== null; at = app.game.nodes.get(at.parent)) {
    const mover = app.game.nodes.get(at.parent)?.turn;
    if (mover !== side) continue;
    const left = app.game.kind === "go" ? leftAfter(app.game, at) : null;
    const clock = left === null ? shortTime(at.commands?.clk) : face(left);
    if (clock) return clock;
  }
  return "";
}

/** What stands after a move: the time that was left, or else that it took; with what that is. */
export function timeOf(node: Node): { text: string; words: string } | null {
  const left = shortTime(node.commands?.clk);
  if (left) return { text: left, words: texts.notes.left(left) };
  const taken = shortTime(node.commands?.emt);
  return taken ? { text: taken, words: texts.notes.took(taken) } : null;
}

/** "evaluated +0.38 in the record"; "" where it is not. */
export function evaluated(node: Node): string {
  const value = node.commands?.eval?.split(",")[0]?.trim() ?? "";
  if (!/^#?[+-]?\d+(\.\d+)?$/.test(value)) return "";
  const number = value.replace("#", "");
  const sign = /^[+-]/.test(number) || Number(number) === 0 ? "" : "+";
  return value.startsWith("#") ? texts.notes.mate(number) : texts.notes.evaluated(decimals(`${sign}${number}`.replace("-", "−")));
}
