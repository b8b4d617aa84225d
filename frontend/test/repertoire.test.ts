/** A player's openings: what is asked, how a move is judged, what opponents answer, and what the browser keeps. */

import { beforeEach, describe, expect, test } from "vitest";

import { draw, flawOf, keepOpenings, keptOpenings, type Openings, type Position, Repertoire, replies, shownReplies, tried, usual } from "../src/mygames/repertoire";
import { cardOf, NEW_A_DAY, Schedule } from "../src/mygames/schedule";
import type { ByRating } from "../src/server/api";

const START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
const played = (move: string, san: string, games: number) => ({ move, san, games, score: 0.5, to: "" });
const position = (fen: string, moves: ReturnType<typeof played>[], more: Partial<Position> = {}): Position => ({
  side: "white",
  own: true,
  fen,
  line: [],
  games: moves.reduce((sum, each) => sum + each.games, 0),
  opening: null,
  played: moves,
  ...more,
});
const MINE = position(START, [played("e2e4", "e4", 8), played("d2d4", "d4", 2), played("b2b4", "b4", 1)]);
const ANSWERS = position("after e4 b KQkq -", [played("e7e5", "e5", 6), played("c7c5", "c5", 2)], { own: false, line: ["e2e4"] });
const ONCE = position("once w - -", [played("a2a3", "a3", 1), played("h2h3", "h3", 1)], { line: ["e2e4", "e7e5"] });
const DARK = position("dark b - -", [played("c7c5", "c5", 3)], { side: "black", line: ["e2e4"] });
const OPENINGS: Openings = { player: "Muñoz, Ana", games: 12, rating: 1538, positions: [MINE, ANSWERS, ONCE, DARK], recent: 12, left: [], openings: [] };
const FOUND: ByRating = { ratings: [1500], moves: [{ move: "c7c5", san: "c5", p: [0.5] }, { move: "e7e6", san: "e6", p: [0.3] }, { move: "e7e5", san: "e5", p: [0.2] }], risk: null };
const better = { move: "d2d4", san: "d4" };

let now = new Date(2026, 2, 2, 12);
let schedule: Schedule;

beforeEach(() => {
  now = new Date(2026, 2, 2, 12);
  schedule = new Schedule(() => now);
});

describe("what is asked", () => {
  test("positions whose usual move was played twice, with each color", () => {
    const repertoire = Repertoire.of(OPENINGS);
    expect(repertoire.asked("both")).toEqual([MINE, DARK]);
    expect(repertoire.asked("white")).toEqual([MINE]);
    expect(repertoire.asked("black")).toEqual([DARK]);
    expect(usual(ANSWERS)).toBeUndefined();
    expect(usual(ONCE)).toBeUndefined();
    expect(usual(MINE)?.san).toBe("e4");
  });

  test("of two moves that were played equally often none is the usual one", () => {
    const tied = position("tied w - -", [played("d2d4", "d4", 3), played("e2e4", "e4", 3)]);
    expect(usual(tied)).toBeUndefined();
    expect(usual(position("tied w - -", [played("d2d4", "d4", 4), played("e2e4", "e4", 3)]))?.san).toBe("d4");
    expect(Repertoire.of({ ...OPENINGS, positions: [MINE, tied] }).asked("both")).toEqual([MINE]);
  });

  test("positions are found whatever the numbers of their moves and the square of a capture in passing", () => {
    const repertoire = Repertoire.of(OPENINGS);
    expect(repertoire.at("white", START.replace("- 0 1", "e3 4 9"))).toBe(MINE);
    expect(repertoire.at("black", START)).toBeUndefined();
  });

  test("a missed position comes back tomorrow, by the code of the mistakes", () => {
    const repertoire = Repertoire.of(OPENINGS);
    expect(repertoire.plan(schedule, "both")).toEqual({ due: [], fresh: [MINE, DARK], next: null });
    schedule.attempt(cardOf(repertoire.owner, START.split(" ").slice(0, 4).join(" ")))("failed");
    expect(repertoire.plan(schedule, "both")).toEqual({ due: [], fresh: [DARK], next: 1 });
    now = new Date(2026, 2, 3, 0, 1);
    expect(repertoire.plan(schedule, "white")).toEqual({ due: [MINE], fresh: [], next: null });
  });

  test("the moves before a position are written from the first one on", () => {
    const to = (move: string, san: string, fen: string) => ({ ...played(move, san, 3), to: fen });
    const first = position(START, [to("e2e4", "e4", "e4 b - -")]);
    const reply = position("e4 b - -", [to("e7e5", "e5", "e5 w - -")], { own: false, line: ["e2e4"] });
    const second = position("e5 w - -", [to("g1f3", "Nf3", "")], { line: ["e2e4", "e7e5"] });
    const repertoire = Repertoire.of({ ...OPENINGS, positions: [first, reply, second] });
    expect([first, second, { ...second, line: ["d2d4"] }].map((each) => repertoire.before(each))).toEqual([[], ["e4", "e5"], []]);
  });

  test("a position that only a rejected usual move leads to is not asked", () => {
    const to = (move: string, fen: string, games = 4) => ({ ...played(move, move, games), to: fen });
    const first = position(START, [to("f4", "f4 b - -"), to("e4", "e4 b - -", 2)]);
    const gambit = position("f4 b - -", [to("e5", "f4e5 w - -"), to("d5", "d5 w - -", 2)], { own: false, line: ["f4"] });
    const king = position("e4 b - -", [to("d5", "d5 w - -", 2)], { own: false, line: ["e4"] });
    const after = position("f4e5 w - -", [to("c4", "")], { line: ["f4", "e5"] });
    const both = position("d5 w - -", [to("d4", "")], { line: ["f4", "d5"] });
    const repertoire = Repertoire.of({ ...OPENINGS, positions: [first, gambit, after, king, both] });
    expect(repertoire.plan(schedule, "both").fresh).toEqual([first, after, both]);
    expect(repertoire.plan(schedule, "both", (each) => each === first).fresh).toEqual([first, both]);
  });

  test("openings have new cards of their own: mistakes of the day take none of them", () => {
    for (let at = 0; at < NEW_A_DAY; at += 1) schedule.attempt(cardOf(OPENINGS.player, `p${at}`))("first");
    expect(Repertoire.of(OPENINGS).plan(schedule, "both").fresh).toHaveLength(2);
  });
});

describe("a tried move", () => {
  test("is the usual one, another own one, or none", () => {
    expect(tried(MINE, "e2e4", null)).toBe("usual");
    expect(tried(MINE, "d2d4", null)).toBe("also");
    expect(tried(MINE, "b2b4", null)).toBe("other");
    expect(tried(MINE, "a2a3", null)).toBe("other");
  });

  test("where the usual one loses ten points the better one is wanted", () => {
    const flaw = flawOf(MINE, { loss: 0.1, best: better });
    expect(flaw).toEqual({ loss: 0.1, best: better });
    expect(tried(MINE, "e2e4", flaw)).toBe("flawed");
    expect(tried(MINE, "d2d4", flaw)).toBe("better");
    expect(flawOf(MINE, { loss: 0.099, best: better })).toBeNull();
    expect(flawOf(MINE, { loss: 0.2, best: { move: "e2e4", san: "e4" } })).toBeNull();
    expect(flawOf(MINE, undefined)).toBeNull();
  });
});

describe("answers", () => {
  test("the network at the rating and the own games count together", () => {
    const all = replies(ANSWERS, FOUND, 1500);
    expect(all.map(({ san, p, games }) => [san, p, games])).toEqual([["e5", 0.2, 6], ["c5", 0.5, 2], ["e6", 0.3, 0]]);
    expect(all[0]!.weight).toBeCloseTo((6 + 10 * 0.2) / 18);
    expect(all[1]!.weight).toBeCloseTo((2 + 10 * 0.5) / 18);
    expect(shownReplies([...all, { move: "h7h5", san: "h5", p: 0.01, games: 0, weight: 0.01 }])).toEqual(all);
  });

  test("each alone is enough", () => {
    expect(replies(undefined, FOUND, 1500).map(({ san }) => san)).toEqual(["c5", "e6", "e5"]);
    expect(replies(ANSWERS, null, 1500).map(({ weight }) => weight)).toEqual([0.75, 0.25]);
    expect(replies(undefined, null, 1500)).toEqual([]);
  });

  test("one is drawn by its weight", () => {
    const all = replies(ANSWERS, null, 1500);
    expect([0, 0.74, 0.76, 0.999].map((chance) => draw(all, chance)?.san)).toEqual(["e5", "e5", "c5", "c5"]);
    expect(draw([], 0.5)).toBeUndefined();
  });

  test("the rating is the player's, in hundreds and within what the network knows", () => {
    const rated = (rating: number | null): number => Repertoire.of({ ...OPENINGS, rating }).rating;
    expect([1538, 1551, 400, 3100, null].map(rated)).toEqual([1500, 1600, 800, 2800, 1500]);
  });
});

describe("what is kept", () => {
  test("the same cards come after the board was started again, and no name is kept", () => {
    const repertoire = Repertoire.of({ ...OPENINGS, left: [{ game: 1, ply: 1, side: "white", san: "a3", usual: "e4", usual_games: 8, opening: null, before: [], line: [], date: "", opponent: "Bo", opponent_rating: null }] });
    schedule.attempt(cardOf(repertoire.owner, START.split(" ").slice(0, 4).join(" ")))("failed");
    keepOpenings(repertoire);
    const again = keptOpenings()!;
    expect(again.plan(schedule, "both")).toEqual({ due: [], fresh: [DARK], next: 1 });
    expect([again.rating, again.games, again.left]).toEqual([1500, 12, []]);
    expect(localStorage.getItem("kibitz-openings")).not.toMatch(/ana|mu|"bo"/i);
  });

  test.each(["", "{", "7", "[]", '{"owner": "x"}', '{"owner": "x", "games": 1, "positions": [{}]}', '{"owner": "x", "games": 1, "positions": [null]}'])("%j is none", (text) => {
    localStorage.setItem("kibitz-openings", text);
    expect(keptOpenings()).toBeNull();
  });
});

test("two positions that differ in a capture in passing alone are told apart", () => {
  const here = "rnbqkbnr/ppp2ppp/4p3/3pP3/8/8/PPPP1PPP/RNBQKBNR w KQkq";
  const without = position(`${here} - 0 3`, [played("d2d4", "d4", 5)], { line: ["e2e4", "d7d5", "e4e5", "e7e6"] });
  const passing = position(`${here} d6 0 3`, [played("e5d6", "exd6", 2)], { line: ["e2e4", "e7e6", "e4e5", "d7d5"] });
  const repertoire = Repertoire.of({ ...OPENINGS, positions: [without, passing] });
  expect(repertoire.at("white", without.fen)).toBe(without);
  expect(repertoire.at("white", passing.fen)).toBe(passing);
  // Of a square that no pawn can capture on, the more frequent one is meant.
  expect(repertoire.at("white", `${here} a6 0 3`)).toBe(without);
});

test.each([{ score: "x" }, { score: undefined }, { to: 7 }, { to: undefined }])("a kept move with %j is none", (fault) => {
  keepOpenings(Repertoire.of({ ...OPENINGS, positions: [MINE] }));
  expect(keptOpenings()!.positions).toEqual([MINE]);
  keepOpenings(Repertoire.of({ ...OPENINGS, positions: [{ ...MINE, played: [{ ...MINE.played[0]!, ...fault } as never] }] }));
  expect(keptOpenings()).toBeNull();
});

test("a kept opening without a name is none", () => {
  keepOpenings(Repertoire.of({ ...OPENINGS, positions: [{ ...MINE, opening: { eco: "A00" } as never }] }));
  expect(keptOpenings()).toBeNull();
});
