/** What players of each rating would play: the list at one rating, and traps. */

import { expect, test } from "vitest";

import { asksRatings } from "../src/analysis/movebars";
import { movesAt, riskWords, trapIn } from "../src/analysis/ratings";
import type { ByRating, OpinionLine } from "../src/server/api";
import { network } from "./support/games";

const FOUND: ByRating = {
  ratings: [800, 1400, 2200],
  moves: [
    { move: "g1f3", san: "Nf3", p: [0.3, 0.4, 0.7] },
    { move: "d1h5", san: "Qh5", p: [0.4, 0.2, 0.02] },
    { move: "a2a3", san: "a3", p: [0.05, 0.05, 0.01] },
    { move: "d2d4", san: "d4", p: [0.2, 0.2, 0.2] },
    { move: "h2h4", san: "h4", p: [0.01, 0.01, 0.01] },
  ],
  risk: [0.4, 0.3, 0.1],
};

const lines = (values: Record<string, number>): OpinionLine[] => Object.entries(values).map(([move, white]) => ({ moves: [move], san: [move], white }));

test("while the probability of a mistake is computed, three dots end the sentence", () => {
  expect([riskWords(1400, "…"), riskWords(1400, "9%")].map((words) => words.match(/[^\w%]*$/)![0])).toEqual([": …", "."]);
});

test("the moves of a rating come with the likeliest first", () => {
  expect(movesAt(FOUND, 800).map(({ san }) => san)).toEqual(["Qh5", "Nf3", "d4"]);
  expect(movesAt(FOUND, 2200)[0]).toEqual({ move: "g1f3", san: "Nf3", p: 0.7 });
});

test("a trap loses much, and weaker players choose it much more often", () => {
  const searched = { g1f3: 0.6, d1h5: 0.35, a2a3: 0.3, d2d4: 0.3 };
  const trap = trapIn(FOUND, lines(searched), "w");
  expect(trap).toMatchObject({ san: "Qh5", weak: { rating: 800, p: 0.4 }, strong: { rating: 2200, p: 0.02 } });
  expect(trap?.loss).toBeCloseTo(0.25);
  // Of Black's moves White's chance says the opposite.
  const black = Object.fromEntries(Object.entries(searched).map(([move, white]) => [move, 1 - white]));
  expect(trapIn(FOUND, lines(black), "b")?.san).toBe("Qh5");
});

test("a move that loses little, or was not searched, is no trap", () => {
  expect(trapIn(FOUND, lines({ g1f3: 0.6, d1h5: 0.41 }), "w")).toBeNull();
  expect(trapIn(FOUND, lines({ g1f3: 0.6, d2d4: 0.3 }), "w")).toBeNull();
  expect(trapIn(FOUND, [], "w")).toBeNull();
});

test("only networks of a server with rating inputs are asked", () => {
  const rated = { rated: true };
  expect(asksRatings(network("human", rated))).toBe(true);
  for (const more of [{}, { ...rated, single: true }, { ...rated, game: "go" as const }, { ...rated, person: "Ana" }, { ...rated, problem: "broken" }]) {
    expect(asksRatings(network("other", more))).toBe(false);
  }
});
