/** What players of each rating would play: the list at one rating, and traps. */

import { expect, test } from "vitest";

import { asksRatings } from "../src/analysis/movebars";
import { movesAt, risksIn, trapIn } from "../src/analysis/ratings";
import type { ByRating, OpinionLine } from "../src/server/api";
import { network } from "./support/games";

const FOUND: ByRating = {
  ratings: [800, 1400, 2200],
  moves: [
    { move: "g1f3", san: "Nf3", p: [0.3, 0.4, 0.7], mistake: [0.1, 0.1, 0.1] },
    { move: "d1h5", san: "Qh5", p: [0.4, 0.2, 0.02], mistake: [0.1, 0.1, 0.1] },
    { move: "a2a3", san: "a3", p: [0.05, 0.05, 0.01], mistake: [0.1, 0.1, 0.1] },
    { move: "d2d4", san: "d4", p: [0.2, 0.2, 0.2], mistake: [0.1, 0.1, 0.1] },
    { move: "h2h4", san: "h4", p: [0.01, 0.01, 0.01], mistake: [0.1, 0.1, 0.1] },
  ],
  risk: [0.4, 0.3, 0.1],
};

const lines = (values: Record<string, number>): OpinionLine[] => Object.entries(values).map(([move, white]) => ({ moves: [move], san: [move], white }));

test("the moves of a rating come with the likeliest first", () => {
  expect(movesAt(FOUND, 800).map(({ san }) => san)).toEqual(["Qh5", "Nf3", "d4"]);
  expect(movesAt(FOUND, 2200)[0]).toEqual({ move: "g1f3", san: "Nf3", p: 0.7 });
});

test("a listed value decides whether its move is a mistake; of other moves the estimate counts", () => {
  expect(risksIn(FOUND, [], "w")).toEqual(FOUND.risk);
  // Qh5 and d4 lose 10 points or more, Nf3 nothing: that is sure now, whatever the estimates were.
  const searched = { g1f3: 0.6, d1h5: 0.35, d2d4: 0.5 };
  const wanted = FOUND.risk!.map((risk, at) => risk! + [0, 1, 3].reduce((sum, i) => sum + FOUND.moves[i]!.p[at]! * ((i ? 1 : 0) - 0.1), 0));
  for (const [mover, values] of [["w", searched], ["b", Object.fromEntries(Object.entries(searched).map(([move, white]) => [move, 1 - white]))]] as const) {
    risksIn(FOUND, lines(values), mover)!.forEach((risk, at) => expect(risk).toBeCloseTo(Math.min(1, wanted[at]!), 9));
  }
  // A move that loses less is none.
  expect(risksIn(FOUND, lines({ g1f3: 0.6, d1h5: 0.51 }), "w")![0]).toBeCloseTo(0.4 - 0.07, 9);
  expect(risksIn({ ...FOUND, risk: null }, lines(searched), "w")).toBeNull();
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
