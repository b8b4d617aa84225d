/** Moves and games in words. */

import type { App, Game, Node } from "./state";
import { lettered, texts } from "../texts";

/** The number of the move that led to a position: of chess as the FEN counts, of Go from 1. */
export function numberOf(game: Game, node: Node): number {
  const parent = node.parent === null ? undefined : game.nodes.get(node.parent);
  return game.kind === "chess" ? Number(parent?.fen?.split(" ")[5] ?? 1) : node.ply;
}

/** Whether the move that led here stands in the first column: White's in chess, Black's in Go. */
export function firstColumn(game: Game, node: Node): boolean {
  const parent = node.parent === null ? undefined : game.nodes.get(node.parent);
  return (parent?.turn ?? "w") === (game.kind === "chess" ? "w" : "b");
}

/** "12.", "12…"; of Go "37". */
export function numeral(game: Game, node: Node): string {
  const number = numberOf(game, node);
  if (game.kind === "go") return `${number}.`;
  return firstColumn(game, node) ? `${number}.` : `${number}…`;
}

export function named(app: Pick<App, "game">, node: Node): string {
  return node.move === null ? texts.naming.start : `${numeral(app.game, node)} ${lettered(node.san)}`;
}

/** "Capablanca – Marshall", "" where nobody is named. */
export function players({ kind, headers }: Game): string {
  const known = (...names: string[]): string => names.map((name) => headers[name]).find((each) => each && each !== "?") ?? "";
  const white = known("White", "PW");
  const black = known("Black", "PB");
  if (!white && !black) return "";
  const sides = kind === "chess" ? [white, black] : [black, white];
  return sides.map((each) => each || "?").join(" – ");
}

/** Where and when, and how it ended: "1-0" stays in one line. */
export function occasion({ headers }: Game): string {
  const event = headers.Event ?? headers.EV ?? headers.GN ?? "";
  const date = (headers.Date ?? headers.DT ?? "").replace(/[.-]?\?+/g, "");
  const result = (headers.Result ?? headers.RE ?? "").replaceAll("-", "\u2011");
  return [event, date, result].filter((each) => each && each !== "?" && each !== "*").join(" · ");
}

/** How a position ends the game, in words; "" where it does not. */
export function ending(node: Node): string {
  if (!node.end) return "";
  if (node.end === "checkmate") return texts.match.checkmate(node.turn === "w" ? texts.common.black : texts.common.white);
  const draws: Record<string, string> = {
    stalemate: texts.match.stalemate,
    dead: texts.match.dead,
    repetition: texts.match.repetition,
    "fifty moves": texts.match.fifty,
    passes: texts.match.passes,
  };
  return draws[node.end] ?? texts.match.over(node.end);
}
