/** Lines of chess, and what the network says of them. */

import type { Thinking, Written } from "../server/api";
import type { Line, Result } from "../app/state";
import { drawn, rounded } from "./chances";
import { asCandidate, movesOf, rowOf, settled, whiteOf } from "./chessanswers";
import { legalMoves, type Played, readMove, replay, uciOf } from "./chessrules";
import type { Ask } from "./local";
import type { Answer, Shared } from "./network";
import type { Thought } from "./puct";

/** Moves that are listed. */
const LISTED = 8;
/** Ratings whose moves are told apart, as on the board's page. */
const COMPARED = [1200, 2200];
/** Positions that are asked about at once: few at first, so that something is seen soon. */
const BATCH = 4;

export function nodesOf(line: Line): Written[] {
  const found: Written[] = [];
  replay(line, (_, node) => found.push(node));
  return found;
}

export function after(line: Line, move: string): Written {
  const at = replay(line);
  return at.play(readMove(at.board, move));
}

/** What the network says of the positions from..to of a line, as it comes. */
export async function analyse(asked: { line: Line; from: number; to: number }, shared: Shared, ask: Ask, found: (result: Result) => void, signal?: AbortSignal): Promise<void> {
  const { line, from, to } = asked;
  const positions: Played[] = [];
  replay({ ...line, moves: line.moves.slice(0, to) }, (at) => positions.push(at.copy()));
  let size = 1;
  for (let first = from; first <= to && !signal?.aborted; first += size, size = Math.min(BATCH, 2 * size)) {
    const some = positions.slice(first, Math.min(to + 1, first + size));
    for (const [at, result] of (await results(some, line.ratings ?? [0, 0], shared, ask)).entries()) {
      if (!signal?.aborted) found({ ...result, ply: first + at });
    }
  }
}

/** The chance is that of unknown players: what a position is worth does not depend on them. */
async function results(positions: Played[], ratings: [number, number], shared: Shared, ask: Ask): Promise<Omit<Result, "ply">[]> {
  const sides = shared.side_inputs;
  const told = (name: string): boolean => sides.some(([each]) => each === name);
  // A person's network always imitates this person, whatever ratings it is given.
  const compared = shared.network.rated && told("opponent_rating") ? COMPARED : [];
  const own = told("rating") && ratings.some(Boolean);
  const kinds: [number, number][] = [[0, 0], ...(own ? [ratings] : []), ...compared.map((each): [number, number] => [each, each])];
  const answers = await ask(positions.flatMap((at) => kinds.map((each) => rowOf(at, sides, each))));
  return positions.map((at, index) => {
    const its = answers.slice(index * kinds.length, (index + 1) * kinds.length);
    const { board } = at;
    const plain = its[0]!;
    const moves = its[own ? 1 : 0]!;
    const listed = (answer: Answer): NonNullable<Result["moves"]> =>
      movesOf(board, answer)
        .filter((each) => each.listed)
        .slice(0, LISTED)
        .map((each) => asCandidate(board, each));
    const value = whiteOf(board, plain);
    const result: Omit<Result, "ply"> = { white: value === null ? null : (settled(at) ?? rounded(value)), moves: null, origin: null, owners: null, score: null };
    if (!moves["origin"]) return result;
    result.moves = listed(moves);
    result.origin = Array.from(moves["origin"], rounded);
    const rating = ratings[board.turn === "white" ? 0 : 1];
    if (shared.network.rated && own && rating) result.rating = rating;
    if (compared.length) result.by_rating = compared.map((each, place) => ({ rating: each, moves: listed(its[its.length - compared.length + place]!) }));
    return result;
  });
}

/** Where the piece on a square would go: probabilities of the 64 squares. */
export async function targets(line: Line, square: string, shared: Shared, ask: Ask): Promise<number[]> {
  const at = replay(line);
  const from = "abcdefgh".indexOf(square[0] ?? "") + 8 * (Number(square[1]) - 1);
  const piece = at.board.board.get(from);
  const [answer] = await ask([rowOf(at, shared.side_inputs, line.ratings ?? [0, 0])]);
  const rows = answer?.["target"];
  if (!rows || piece?.color !== at.board.turn) return new Array<number>(64).fill(0);
  const row = rows.length === 64 * 64 ? from : ["pawn", "knight", "bishop", "rook", "queen", "king"].indexOf(piece.role);
  return Array.from(rows.subarray(64 * row, 64 * row + 64), rounded);
}

/** The move that the network chooses: of its likely ones, or where it names none, the one after which it stands best. */
export async function think(asked: Thought, shared: Shared, ask: Ask, thought: (thinking: Thinking) => void, signal?: AbortSignal): Promise<string | null> {
  const { line, temperature, rating } = asked;
  const at = replay(line);
  const all = legalMoves(at.board);
  if (!all.length) return null;
  if (asked.searches) {
    const { limitsOf, search } = await import("./puct");
    const { searchRules } = await import("./chesssearch");
    const found = await search(at, searchRules(shared, ask), limitsOf(asked, 0, signal));
    if (found) {
      const value = at.board.turn === "white" ? found.value : -found.value;
      thought({ white: (1 + value) / 2, nodes: found.evaluated, seconds: found.milliseconds / 1000 });
      return uciOf(at.board, found.move);
    }
  }
  const [answer] = await ask([rowOf(at, shared.side_inputs, [rating, rating])]);
  const likely = movesOf(at.board, answer!);
  if (likely.length) {
    const white = whiteOf(at.board, answer!);
    if (white !== null) thought({ white });
    return likely[drawn(likely.map(({ p }) => p), temperature)]!.uci;
  }
  const next = all.map(({ move }) => {
    const then = at.copy();
    then.play(move);
    return then;
  });
  const values: number[] = [];
  for (let first = 0; first < next.length && !signal?.aborted; first += BATCH) {
    const some = next.slice(first, first + BATCH);
    const answers = await ask(some.map((each) => rowOf(each, shared.side_inputs, [0, 0])));
    values.push(...some.map((each, index) => drawnAfter(each) ?? settled(each) ?? whiteOf(each.board, answers[index]!) ?? 0.5));
  }
  const mine = at.board.turn === "white" ? values : values.map((value) => 1 - value);
  const best = mine.indexOf(Math.max(...mine));
  thought({ white: values[best] ?? null });
  return uciOf(at.board, all[best]!.move);
}

/** What a position is worth that ends the game by a claim. */
const drawnAfter = (at: Played): number | null => (["repetition", "fifty moves"].includes(at.end() ?? "") ? 0.5 : null);
