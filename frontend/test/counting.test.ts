/** A game of Go that is over: dead stones and points; and how one begins with a handicap. */

import { describe, expect, test } from "vitest";

import { count, takenForDead, together } from "../src/gocount";
import { pointsOf } from "../src/gomarks";
import { pointOf } from "../src/gopoints";
import { goStart, stonesOf } from "../src/starting";
import { empty } from "../src/tree";

/** Black's wall on the fifth column, White's on the sixth; a white stone is in Black's half. */
const ROWS = ["....BW...", "....BW...", "..W.BW...", "....BW...", "....BW...", "....BW...", "....BW...", "....BW...", "....BW..."];
const STONES = ROWS.join("");
const CAUGHT = pointOf("C7", 9)!;
const start = (rules: string, komi = 6.5) => ({ ...empty("go", 9).start, rules, komi });
const NONE = { B: 0, W: 0 };

describe("a count", () => {
  test("by area: stones and territory", () => {
    const { black, white, owners } = count(STONES, new Set([CAUGHT]), start("chinese"), NONE);
    expect([black, white]).toEqual([45, 36 + 6.5]);
    expect([owners[CAUGHT], owners[0], owners[80]]).toEqual([1, 1, 0]);
  });

  test("by territory and prisoners", () => {
    const { black, white } = count(STONES, new Set([CAUGHT]), start("japanese"), { B: 2, W: 1 });
    expect([black, white]).toEqual([36 + 1 + 2, 27 + 1 + 6.5]);
  });

  test("a stone that lives leaves the points around it to nobody", () => {
    const { black, white, owners } = count(STONES, new Set(), start("chinese"), NONE);
    expect([black, white, owners[0]]).toEqual([9, 1 + 9 + 27 + 6.5, 0.5]);
  });

  test("handicap stones are worth points to White by some rules", () => {
    const handicap = (rules: string): number => count(".".repeat(81), new Set(), { ...goStart(9, 0.5, rules, 3) }, NONE).white;
    expect(["chinese", "aga", "japanese", "korean", "new-zealand"].map(handicap)).toEqual([3.5, 2.5, 0.5, 0.5, 0.5]);
  });
});

test("stones that live or die together", () => {
  expect(together(STONES, CAUGHT, 9)).toEqual([CAUGHT]);
  const all = together(STONES, pointOf("E9", 9)!, 9);
  expect(all).toHaveLength(9);
});

test("what the network takes for dead: chains whose points belong to the other side", () => {
  const owners: number[] = [...STONES].map((_, point) => (point % 9 < 5 ? 0.95 : 0.05));
  expect([...takenForDead(STONES, owners, 9)]).toEqual([CAUGHT]);
  owners[CAUGHT] = 0.65; // not so sure
  expect(takenForDead(STONES, owners, 9).size).toBe(0);
});

test("handicap stones stand where they stand by custom", () => {
  expect(stonesOf(19, 2)).toEqual(["Q16", "D4"]);
  expect(stonesOf(19, 5)).toContain("K10");
  expect(stonesOf(19, 6)).not.toContain("K10");
  expect(stonesOf(9, 4).sort()).toEqual(["C3", "C7", "G3", "G7"]);
  for (const size of [9, 13, 19]) for (const stones of [2, 3, 4, 5, 6, 7, 8, 9]) expect(new Set(stonesOf(size, stones)).size).toBe(stones);
  expect(goStart(9, 5.5, "japanese", 3)).toMatchObject({ komi: 5.5, rules: "japanese", side: "w", setup: { W: [] } });
  expect(goStart(9, 7.5, "chinese", 0)).toMatchObject({ side: "b", setup: { B: [], W: [] } });
});

test("points of an SGF, single or a rectangle", () => {
  expect(pointsOf(["aa", "ii"], 9)).toEqual([0, 80]);
  expect(pointsOf(["aa:bb"], 9)).toEqual([0, 1, 9, 10]);
  expect(pointsOf(["zz", "", "a", "aa:z"], 9)).toEqual([]);
  expect(pointsOf(["jj"], 9)).toEqual([]);
});
