/** Moves of chess as somebody types them, with the letters of the page's language or with English ones. */

import type { Node } from "./state";
import { texts } from "../texts";
import { en } from "../texts/en";

const ENGLISH = en.common.pieces;
/** A piece, the file or rank or square that it comes from, and the square that it goes to. */
const OF_PIECE = /^(\p{Lu}|[^a-h\d])([a-h]?[1-8]?)([-x:×]?)([a-h][1-8])(?![a-h\d])/u;
const PROMOTED = /(?<=[a-h][18]=?\(?)\p{Lu}(?=\)?[+#!?]*$)/u;

/**
 * The move with English letters, as the server takes it. A letter that both languages have is the page's language's,
 * unless the move is legal with the English one only. What is no such move stays as it is.
 */
export function english(typed: string, node: Pick<Node, "fen" | "dests" | "turn">): string {
  if (texts.common.pieces === ENGLISH || !node.fen) return typed;
  const found = OF_PIECE.exec(typed);
  // No pawn becomes a king.
  if (!found) return typed.replace(PROMOTED, (letter) => translated(letter).replace("K", "") || letter);
  const [, first = "", from = "", , to = ""] = found;
  const letter = first.toUpperCase();
  const own = translated(letter);
  if (!own) return typed;
  const other = ENGLISH.includes(letter) && !legal(own, from, to, node) && legal(letter, from, to, node);
  return other ? typed : own + typed.slice(first.length);
}

/** The English letter of a piece's letter in the page's language; "" where it has no such piece. */
const translated = (letter: string): string => ENGLISH[texts.common.pieces.indexOf(letter)] ?? "";

/** Whether a piece can go there. `from`: the file, the rank or both; may be "". */
function legal(piece: string, from: string, to: string, { fen, dests, turn }: Pick<Node, "fen" | "dests" | "turn">): boolean {
  const wanted = turn === "w" ? piece : piece.toLowerCase();
  return Object.entries(dests ?? {}).some(
    ([square, targets]) => [...from].every((each) => square.includes(each)) && pieceAt(fen!, square) === wanted && targets.includes(to) && !castles(piece, square, to),
  );
}

const castles = (piece: string, from: string, to: string): boolean => piece === "K" && Math.abs(from.charCodeAt(0) - to.charCodeAt(0)) > 1;

/** The letter of the piece on a square; "" where there is none. */
function pieceAt(fen: string, square: string): string {
  const rank = fen.split("/", 8)[8 - Number(square[1])]!.split(" ")[0]!.replace(/\d/g, (n) => " ".repeat(Number(n)));
  return rank["abcdefgh".indexOf(square[0]!)]!.trim();
}
