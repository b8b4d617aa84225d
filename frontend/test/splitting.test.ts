import { expect, test } from "vitest";

import { rankOf, split } from "../src/app/splitting";

const pgn = (headers: Record<string, string>, moves: string): string =>
  `${Object.entries(headers).map(([name, value]) => `[${name} "${value}"]\n`).join("")}\n${moves}\n\n`;

test("a file of PGN falls into its games, without a gap", async () => {
  const games = [
    pgn({ Event: "Open", White: "Ann", Black: "Bo", Date: "2005.01.01", Result: "1-0", WhiteElo: "1500", BlackElo: "1601" }, "1. e4 e5 1-0"),
    pgn({ Event: "?", White: "Cy", Black: "?", Date: "????.??.??", Result: "1/2-1/2" }, "1. d4 {a [bracket]\n[Not \"a header\"] here} d5 1/2-1/2"),
    pgn({ White: "?", Black: "?", Result: "0-1", BlackElo: "2000" }, "0-1"),
    pgn({ Event: "Last", White: "Di", Black: "Ed", Result: "*" }, "1. c4 *"),
  ];
  const text = games.join("");
  const parts = await split(text);
  expect(parts.map(({ begin, end }) => text.slice(begin, end))).toEqual(games);
  expect(parts.map(({ title }) => title)).toEqual([
    "Ann – Bo, 1-0, Open, 2005.01.01",
    "Cy – ?, 1/2-1/2",
    expect.stringContaining("3"),
    "Di – Ed, *, Last",
  ]);
  expect(parts.map(({ facts }) => facts)).toEqual([
    { result: "1", year: 2005, rating: 1550 },
    { result: "0", year: 0, rating: null },
    { result: "-1", year: 0, rating: 2000 },
    { result: "", year: 0, rating: null },
  ]);
});

test("headers inside a comment begin no game, but those of an event do: the bracket was forgotten", async () => {
  const text = `[Event "a"]\n[White "A"]\n\n1. e4 {[White "x"]\n[White "y"]} e5 *\n\n[Event "b"]\n\n1. d4 {not closed\n\n[Event "c"]\n\n1. c4 *\n`;
  expect((await split(text)).map(({ begin }) => text.slice(begin, begin + 11))).toEqual(['[Event "a"]', '[Event "b"]', '[Event "c"]']);
});

test("the first of two equal headers counts, and a value may hold quotation marks", async () => {
  const text = pgn({ White: 'Ann \\"the best\\"', Black: "Bo" }, "1. e4 *") + '[White "Cy"]\n[White "Di"]\n[Black "Ed"]\n\n1. d4 *\n';
  expect((await split(text)).map(({ title }) => title)).toEqual(['Ann \\"the best\\" – Bo', "Cy – Ed"]);
});

test("what is no file of games with headers is not divided", async () => {
  for (const text of ["", "1. e4 e5 *", "no game", "1. e4 e5 *\n\n[White \"Ann\"]\n\n1. d4 *\n"]) expect((await split(text)).length, text).toBeLessThan(2);
});

test("a file of SGF falls into its games; brackets inside values are none", async () => {
  const games = [
    "(;GM[1]PB[Ann]PW[Bo]BR[3k]WR[1d]RE[B+3.5]DT[2010-05-06]C[a ) and a ( and a \\] too];B[aa](;W[bb])(;W[cc]))",
    "(;PW[Di]PB[Cy \\[x\\]]RE[W+R]EV[Cup])",
    "(;RE[Jigo]BR[2p])",
    "(;RE[0])",
    "(;RE[?])",
  ];
  const text = `${games.join("\n ")}\n`;
  const parts = await split(text);
  expect(parts.map(({ begin, end }) => text.slice(begin, end))).toEqual(games);
  expect(parts.slice(0, 2).map(({ title }) => title)).toEqual(["Ann – Bo, B+3.5, 2010-05-06", "Cy [x] – Di, W+R, Cup"]);
  expect(parts.map(({ facts }) => [facts.result, facts.year, facts.rating])).toEqual([
    ["1", 2010, -1],
    ["-1", 0, null],
    ["0", 0, 12],
    ["0", 0, null],
    ["", 0, null],
  ]);
});

test("ranks as numbers", () => {
  expect(["3k", "1k", "1d", "7D", "2p", "4 dan"].map(rankOf)).toEqual([-2, 0, 1, 7, 12, 4]);
  expect(["", "strong", "k3"].map(rankOf)).toEqual([null, null, null]);
});

test("ten thousand games are divided in time", async () => {
  const text = Array.from({ length: 10_000 }, (_, i) => pgn({ White: `Player ${i}`, Black: "Bo" }, "1. e4 e5 2. Nf3 Nc6 *")).join("");
  const parts = await split(text);
  expect(parts).toHaveLength(10_000);
  expect(text.slice(parts[9876]!.begin, parts[9876]!.end)).toContain("Player 9876");
});
