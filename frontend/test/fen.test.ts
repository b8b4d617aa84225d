import { describe, expect, test } from "vitest";

import { joinFen, passable, rightsOf, splitFen } from "../src/app/fen";

const START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR";

test("the parts of a FEN, and what is none", () => {
  expect(splitFen(`  ${START} b Kq e3 0 1 `)).toEqual({ placed: START, turn: "b", rights: "Kq", passed: "e3", halfmoves: 0, number: 1 });
  expect(splitFen("8/8/8/8/8/8/8/8")).toEqual({ placed: "8/8/8/8/8/8/8/8", turn: "w", rights: "-", passed: "-", halfmoves: 0, number: 1 });
  expect(splitFen("8/8/8/3pP3/8/8/8/8 x")).toMatchObject({ turn: "w" });
  for (const wrong of ["", "hello", "8/8/8/8/8/8/8", "8/8/8/8/8/8/8/9", "8/8/8/8/8/8/8/7", "8/8/8/8/8/8/8/7x", "8/8/8/8/8/8/8/44p", "8/8/8/8/8/8/8/8/8"]) {
    expect(splitFen(wrong), wrong).toBeNull();
  }
});

test("the counters of a FEN are kept, and are 0 and 1 where they are none", () => {
  expect([splitFen(`${START} w - - 12 34`)!.halfmoves, splitFen(`${START} w - - 12 34`)!.number]).toEqual([12, 34]);
  expect(joinFen(splitFen(`${START} b Kq - 12 34`)!)).toBe(`${START} b Kq - 12 34`);
  for (const wrong of ["", "x y", "-1 -2", "99999 99999", "0 0"]) expect(joinFen(splitFen(`${START} w - - ${wrong}`)!), wrong).toBe(`${START} w - - 0 1`);
});

test("castling needs the king and the rook at home", () => {
  expect(rightsOf(START)).toBe("KQkq");
  expect(rightsOf("r3k2r/8/8/8/8/8/8/R3K2R")).toBe("KQkq");
  expect(rightsOf("4k3/8/8/8/8/3p4/8/4K2R")).toBe("K");
  expect(rightsOf("r3k3/8/8/8/8/8/8/R2K3R")).toBe("q");
  expect(rightsOf("R3k2R/8/8/8/8/8/8/r3K2r")).toBe("");
  expect(rightsOf("8/8/8/8/8/8/8/8")).toBe("");
});

describe("a pawn may have been passed", () => {
  test("beside a pawn that could take it, over an empty square from an empty one", () => {
    expect(passable("rnbqkbnr/ppp1pppp/8/3pP3/8/8/PPPP1PPP/RNBQKBNR", "w")).toEqual(["d6"]);
    expect(passable("rnbqkbnr/pppp1ppp/8/8/3Pp3/8/PPP1PPPP/RNBQKBNR", "b")).toEqual(["d3"]);
    expect(passable("8/8/8/pP1pPp2/8/8/8/8", "w")).toEqual(["a6", "d6", "f6"]);
  });

  test("else not", () => {
    expect(passable("rnbqkbnr/ppp1pppp/8/3pP3/8/8/PPPP1PPP/RNBQKBNR", "b")).toEqual([]);
    expect(passable("8/8/8/3p4/8/8/8/8", "w")).toEqual([]);
    expect(passable("8/3p4/8/3pP3/8/8/8/8", "w")).toEqual([]);
    expect(passable("8/8/3n4/3pP3/8/8/8/8", "w")).toEqual([]);
    expect(passable("8/8/8/8/3pP3/8/8/8", "w")).toEqual([]);
    expect(passable(START, "w")).toEqual([]);
  });
});
