/** What a network's outputs say of a position of chess. */

import type { NormalMove } from "chessops/types";
import { makeUci } from "chessops/util";
import { makeSan } from "chessops/san";
import type { Chess } from "chessops/chess";
import type { Candidate } from "../board/overlays";
import { rounded } from "./chances";
import { encode, kindOn, legalMoves, type Played, promotedKind } from "./chessrules";
import type { Answer } from "./network";

const UNIT = 16;

/** The rows of a position for a network: its codes, and its state with what more the network is told. ratings: White's and Black's, 0 for unknown. */
export function rowOf(at: Played, sides: readonly [string, number][], ratings: readonly [number, number]): { codes: number[]; state: number[] } {
  const { codes, state } = encode(at.board);
  const white = at.board.turn === "white";
  const told = (rating: number, usual: number): number => Math.min(255, Math.floor(rating / UNIT)) || usual;
  const [own, other] = white ? ratings : [ratings[1], ratings[0]];
  const last: Record<string, number> = { last_from: at.last[0], last_to: at.last[1], before_from: at.last[2], before_to: at.last[3] };
  for (const [name, usual] of sides) {
    if (name === "rating") state.push(told(own, usual));
    else if (name === "opponent_rating") state.push(told(other, usual));
    else state.push(last[name] ?? (name === "speed" || name === "scale" ? 0 : usual));
  }
  return { codes, state };
}

/** A legal move with its probability among all, 0..1. */
export interface Likely {
  move: NormalMove;
  uci: string;
  p: number;
  /** Whether it is listed: not the lesser pieces of a promotion that the network does not tell apart. */
  listed: boolean;
}

/** All legal moves, the likeliest first; none where the network names no moves. */
export function movesOf(board: Chess, { origin, target, promotion }: Answer): Likely[] {
  if (!origin || !target) return [];
  const wide = target.length === 64 * 64;
  const number = (value: number | undefined): number => (value !== undefined && Number.isFinite(value) ? value : 0);
  const found = legalMoves(board).map(({ move, from, to, promotion: piece }) => {
    const row = wide ? from : kindOn(board, from);
    let p = number(origin[from]) * number(target[64 * row + to]);
    if (piece && promotion) p *= number(promotion[4 * (to % 8) + promotedKind(piece)]);
    else if (piece && piece !== "queen") p = 0;
    const uci = makeUci(piece ? { from, to, promotion: piece } : { from, to });
    return { move, uci, p, listed: piece === undefined || piece === "queen" || p > 0 };
  });
  const sum = found.reduce((all, { p }) => all + p, 0);
  return found.map((each) => ({ ...each, p: sum < 1e-30 ? 1 / found.length : each.p / sum })).sort((a, b) => b.p - a.p);
}

export const asCandidate = (board: Chess, { move, uci, p }: Likely): Candidate => ({ move: uci, san: makeSan(board, move), p: rounded(p) });

/** White's chance; null where the network gives none. */
export function whiteOf(board: Chess, answer: Answer): number | null {
  const said = answer["white_wins"] ?? answer["white_better"];
  if (said) return said[0]!;
  const value = answer["value"]?.[0];
  if (value === undefined) return null;
  return (1 + (board.turn === "white" ? value : -value)) / 2;
}

/** White's chance where the game is over. */
export function settled(at: Played): number | null {
  const end = at.end();
  if (end === "checkmate") return at.board.turn === "white" ? 0 : 1;
  return end === "stalemate" || end === "dead" ? 0.5 : null;
}
