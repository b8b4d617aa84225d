/** Dead stones that a person has marked, as an SGF keeps them: TB and TW, the points of Black and White. */

import type { Counted } from "../server/api";
import { pointsOf } from "../board/gomarks";
import { chains, neighbours, pointName, pointOf } from "../board/gopoints";
import type { Node } from "../app/state";

const SIDES = [["TB", "B", 1], ["TW", "W", 0]] as const;
/** A point as an SGF names it: "aa" from the upper left. */
const inSgf = (point: number, size: number): string => String.fromCharCode(97 + (point % size), 97 + Math.floor(point / size));

/** The properties of a counted position: the empty points of each side, and the dead stones of the other one, also those beside points that count for nobody. A side without any has an empty value. */
export function territory(stones: string, { owners, dead }: Pick<Counted, "owners" | "dead">, size: number): Record<string, string[]> {
  const off = new Set(dead.map((name) => pointOf(name, size)));
  return Object.fromEntries(
    SIDES.map(([name, own, share]) => {
      const points = owners.flatMap((black, point) => (stones[point] !== own && (black === share || (black === 0.5 && off.has(point))) ? [inSgf(point, size)] : []));
      return [name, points.length ? points : [""]];
    }),
  );
}

/** Vertices of the dead stones that a record marks; undefined if it marks no territory. Some programs mark only the empty points: stones beside those of the other side are dead too. */
export function markedDead({ stones = "", props }: Pick<Node, "stones" | "props">, size: number): string[] | undefined {
  if (!props?.["TB"] && !props?.["TW"]) return undefined;
  const found = chains(stones, size);
  return SIDES.flatMap(([name, own]) => {
    const points = new Set(pointsOf(props[name] ?? [], size));
    const there = (point: number): boolean => points.has(point) && (stones[point] === "." || stones[point] !== own);
    const dead = (point: number): boolean => found[point]!.stones.some((each) => there(each) || neighbours(each, size).some((next) => stones[next] === "." && there(next)));
    return Array.from(stones, (stone, point) => (stone !== "." && stone !== own && dead(point) ? pointName(point, size) : "")).filter(Boolean);
  });
}
