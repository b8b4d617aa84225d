/** The first line of the analysis, and the numbers on the arrows. */

import { expect, test } from "vitest";

import { Chance, inWords, leadBeside } from "../src/app/chance";
import { arrows, inPieces } from "../src/board/chessboard";
import { texts } from "../src/texts";
import { type Fake, withDocument } from "./support/document";
import { network } from "./support/games";

const claim = { name: "White's expected score", short: "score", note: "" };
const words = (chance: Chance): string[] => {
  const [line] = (chance.element as unknown as Fake).children as Fake[];
  const [name, number, said] = line!.children as Fake[];
  return [name!.textContent, number!.textContent, (said!.children[0] as Fake).textContent];
};

test("the line begins with the side and its number, then says what it means", () => {
  withDocument();
  const chance = new Chance();
  chance.draw("chess", network("human", { claim }), { chance: 0.85, source: "search" }, null);
  expect(words(chance)).toEqual(["White", "85%", texts.chance.much("White")]);
  chance.draw("go", network("gohuman", { game: "go", claim: { ...claim, name: "Black's win probability" } }), { chance: 0.2, source: "search" }, null);
  expect(words(chance)).toEqual(["Black", "20%", texts.chance.much("White")]);
  // Of a number that is something else, the line says what it is.
  const other = { ...claim, name: "White's probability of standing better" };
  chance.draw("chess", network("deepchess", { claim: other }), { chance: 0.85, source: "search" }, null);
  expect(words(chance)[2]).toBe("Probability that White is better");
  // Beside another board there is room for the name alone.
  chance.draw("chess", network("human", { claim }), { chance: 0.85, source: "search" }, null, true);
  expect(words(chance)[0]).toBe("White’s expected score");
});

test("the words follow the percentage alone, and no lead beside them names the other side", () => {
  const both = (p: number, lead: number): string[] => [inWords("go", p), leadBeside(p, lead)];
  const { even, evenPoints, leads, little } = texts.chance;
  // Where the percentage names nobody, the lead is told as it is.
  expect(both(0.53, -1)).toEqual([even, leads("White", 1)]);
  expect(both(0.5, 0.2)).toEqual([even, evenPoints]);
  expect(both(0.52, -6)).toEqual([even, leads("White", 6)]);
  expect(both(0.6, 2)).toEqual([little("Black"), leads("Black", 2)]);
  expect(both(0.6, -0.2)).toEqual([little("Black"), evenPoints]);
  for (const [p, lead] of [[0.8, -1], [0.6, -2], [0.2, 3]] as const) expect(leadBeside(p, lead)).toBe("");
  withDocument();
  const chance = new Chance();
  chance.draw("go", network("gohuman", { game: "go", claim: { ...claim, name: "Black's win probability" } }), { chance: 0.53, source: "search" }, -1);
  const [, , score] = (chance.element as unknown as Fake).children as Fake[];
  expect([words(chance)[2], score!.textContent, score!.hidden]).toEqual([even, leads("White", 1), false]);
  expect(inWords("chess", 0.53)).toBe(even);
});

test("arrows of 5% and more have a number, and the best move by a search a color of its own", () => {
  const moves = [
    { move: "e2e4", san: "e4", p: 0.03 },
    { move: "d2d4", san: "d4", p: 0.6 },
    { move: "c2c4", san: "c4", p: 0.05 },
  ];
  const drawn = (best: boolean, small = false): (string | undefined)[][] => arrows({ moves, best }, small).map(({ brush, label }) => [brush, label?.text]);
  expect(drawn(true)).toEqual([["other", "5"], ["other", "60"], ["best", undefined]]);
  expect(drawn(false).at(-1)).toEqual(["first", undefined]);
  expect(drawn(true, true).map(([, label]) => label)).toEqual([undefined, undefined, undefined]);
});

test("the pieces of a board are also in words", () => {
  expect(inPieces("4k3/8/8/3q4/8/1P5P/P7/R3K2R")).toBe("White: Ke1, Ra1, Rh1, pawns a2, b3, h3. Black: Ke8, Qd5.");
});

test("an engine is not named beside a value that the rules give", () => {
  withDocument();
  const chance = new Chance();
  chance.by = "GNU Go 3.8";
  const named = (source: "rules" | "search"): boolean => {
    chance.draw("go", network("gohuman", { game: "go" }), { chance: 1, source }, null);
    return chance.element.textContent!.includes("GNU Go");
  };
  expect([named("search"), named("rules")]).toEqual([true, false]);
});
