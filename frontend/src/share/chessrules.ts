/** The rules of chess in the visitor's browser: positions of a line as the page shows them, and as a network is told them. */

import { Chess, castlingSide, normalizeMove } from "chessops/chess";
import { INITIAL_FEN, makeFen, parseFen } from "chessops/fen";
import { makeSan, parseSan } from "chessops/san";
import { type NormalMove, type Role, ROLES } from "chessops/types";
import { kingCastlesTo, makeSquare, makeUci, parseUci, squareFile } from "chessops/util";
import { Refused, type Written } from "../server/api";
import type { Line } from "../app/state";
import { fromServer } from "../texts";

const PROMOTED: readonly Role[] = ["queen", "rook", "bishop", "knight"];
/** Corners in the order of the bits of castling rights: White's king's side, queen's side, Black's. */
const CORNERS = [7, 0, 63, 56];

/** Refuses with the words of the server, in the language of the page. */
export const refuse = (words: string): never => {
  throw new Refused(fromServer(words));
};

export function startOf(fen = INITIAL_FEN): Chess {
  const board = parseFen(fen.trim().split(/\s+/).join(" ")).chain((setup) => Chess.fromSetup(setup));
  return board.isOk ? board.value : refuse(`the FEN cannot be read: ${fen.slice(0, 90)}`);
}

/** A null move, and how it is written; some programs write it otherwise. */
export const NULL: NormalMove = { from: 0, to: 0 };
const [NULL_UCI, NULL_SAN] = ["0000", "--"];
export const NULLS = ["--", "Z0", "0000", "@@@@", "null", "NULL", "<>"];
const isNull = ({ from, to }: NormalMove): boolean => from === to;

/** A move in UCI as others write it: castling is the king's two steps. */
export function uciOf(board: Chess, move: NormalMove): string {
  if (isNull(move)) return NULL_UCI;
  const side = castlingSide(board, move);
  return makeUci(side ? { from: move.from, to: kingCastlesTo(board.turn, side) } : move);
}

/** The legal moves of a position: squares from and to as others write them, and how the rules play it. */
export function legalMoves(board: Chess): { move: NormalMove; from: number; to: number; promotion: Role | undefined }[] {
  const found = [];
  for (const [from, targets] of board.allDests()) {
    for (const to of targets) {
      const pawn = board.board.getRole(from) === "pawn" && (to >= 56 || to < 8);
      for (const promotion of pawn ? PROMOTED : [undefined]) {
        const move: NormalMove = promotion ? { from, to, promotion } : { from, to };
        const side = castlingSide(board, move);
        found.push({ move, from, to: side ? kingCastlesTo(board.turn, side) : to, promotion });
      }
    }
  }
  return found;
}

/** A move from UCI or SAN; refuses what is no legal move, and a capture that takes nothing. */
export function readMove(board: Chess, word: string): NormalMove {
  const name = word.trim();
  if (NULLS.includes(name)) return board.isCheck() ? refuse("a side in check cannot pass") : NULL;
  const said = /^[a-h][1-8][a-h][1-8][nbrq]?$/i.test(name) ? parseUci(name.toLowerCase()) : parseSan(board, name.replace(/0/g, "O"));
  const move = said && "from" in said ? (normalizeMove(board, said) as NormalMove) : undefined;
  if (!move || !board.isLegal(move)) return refuse(`'${name.slice(0, 20)}' is an illegal move here`);
  if (/[x:×](?=[a-h])/i.test(name) && !captures(board, move)) return refuse(`'${name.slice(0, 20)}' is not a capture here`);
  return move;
}

export const sanOf = (board: Chess, move: NormalMove): string => (isNull(move) ? NULL_SAN : makeSan(board, move));

/** Whether a legal move takes a piece, also in passing. Castling goes to the square of the own rook. */
const captures = (board: Chess, move: NormalMove): boolean =>
  (board.board.occupied.has(move.to) && !castlingSide(board, move)) || (board.board.getRole(move.from) === "pawn" && squareFile(move.from) !== squareFile(move.to));

/** Positions that are the same by the rule of repetition have the same key. */
const keyOf = (board: Chess): string => makeFen(board.toSetup()).split(" ").slice(0, 4).join(" ");

/** A game of chess as it is played on: the position, and how often each one has stood. */
export class Played {
  readonly board: Chess;
  ply = 0;
  /** Squares + 1 of the last two moves, the last one first: from, to, from, to; 0 for none. */
  last: [number, number, number, number] = [0, 0, 0, 0];
  private readonly stood: Map<string, number>;

  constructor(board: Chess, from?: Played) {
    this.board = board;
    this.stood = new Map(from?.stood ?? [[keyOf(board), 1]]);
    if (!from) return;
    this.ply = from.ply;
    this.last = from.last;
  }

  copy(): Played {
    return new Played(this.board.clone() as Chess, this);
  }

  /** Plays a legal move; the position after it. */
  play(move: NormalMove): Written {
    const name = uciOf(this.board, move);
    const san = sanOf(this.board, move);
    this.push(move);
    return this.node(name, san);
  }

  /** Plays a legal move. */
  push(move: NormalMove): void {
    const side = castlingSide(this.board, move);
    const to = side ? kingCastlesTo(this.board.turn, side) : move.to;
    if (isNull(move)) {
      const { board } = this;
      this.last = [0, 0, this.last[0], this.last[1]];
      board.halfmoves += 1;
      if (board.turn === "black") board.fullmoves += 1;
      board.epSquare = undefined;
      board.turn = board.turn === "white" ? "black" : "white";
    } else {
      this.last = [move.from + 1, to + 1, this.last[0], this.last[1]];
      this.board.play(move);
    }
    this.ply += 1;
    const key = keyOf(this.board);
    this.stood.set(key, (this.stood.get(key) ?? 0) + 1);
  }

  /** The position as the page shows it. */
  node(move: string | null = null, san = ""): Written {
    const { board } = this;
    const dests: Record<string, string[]> = {};
    for (const { from, to, promotion } of legalMoves(board)) {
      if (promotion === undefined || promotion === "queen") (dests[makeSquare(from)] ??= []).push(makeSquare(to));
    }
    return {
      ply: this.ply,
      move,
      san,
      turn: board.turn === "white" ? "w" : "b",
      end: this.end(),
      fen: makeFen(board.toSetup()),
      check: board.isCheck(),
      dests,
    };
  }

  /** How the game has ended here, or could by a claim. */
  end(): string | null {
    const { board } = this;
    if (!board.hasDests()) return board.isCheck() ? "checkmate" : "stalemate";
    if (board.isInsufficientMaterial()) return "dead";
    if (board.halfmoves >= 100) return "fifty moves";
    return (this.stood.get(keyOf(board)) ?? 0) >= 3 ? "repetition" : null;
  }
}

/** Plays a line from its start; `each` is told every position, the start first. */
export function replay(line: Line, each: (at: Played, node: Written) => void = () => undefined): Played {
  const at = new Played(startOf(line.fen));
  each(at, at.node());
  for (const move of line.moves) each(at, at.play(readMove(at.board, move)));
  return at;
}

/** What a network is told of a position: 64 codes, and the four numbers of its state. */
export function encode(board: Chess): { codes: number[]; state: number[] } {
  const codes = new Array<number>(64).fill(0);
  for (const [square, { role, color }] of board.board) codes[square] = 1 + ROLES.indexOf(role) + (color === "black" ? 6 : 0);
  const rights = CORNERS.reduce((sum, corner, bit) => sum + (board.castles.castlingRights.has(corner) ? 1 << bit : 0), 0);
  const passed = board.toSetup().epSquare;
  return { codes, state: [board.turn === "white" ? 0 : 1, rights, passed === undefined ? 0 : squareFile(passed) + 1, Math.min(255, board.halfmoves)] };
}

/** The row of `target` for pieces of the kind that stands on a square. */
export const kindOn = (board: Chess, square: number): number => ROLES.indexOf(board.board.getRole(square) ?? "pawn");

/** Knight, bishop, rook, queen: 0 to 3. */
export const promotedKind = (role: Role): number => ROLES.indexOf(role) - ROLES.indexOf("knight");
