import { expect, test } from "vitest";

import { chains, column, inStones, neighbours, numbersOf, ownersOfChains, pointName, pointOf, stars } from "../src/board/gopoints";

test("points have names, without the letter I", () => {
  expect([pointName(0, 19), pointName(18, 19), pointName(360, 19), pointName(72, 9)]).toEqual(["A19", "T19", "T1", "A1"]);
  expect([column(7), column(8), column(99)]).toEqual(["H", "J", "?"]);
  for (const size of [9, 13, 19]) for (let point = 0; point < size * size; point += 1) expect(pointOf(pointName(point, size), size)).toBe(point);
  expect(pointOf("q16", 19)).toBe(pointOf("Q16", 19));
  for (const wrong of ["pass", "", "I5", "K1", "A0", "A10", "A1.5", "A", "Z1"]) expect(pointOf(wrong, 9), wrong).toBeNull();
});

test("points have two, three or four neighbours", () => {
  expect(neighbours(0, 9).sort((a, b) => a - b)).toEqual([1, 9]);
  expect(neighbours(80, 9).sort((a, b) => a - b)).toEqual([71, 79]);
  expect(neighbours(4, 9).sort((a, b) => a - b)).toEqual([3, 5, 13]);
  expect(neighbours(40, 9).sort((a, b) => a - b)).toEqual([31, 39, 41, 49]);
});

test("chains share their liberties", () => {
  const rows = ["BB.", "W.B", "WB."];
  const found = chains(rows.join(""), 3);
  expect(found[0]).toBe(found[1]);
  expect(found[0]).toMatchObject({ stones: [0, 1], liberties: 2 });
  expect(found[3]).toMatchObject({ stones: [3, 6], liberties: 1 });
  expect(found[5]).toMatchObject({ stones: [5], liberties: 3 });
  expect(found[7]).toMatchObject({ stones: [7], liberties: 2 });
  expect(found[2]).toBeNull();
});

test("a board has its dots", () => {
  expect([9, 13, 19].map((size) => stars(size).map((point) => pointName(point, size)).sort())).toEqual([
    ["C3", "C7", "E5", "G3", "G7"],
    ["D10", "D4", "G7", "K10", "K4"],
    ["D10", "D16", "D4", "K10", "K16", "K4", "Q10", "Q16", "Q4"],
  ]);
  expect(stars(11)).toEqual([]);
});

test("stones have the numbers of their moves: of all, of the last ten, or none", () => {
  const moves = [...Array.from({ length: 12 }, (_, at) => `${"ABCDEFGHJ"[at % 9]}${1 + Math.floor(at / 9)}`), "pass", "A1"];
  // The first move's stone was captured, and its point is taken again by the last; C1 was captured and is empty.
  const nodes = new Map(
    [null, ...moves].map((move, ply) => {
      const stones = Array(81).fill(".");
      for (const each of moves.slice(0, ply)) if (each !== "pass" && each !== "C1") stones[pointOf(each, 9)!] = "B";
      return [ply, { ply, move, parent: ply ? ply - 1 : null, stones: stones.join("") }];
    }),
  );
  const game = { nodes, start: { game: "go", size: 9, moves: [] } } as unknown as Parameters<typeof numbersOf>[0];
  const at = (name: string, which: string, ply = moves.length): number | undefined => numbersOf(game, ply, which).get(pointOf(name, 9)!);
  expect(["A1", "B1", "C1", "D1", "E1", "C2", "D2"].map((name) => at(name, "all"))).toEqual([14, 2, undefined, 4, 5, 12, undefined]);
  expect(["A1", "D1", "E1", "C2"].map((name) => at(name, "last"))).toEqual([14, undefined, 5, 12]);
  expect(at("A1", "all", 3)).toBe(1);
  expect(numbersOf(game, moves.length, "none").size).toBe(0);
});

test("the stones of a board are also in words, chain by chain", () => {
  const rows = ["BB.", "W.B", "WB."];
  expect(inStones(rows.join(""), 3)).toBe("Black: A3, B3: 2 liberties; B1: 2 liberties; C2: 3 liberties. White: A1, A2: 1 liberty.");
  expect(inStones(".".repeat(81), 9)).toBe("Black: no stones. White: no stones.");
  // Stones that are next to each other across the edge of the text are not connected.
  expect(inStones("..BB.....", 3)).toBe("Black: A2: 3 liberties; C3: 2 liberties. White: no stones.");
});

test("the stones of a chain have one owner", () => {
  expect(ownersOfChains("WWW..B...", [0.1, 0.6, 0.2, 0.7, 0.5, 0.9, 0, 0, 0], 3).map((own) => Math.round(100 * own))).toEqual([30, 30, 30, 70, 50, 90, 0, 0, 0]);
});
