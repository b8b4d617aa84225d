import { expect, test } from "vitest";

import { grown, hashOf, read, same } from "../src/app/hash";
import { empty, START } from "../src/app/tree";
import { after, chess, find, go, network, page, words } from "./support/games";

test("the address of a game of chess and of a position in it", () => {
  const app = page(chess("e2e4 e7e5 (c7c5) g1f3"), [network("runs/a b")]);
  app.go(find(app.game, "e7e5").id);
  expect(hashOf(app)).toBe("#game=chess&moves=e2e4.e7e5.g1f3&ply=2&network=runs/a%20b");
  app.go(find(app.game, "c7c5").id);
  expect(hashOf(app, "play")).toBe("#game=chess&moves=e2e4.c7c5&ply=2&network=runs/a%20b&tab=play");
});

test("the address of a game of Go leaves out what is usual", () => {
  const app = page(go("E5 C3"));
  expect(hashOf(app)).toBe("#game=go&size=9&moves=E5.C3");
  const other = page(go("", { komi: 5.5, rules: "japanese", side: "w", setup: { B: ["C3", "G7"], W: ["E5"] } }));
  expect(hashOf(other)).toBe("#game=go&size=9&komi=5.5&rules=japanese&black=C3.G7&white=E5&side=w");
});

test("players are named, unknown ones not", () => {
  const app = page(chess("e4"));
  app.game.headers = { White: "Ann & Bo", Black: "?" };
  expect(hashOf(app)).toContain("&first=Ann%20%26%20Bo");
  expect(hashOf(app)).not.toContain("second");
  app.game.headers = { White: "x".repeat(100), Black: "Cy" };
  expect(read(hashOf(app))?.headers).toEqual({ White: "x".repeat(60), Black: "Cy" });
});

test("what is written is read again", () => {
  const fen = "4k3/8/8/8/8/3p4/8/4K2R w K - 0 1";
  const set = page(chess("h1h8"));
  set.game.start.fen = fen;
  set.go(find(set.game, "h1h8").id);
  expect(read(hashOf(set, "my/tab"))).toMatchObject({ line: { game: "chess", fen, moves: ["h1h8"] }, ply: 1, network: null, tab: "my/tab" });
  const board = page(go("A1 B2", { komi: -3.5, rules: "aga", side: "w", setup: { B: ["C3"], W: [] } }), []);
  expect(same(read(hashOf(board))!.line, board.line(board.path.at(-1)))).toBe(true);
  for (const game of [empty("chess"), empty("go", 9), empty("go", 19)]) {
    const app = page(game);
    expect(same({ ...read(hashOf(app))!.line, moves: [] }, game.start), game.kind).toBe(true);
  }
});

test("the usual start is not written as a FEN", () => {
  const app = page(chess("e2e4"));
  app.game.start.fen = START;
  expect(hashOf(app)).not.toContain("fen");
});

test("a very long line is named as far as the cursor only", () => {
  const app = page(chess(Array.from({ length: 800 }, (_, ply) => `m${ply}`).join(" ")));
  expect(read(hashOf(app))?.line.moves).toHaveLength(600);
  app.go(app.path[700]!);
  expect(read(hashOf(app))?.line.moves).toHaveLength(700);
});

test("an address may name a network or a tab alone, or nothing", () => {
  expect(read("#network=gocnn")).toMatchObject({ network: "gocnn", line: { game: "chess", moves: [] } });
  expect(read("#tab=play")).toMatchObject({ tab: "play" });
  expect(read("#fen=8/8/8/8/8/8/8/8_w_-_-_0_1")).toMatchObject({ line: { fen: "8/8/8/8/8/8/8/8 w - - 0 1" } });
  for (const nothing of ["", "#", "#something", "#ply=3"]) expect(read(nothing), nothing).toBeNull();
  expect(read("#game=go")).toMatchObject({ line: { size: 19, komi: 7.5, rules: "chinese", side: "b", setup: { B: [], W: [] }, moves: [] }, ply: 0 });
  expect(read("#game=go&ply=x&moves=..E5.")).toMatchObject({ ply: 0, line: { moves: ["E5"] } });
});

test("a line that the server has played becomes a game, at the position that is named", () => {
  const start = after("chess", { ply: -1, turn: "b" }, "");
  const one = after("chess", { ply: 0, turn: "w" }, "e4");
  const two = after("chess", { ply: 1, turn: "b" }, "e5");
  const line = { game: "chess", moves: ["e4", "e5"] } as const;
  const at = (ply: number): string => {
    const [game, id] = grown({ ...line, moves: [...line.moves] }, [start, one, two], ply, { White: "Ann" });
    expect([words(game), game.headers]).toEqual(["e4 e5", { White: "Ann" }]);
    return game.nodes.get(id)!.san;
  };
  expect([0, 1, 2, 9, -1].map(at)).toEqual(["", "e4", "e5", "e5", ""]);
});
