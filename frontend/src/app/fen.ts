/** The parts of a FEN, and which rights a placement of pieces allows. */

export interface Fields {
  /** "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR" */
  placed: string;
  turn: string;
  rights: string;
  passed: string;
  /** Plies since a capture or a pawn move. */
  halfmoves: number;
  /** The number of the move. */
  number: number;
}

/** "PLACED w KQkq - 0 1" of its parts. */
export const joinFen = ({ placed, turn, rights, passed, halfmoves, number }: Fields): string => `${placed} ${turn} ${rights} ${passed} ${halfmoves} ${number}`;

/** Null of what has not eight ranks of eight squares. */
export function splitFen(text: string): Fields | null {
  const [placed = "", turn = "w", rights = "-", passed = "-", halfmoves, number] = text.trim().split(/\s+/);
  const ranks = placed.split("/");
  const whole = ranks.length === 8 && ranks.every((rank) => /^[kqrbnpKQRBNP1-8]+$/.test(rank) && squaresOf(rank).length === 8);
  return whole ? { placed, turn: turn === "b" ? "b" : "w", rights, passed, halfmoves: counter(halfmoves, 0), number: counter(number, 1) } : null;
}

/** A number of a FEN; the least where it is none. */
const counter = (text: string | undefined, least: number): number => (/^\d{1,4}$/.test(text ?? "") ? Math.max(least, Number(text)) : least);

/** "p  P    " of "p2P4". */
const squaresOf = (rank: string): string => rank.replace(/\d/g, (digit) => " ".repeat(Number(digit)));

/** What stands on a square: a letter as in a FEN, or a space. */
function looker(placed: string): (square: string) => string {
  const ranks = placed.split("/").map(squaresOf);
  return (square) => ranks[8 - Number(square[1])]?.["abcdefgh".indexOf(square[0]!)] ?? " ";
}

/** Of "KQkq" those whose king and rook are at home. */
export function rightsOf(placed: string): string {
  const at = looker(placed);
  const homes: [string, string, string][] = [
    ["K", "e1K", "h1R"],
    ["Q", "e1K", "a1R"],
    ["k", "e8k", "h8r"],
    ["q", "e8k", "a8r"],
  ];
  const stands = (home: string): boolean => at(home) === home[2];
  return homes.filter(([, king, rook]) => stands(king) && stands(rook)).map(([letter]) => letter).join("");
}

/** Squares that a pawn may just have passed over, beside a pawn of the side to move that could take it. */
export function passable(placed: string, turn: string): string[] {
  const at = looker(placed);
  const [pawn, taker, from, over, rank] = turn === "w" ? ["p", "P", 7, 6, 5] : ["P", "p", 2, 3, 4];
  const files = [..."abcdefgh"];
  return files
    .filter((file, index) => {
      const beside = [files[index - 1], files[index + 1]].some((each) => each && at(`${each}${rank}`) === taker);
      return beside && at(`${file}${rank}`) === pawn && at(`${file}${over}`) === " " && at(`${file}${from}`) === " ";
    })
    .map((file) => `${file}${over}`);
}
