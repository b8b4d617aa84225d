/** Points of a Go board: numbers from the upper left, row by row, and their names ("Q16"). */

import type { Game } from "../app/state";
import { texts } from "../texts";

const COLUMNS = "ABCDEFGHJKLMNOPQRST";

export const column = (index: number): string => COLUMNS[index] ?? "?";

export function pointName(point: number, size: number): string {
  return `${column(point % size)}${size - Math.floor(point / size)}`;
}

/** The number of "Q16"; null of "pass" and of what is no point of this board. */
export function pointOf(name: string, size: number): number | null {
  const across = COLUMNS.indexOf(name[0]?.toUpperCase() ?? "");
  const up = Number(name.slice(1));
  if (across < 0 || across >= size || !Number.isInteger(up) || up < 1 || up > size) return null;
  return (size - up) * size + across;
}

export function neighbours(point: number, size: number): number[] {
  const across = point % size;
  const found: number[] = [];
  if (point >= size) found.push(point - size);
  if (across > 0) found.push(point - 1);
  if (across < size - 1) found.push(point + 1);
  if (point < size * (size - 1)) found.push(point + size);
  return found;
}

export interface Chain {
  stones: number[];
  liberties: number;
}

/** The chain of each point that has a stone; null elsewhere. `stones`: ".", "B", "W" for each point. */
export function chains(stones: string, size: number): (Chain | null)[] {
  const found: (Chain | null)[] = new Array(stones.length).fill(null);
  for (let start = 0; start < stones.length; start += 1) {
    if (stones[start] === "." || found[start]) continue;
    const chain: Chain = { stones: [start], liberties: 0 };
    const free = new Set<number>();
    found[start] = chain;
    for (const point of chain.stones) {
      for (const next of neighbours(point, size)) {
        if (stones[next] === ".") free.add(next);
        else if (stones[next] === stones[start] && !found[next]) {
          found[next] = chain;
          chain.stones.push(next);
        }
      }
    }
    chain.liberties = free.size;
  }
  return found;
}

/** The owners of points, with one value for all stones of a chain: their mean. They live or die together. */
export function ownersOfChains(stones: string, owners: readonly number[], size: number): number[] {
  const found = chains(stones, size);
  return owners.map((own, point) => {
    const chain = found[point];
    return chain ? chain.stones.reduce((sum, each) => sum + (owners[each] ?? 0.5), 0) / chain.stones.length : own;
  });
}

/** The stones in words: of each side its chains, from A1 upward column by column, with their liberties. */
export function inStones(stones: string, size: number): string {
  const found = chains(stones, size);
  const columns = Array.from({ length: stones.length }, (_, at) => (size - 1 - (at % size)) * size + Math.floor(at / size));
  const side = (colour: string): string => {
    const points = columns.filter((point) => stones[point] === colour);
    const chain = (each: Chain | null): string => texts.goboard.chain(points.filter((point) => found[point] === each).map((point) => pointName(point, size)).join(", "), each?.liberties ?? 0);
    return [...new Set(points.map((point) => found[point] ?? null))].map(chain).join("; ");
  };
  return texts.goboard.stones(side("B"), side("W"));
}

/** The last moves that have a number where not all have one. */
const LATEST = 10;

/** The numbers of the moves whose stones are on the board in a position, by point. */
export function numbersOf({ nodes, start }: Pick<Game, "nodes" | "start">, id: number, which: string): Map<number, number> {
  const found = new Map<number, number>();
  if (which === "none") return found;
  const now = nodes.get(id);
  const seen = new Set<number>();
  for (let at = now; at && at.parent !== null; at = nodes.get(at.parent)) {
    if (which === "last" && now!.ply - at.ply >= LATEST) break;
    const point = at.move ? pointOf(at.move, start.size ?? 19) : null;
    if (point === null || seen.has(point)) continue;
    // An earlier stone there was captured.
    seen.add(point);
    if (now!.stones?.[point] !== ".") found.set(point, at.ply);
  }
  return found;
}

const STARS: Record<number, number[]> = { 9: [2, 4, 6], 13: [3, 6, 9], 19: [3, 9, 15] };

/** The dots that the board has for orientation. Of 9 and 13: the corners' and the middle one. */
export function stars(size: number): number[] {
  const lines = STARS[size] ?? [];
  const middle = lines[1];
  return lines.flatMap((row) =>
    lines
      .filter((across) => size === 19 || (row === middle) === (across === middle))
      .map((across) => row * size + across),
  );
}
