/** A game of Go that is over: dead stones and points; and how one begins with a handicap. */

import { expect, test } from "vitest";

import { together } from "../src/play/gocount";
import { pointsOf } from "../src/board/gomarks";
import { pointOf } from "../src/board/gopoints";
import { goStart, stonesOf } from "../src/play/starting";

/** Black's wall on the fifth column, White's on the sixth; a white stone is in Black's half. */
const ROWS = ["....BW...", "....BW...", "..W.BW...", "....BW...", "....BW...", "....BW...", "....BW...", "....BW...", "....BW..."];
const STONES = ROWS.join("");
const CAUGHT = pointOf("C7", 9)!;
test("stones that live or die together", () => {
  expect(together(STONES, CAUGHT, 9)).toEqual([CAUGHT]);
  const all = together(STONES, pointOf("E9", 9)!, 9);
  expect(all).toHaveLength(9);
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
