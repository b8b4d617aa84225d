/** The rules of Go in the visitor's browser. A point's number is 19 times its row plus its column, whatever the board's size. */

import type { Written } from "../server/api";
import { pointName, pointOf } from "../board/gopoints";
import type { Line } from "../app/state";
import { fromServer } from "../texts";
import { Refused } from "../server/api";

export const GRID = 19;
export const POINTS = GRID * GRID;
export const PASS = POINTS;
export type Colour = 1 | 2;
export const BLACK: Colour = 1;

/** What rules decide. bonus: White's points for handicap stones: none, one for each, or for each but the first. */
interface Rules {
  superko: boolean;
  suicide: boolean;
  territory: boolean;
  bonus: "0" | "N" | "N-1";
}

const AREA: Rules = { superko: false, suicide: false, territory: false, bonus: "N" };
const TERRITORY: Rules = { ...AREA, territory: true, bonus: "0" };
const RULES: Record<string, Rules> = {
  chinese: AREA,
  "chinese-ogs": { ...AREA, superko: true },
  "chinese-kgs": { ...AREA, superko: true },
  japanese: TERRITORY,
  korean: TERRITORY,
  aga: { ...AREA, bonus: "N-1" },
  bga: { ...AREA, bonus: "N-1" },
  french: { ...AREA, bonus: "N-1" },
  "new-zealand": { ...AREA, suicide: true, bonus: "0" },
  ing: { ...AREA, suicide: true, bonus: "N" },
  "tromp-taylor": { ...AREA, superko: true, suicide: true, bonus: "0" },
};

export const refuse = (words: string): never => {
  throw new Refused(fromServer(words));
};

export const rulesOf = (name = "chinese"): Rules => RULES[name] ?? refuse(`unknown rules '${name}'; there are ${Object.keys(RULES).join(", ")}`);

/** Handicap stones: several stones of Black's at the start, after which White moves. */
export function handicapOf({ setup, side }: Line): number {
  const stones = setup?.B.length ?? 0;
  return stones > 1 && !setup?.W.length && side === "w" ? stones : 0;
}

/** White's points from the start. */
export function komiOf(line: Line): number {
  const stones = handicapOf(line);
  const { bonus } = rulesOf(line.rules);
  return (line.komi ?? 7.5) + (stones < 2 || bonus === "0" ? 0 : bonus === "N" ? stones : stones - 1);
}

export const pointNamed = (point: number, size: number): string => (point === PASS ? "pass" : pointName(Math.floor(point / GRID) * size + (point % GRID), size));

/** The number of "Q16", PASS of "pass"; refuses what is no point. */
export function readPoint(word: string, size: number): number {
  if (word.trim().toLowerCase() === "pass") return PASS;
  const found = pointOf(word.trim(), size);
  if (found === null) return refuse(`'${word.slice(0, 20)}' is not on a board of size ${size}${/^i/i.test(word.trim()) ? ". The columns of a Go board skip the letter I" : ""}`);
  return Math.floor(found / size) * GRID + (found % size);
}

/** A position that can be played on. */
export class GoBoard {
  readonly colours = new Uint8Array(POINTS);
  /** The ply in which each stone was played; 0 of the setup. */
  readonly played = new Int32Array(POINTS);
  ko = PASS;
  ply = 0;
  passes = 0;
  turn: Colour = BLACK;
  /** Stones that Black and White have lost, by colour. */
  lost: [number, number, number] = [0, 0, 0];
  private before = new Set<string>();

  constructor(
    readonly size: number,
    readonly rules: Rules,
  ) {
    if (![9, 13, 19].includes(size)) refuse(`the size of the board must be 9, 13 or 19 (got ${size})`);
  }

  copy(): GoBoard {
    const other = new GoBoard(this.size, this.rules);
    other.colours.set(this.colours);
    other.played.set(this.played);
    Object.assign(other, { ko: this.ko, ply: this.ply, passes: this.passes, turn: this.turn, lost: [...this.lost], before: new Set(this.before) });
    return other;
  }

  inside(point: number): boolean {
    return point >= 0 && point < POINTS && Math.floor(point / GRID) < this.size && point % GRID < this.size;
  }

  /** All points, row by row from the upper left. */
  points(): number[] {
    return Array.from({ length: this.size ** 2 }, (_, at) => Math.floor(at / this.size) * GRID + (at % this.size));
  }

  around(point: number): number[] {
    const found: number[] = [];
    if (point >= GRID) found.push(point - GRID);
    if (point % GRID > 0) found.push(point - 1);
    if (point % GRID < this.size - 1) found.push(point + 1);
    if (Math.floor(point / GRID) < this.size - 1) found.push(point + GRID);
    return found;
  }

  /** The stones of a chain, and its liberties. */
  chain(point: number): { stones: number[]; liberties: Set<number> } {
    const colour = this.colours[point];
    const stones = new Set([point]);
    const liberties = new Set<number>();
    for (const each of stones) {
      for (const next of this.around(each)) {
        if (this.colours[next] === 0) liberties.add(next);
        else if (this.colours[next] === colour) stones.add(next);
      }
    }
    return { stones: [...stones], liberties };
  }

  /** Puts a stone of the start. */
  put(colour: Colour, point: number): void {
    if (!this.inside(point) || this.colours[point]) refuse("these stones cannot be set up: a point has two stones");
    this.colours[point] = colour;
  }

  /** Ends the setup; refuses chains without a liberty. */
  begin(turn: Colour): this {
    this.turn = turn;
    for (const point of this.points()) if (this.colours[point] && !this.chain(point).liberties.size) refuse("these stones cannot be set up: a chain has no liberty");
    this.before = new Set([this.key()]);
    return this;
  }

  private key(): string {
    return String.fromCharCode(...this.colours);
  }

  /** Why a move of the side to move is illegal; "" where it is legal. */
  whyNot(point: number): string {
    if (point === PASS) return "";
    if (!this.inside(point)) return "not on the board";
    if (this.colours[point]) return "on a stone";
    if (point === this.ko) return "takes back a ko at once";
    const others = this.around(point);
    if (others.some((each) => this.colours[each] === 0) && !this.rules.superko) return "";
    const after = this.copy();
    const own = after.place(point);
    if (own < 0 && !this.rules.suicide) return "suicide";
    return this.rules.superko && this.before.has(after.key()) ? "repeats a position" : "";
  }

  /** Puts a stone of the side to move and takes what it captures: how many stones, below 0 its own. */
  private place(point: number): number {
    const colour = this.turn;
    const other = (3 - colour) as Colour;
    this.colours[point] = colour;
    this.played[point] = this.ply;
    const taken: number[] = [];
    for (const next of this.around(point)) {
      if (this.colours[next] !== other) continue;
      const { stones, liberties } = this.chain(next);
      if (!liberties.size) for (const each of stones) taken.push(each), (this.colours[each] = 0), (this.played[each] = 0);
    }
    const { stones, liberties } = this.chain(point);
    this.ko = PASS;
    if (!liberties.size) {
      for (const each of stones) (this.colours[each] = 0), (this.played[each] = 0);
      return -stones.length;
    }
    if (taken.length === 1 && stones.length === 1 && liberties.size === 1) this.ko = taken[0]!;
    return taken.length;
  }

  /** Plays a move of the side to move, or PASS. Refuses an illegal one. */
  play(point: number): void {
    const why = this.whyNot(point);
    if (why) refuse(`${pointNamed(point, this.size)} is illegal here (${why})`);
    this.ply += 1;
    if (point === PASS) {
      this.passes += 1;
      this.ko = PASS;
    } else {
      this.passes = 0;
      const taken = this.place(point);
      this.lost[taken >= 0 ? 3 - this.turn : this.turn]! += Math.abs(taken);
    }
    this.turn = (3 - this.turn) as Colour;
    if (point !== PASS) this.before.add(this.key());
  }

  /** Whether a point is a real eye of the side to move, by the rule of kibitz.play.go.player.own_eyes. */
  isOwnEye(point: number): boolean {
    if (this.around(point).some((each) => this.colours[each] !== this.turn)) return false;
    const [row, column] = [Math.floor(point / GRID), point % GRID];
    const inside = (at: number): boolean => at >= 0 && at < this.size;
    let [held, edge] = [0, 0];
    for (const down of [-1, 1]) {
      for (const right of [-1, 1]) {
        if (!inside(row + down) || !inside(column + right)) edge = 1;
        else if (this.colours[point + GRID * down + right] === 3 - this.turn) held += 1;
      }
    }
    return held + edge < 2;
  }

  legal(): number[] {
    return this.points().filter((point) => !this.whyNot(point));
  }

  /** The position as the page shows it. */
  node(move: string | null = null): Written {
    const points = this.points();
    return {
      ply: this.ply,
      move,
      san: move ?? "",
      turn: this.turn === BLACK ? "b" : "w",
      end: this.passes >= 2 ? "passes" : null,
      stones: points.map((point) => ".BW"[this.colours[point]!]!).join(""),
      legal: points.map((point) => (this.whyNot(point) ? "0" : "1")).join(""),
      captured: { B: this.lost[2], W: this.lost[1] },
    };
  }
}

export function startOf(line: Line): GoBoard {
  const size = line.size ?? 19;
  const board = new GoBoard(size, rulesOf(line.rules));
  for (const word of line.setup?.B ?? []) board.put(1, readPoint(word, size));
  for (const word of line.setup?.W ?? []) board.put(2, readPoint(word, size));
  return board.begin(line.side === "w" ? 2 : 1);
}

/** Plays a line; `each` is told every position, the start first. */
export function replay(line: Line, each: (board: GoBoard, move: string | null) => void = () => undefined): GoBoard {
  const board = startOf(line);
  each(board, null);
  for (const word of line.moves) {
    const point = readPoint(word, board.size);
    board.play(point);
    each(board, pointNamed(point, board.size));
  }
  return board;
}

const AGES = [1, 2, 3, 4, 5, 6, 7, 8, 9, 17, 33, 65, 129];

/** What a network is told of a position: 361 codes, and the four numbers of its state. */
export function encode(board: GoBoard): { codes: number[]; state: number[] } {
  const codes = new Array<number>(POINTS).fill(14);
  for (const point of board.points()) codes[point] = 0;
  const seen = new Set<number>();
  for (const point of board.points()) {
    const colour = board.colours[point]!;
    if (!colour || seen.has(point)) continue;
    const { stones, liberties } = board.chain(point);
    for (const each of stones) {
      seen.add(each);
      const played = board.played[each]!;
      const age = played ? AGES.filter((least) => least <= board.ply - played + 1).length : 0;
      codes[each] = (colour === BLACK ? 1 : 7) + Math.min(6, liberties.size) - 1 + 16 * age;
    }
  }
  if (board.ko !== PASS) codes[board.ko] = 13;
  return { codes, state: [board.turn === BLACK ? 0 : 1, board.size, Math.min(2, board.passes), Math.min(255, board.ply)] };
}

/** The mirror image of values of the points, and of a pass if there is one. */
export function mirrored<T>(values: ArrayLike<T>, size: number): T[] {
  const found = Array.from(values);
  for (let row = 0; row < size; row += 1) for (let column = 0; column < size; column += 1) found[row * GRID + column] = values[row * GRID + size - 1 - column]!;
  return found;
}

/** The owner of each point at the end: 1 Black, 2 White, 0 nobody. `dead`: the stones that are taken off. */
export function settle(board: GoBoard, dead: ReadonlySet<number>): Uint8Array {
  const owner = new Uint8Array(POINTS);
  const living = (point: number): number => (dead.has(point) ? 0 : board.colours[point]!);
  const seen = new Set<number>();
  for (const start of board.points()) {
    if (living(start)) owner[start] = living(start);
    if (living(start) || seen.has(start)) continue;
    const region = new Set([start]);
    const touched = new Set<number>();
    for (const each of region) {
      for (const next of board.around(each)) {
        if (living(next)) touched.add(living(next));
        else region.add(next);
      }
    }
    for (const each of region) {
      seen.add(each);
      owner[each] = touched.size === 1 ? [...touched][0]! : 0;
    }
  }
  return owner;
}
