import { expect, test } from "vitest";

import { add, ancestry, attach, detach, empty, loaded, numberedAnew, START, through, worth, written } from "../src/app/tree";
import { after, chess, find, go, words } from "./support/games";

const TREE = "e4 e5 (c5 Nf3 (c3 d5) d6) Nf3 Nc6";

test("an empty board of either game is known without the server", () => {
  const game = empty("chess");
  const root = game.nodes.get(game.root)!;
  expect([root.fen, root.turn, root.ply, root.children]).toEqual([START, "w", 0, []]);
  expect(root.dests).toMatchObject({ e2: ["e3", "e4"], a2: ["a3", "a4"], g1: ["f3", "h3"], b1: ["a3", "c3"] });
  expect(Object.keys(root.dests!)).toHaveLength(10);
  const board = empty("go", 13);
  const start = board.nodes.get(board.root)!;
  expect(start.stones).toBe(".".repeat(169));
  expect([start.turn, start.legal?.length, board.start.komi, board.start.side]).toEqual(["b", 169, 7.5, "b"]);
});

test("a game that the server has read keeps its variations in their order", () => {
  const tree = [
    { ...after("chess", { ply: -1, turn: "b" }, ""), id: 7, parent: null, move: null },
    { ...after("chess", { ply: 0, turn: "w" }, "e4"), id: 8, parent: 7, comment: "best", nags: [1] },
    { ...after("chess", { ply: 0, turn: "w" }, "d4"), id: 9, parent: 7 },
    { ...after("chess", { ply: 1, turn: "b" }, "c5"), id: 3, parent: 8 },
  ];
  const game = loaded({ game: "chess", headers: { White: "Ann" }, line: { game: "chess", moves: ["e4"] }, tree, games: [], count: 1, problems: [] });
  expect(words(game)).toBe("e4 (d4) c5");
  expect(game.start.moves).toEqual([]);
  expect([find(game, "e4").comment, find(game, "e4").nags, find(game, "d4").nags]).toEqual(["best", [1], []]);
  expect(game.changed).toBe(false);
});

test("no number of a position is used twice", () => {
  const [one, two] = [chess("e4 e5"), chess("e4 e5")];
  expect([...one.nodes.keys()].filter((id) => two.nodes.has(id))).toEqual([]);
  const kept = numberedAnew([...one.nodes.values()]);
  expect([...kept.nodes.keys()].filter((id) => one.nodes.has(id))).toEqual([]);
  expect(words({ ...one, nodes: kept.nodes, root: kept.of.get(one.root)! })).toBe("e4 e5");
});

test("a position is taken out with all that comes after it, and put back where it was", () => {
  const game = chess(TREE);
  const before = words(game);
  const at = find(game, "e4").children.indexOf(find(game, "c5").id);
  const taken = detach(game, find(game, "c5").id);
  expect(taken.map(({ san }) => san).sort()).toEqual(["Nf3", "c3", "c5", "d5", "d6"]);
  expect(words(game)).toBe("e4 e5 Nf3 Nc6");
  expect(game.nodes.size).toBe(5);
  attach(game, taken, at);
  expect(words(game)).toBe(before);
  const main = detach(game, find(game, "e5").id);
  expect(words(game).startsWith("e4 c5")).toBe(true);
  attach(game, main, 0);
  expect(words(game)).toBe(before);
  expect(detach(game, game.root)).toEqual([]);
  expect(words(game)).toBe(before);
});

test("lines: from the root to a position, and on to the end of it", () => {
  const game = chess(TREE);
  const sans = (ids: number[]): string => ids.map((id) => game.nodes.get(id)!.san).join(" ").trim();
  expect(sans(ancestry(game, find(game, "d5").id))).toBe("e4 c5 c3 d5");
  expect(sans(through(game, find(game, "c5").id))).toBe("e4 c5 Nf3 d6");
  expect(sans(through(game, game.root))).toBe("e4 e5 Nf3 Nc6");
  expect(ancestry(game, game.root)).toEqual([game.root]);
});

test("what is written names each parent before its children, the main line first", () => {
  const game = chess(TREE);
  const rows = written(game) as { id: number; parent: number | null; move: string | null; fen?: string }[];
  expect(rows).toHaveLength(game.nodes.size);
  rows.forEach(({ parent }, at) => expect(parent === null || rows.slice(0, at).some(({ id }) => id === parent)).toBe(true));
  expect(rows.slice(1, 5).map(({ move }) => move)).toEqual(["e4", "e5", "Nf3", "Nc6"]);
  expect(rows.filter(({ fen }) => fen).map(({ id }) => id)).toEqual([game.root]);
});

test("a game is worth keeping for its moves, its words, its drawings or a start of its own", () => {
  expect(worth(chess())).toBe(false);
  expect(worth(chess("e4"))).toBe(true);
  const root = (change: object) => {
    const game = chess();
    Object.assign(game.nodes.get(game.root)!, change);
    return game;
  };
  for (const change of [{ comment: "here" }, { nags: [1] }, { shapes: ["Gd4"] }, { props: { LB: ["aa:A"] } }]) expect(worth(root(change))).toBe(true);
  for (const change of [{ comment: "" }, { shapes: [] }, { props: {} }]) expect(worth(root(change))).toBe(false);
  expect(worth(go("", { setup: { B: ["C3"], W: [] } }))).toBe(true);
  expect(worth(go("", { setup: { B: [], W: ["C3"] } }))).toBe(true);
  expect(worth(go())).toBe(false);
  const game = chess();
  game.start.fen = "8/8/8/8/8/8/8/8 w - - 0 1";
  expect(worth(game)).toBe(true);
});

test("a move is added as the last variation", () => {
  const game = chess("e4 e5");
  add(game, find(game, "e4").id, after("chess", find(game, "e4"), "c5"));
  expect(words(game)).toBe("e4 e5 (c5)");
});
