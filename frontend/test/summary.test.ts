/** The summary of a game: what is asked about it, and where its counts lead. */

import { beforeEach, expect, test, vi } from "vitest";

import { judgedGame, nextMistake, pending } from "../src/analysis/summary";
import { Mistakes } from "../src/analysis/mistakes";
import { displayedChance } from "../src/app/displayed";
import { shown } from "../src/board/overlays";
import { type Judgement, Judging } from "../src/server/judging";
import type { App, Result } from "../src/app/state";
import { chess, find, go, network, page } from "./support/games";

let app: App;
let judged: Map<number, Judgement>;
let results: Map<number, Result>;
let mistakes: Mistakes;

function sit(game = chess("e4 e5 Qh5 Nc6 Qxe5 Nxe5 d4")): void {
  app = page(game, [network(game.kind === "go" ? "gohuman" : "winner", { game: game.kind })]);
  judged = new Map();
  results = new Map();
  app.analyser.result = (_, id) => results.get(id);
  const exact = (id: number): Judgement | undefined => judged.get(id);
  const judging = { possible: true, progress: "", of: exact, exact, searched: () => true, value: (id: number) => exact(id)?.white.after ?? null } as unknown as Judging;
  mistakes = new Mistakes(app, judging);
}

/** White's chance after each position of the line, and what its move lost. */
function judge(...positions: [number, number][]): void {
  positions.forEach(([after, loss], place) => {
    const id = app.path[place]!;
    judged.set(id, { ply: place, loss, mark: "", best: { move: "best", san: "Nf3" }, line: ["Nf3"], only: false, exact: true, white: { before: null, after } });
  });
  app.emit("judgements");
}

const GAME: [number, number][] = [[0.5, 0], [0.5, 0], [0.5, 0], [0.4, 0.1], [0.4, 0], [0.05, 0.35], [0.05, 0], [0.05, 0]];

beforeEach(() => sit());

test("a game is asked about once all of it is judged", () => {
  judge(...GAME.slice(0, 7));
  expect(judgedGame(app, mistakes)).toBeNull();
  judge(...GAME);
  expect(judgedGame(app, mistakes)).toEqual({
    game: "chess",
    values: [0.5, 0.5, 0.5, 0.4, 0.4, 0.05, 0.05, 0.05],
    movers: ["white", "black", "white", "black", "white", "black", "white"],
    losses: [0, 0, 0.1, 0, 0.35, 0, 0],
    marks: ["", "", "?!", "", "??", "", ""],
  });
});

test("a summary that is not complete says how far the check is", () => {
  const check = { possible: true, progress: "Checking 2 of 7" };
  Object.assign(mistakes.judging, check);
  expect(pending(app, mistakes)).toBe("Checking 2 of 7");
  expect(judgedGame(app, mistakes)).toBeNull();
  // The network's own values come first.
  const at = vi.spyOn(app.analyser, "busy", "get").mockReturnValue(true);
  Object.assign(app.analyser, { done: 3, total: 8 });
  expect(pending(app, mistakes)).toMatch(/3\D+8/);
  at.mockReturnValue(false);
  Object.assign(mistakes.judging, { progress: "" });
  expect(pending(app, mistakes)).toBe("");
});

test("a variation, a short game and hidden hints have no progress of a summary", () => {
  const progress = (text: string): string => {
    sit(chess(text));
    Object.assign(mistakes.judging, { progress: "Checking" });
    return pending(app, mistakes);
  };
  expect(progress("e4 e5 Qh5 Nc6 Qxe5 Nxe5")).toBe("Checking");
  expect(progress("e4 e5 Qh5 Nc6 Qxe5")).toBe("");
  expect(progress("e4 e5 Qh5 Nc6 Qxe5 Nxe5 (d6 Qh5 Nf6)")).toBe("Checking");
  app.go(find(app.game, "Nf6").id);
  expect(pending(app, mistakes)).toBe("");
  app.go(app.game.root);
  app.go(find(app.game, "Nxe5").id);
  expect(pending(app, mistakes)).toBe("Checking");
  app.hints = false;
  expect(pending(app, mistakes)).toBe("");
});

test("a variation has no summary", () => {
  sit(chess("e4 e5 Qh5 Nc6 Qxe5 Nxe5 (d6 Qh5 Nf6) d4"));
  judge(...GAME);
  expect(judgedGame(app, mistakes)).not.toBeNull();
  app.go(find(app.game, "Nf6").id);
  judge(...GAME);
  expect(judgedGame(app, mistakes)).toBeNull();
});

test("of Go the points count that the network sees lost", () => {
  sit(go("C3 G7 C7 G3 E5 E3"));
  const scores = [0, 2, -1, 1, 1, 5, 4];
  app.path.forEach((id, place) => results.set(id, { ply: place, black: 0.5, score: scores[place]! } as Result));
  expect(judgedGame(app, mistakes)?.losses).toEqual([0, 0, 0, 0, 0, 0]);
  results.set(app.path[3]!, { ply: 3, black: 0.2, score: -4 } as Result);
  expect(judgedGame(app, mistakes)?.losses).toEqual([0, 0, 3, 5, 0, 0]);
});

test("of Go a search of a move counts, not what the network sees lost by itself", () => {
  sit(go("C3 G7 C7 G3 E5 E3"));
  app.path.forEach((id, place) => results.set(id, { ply: place, black: 0.5, score: 0 } as Result));
  const { id, ply } = find(app.game, "C7");
  const found: Judgement = { ply, loss: 0.3, mark: "?", points: 6.5, best: { move: "E5", san: "E5" }, line: [], only: false, exact: true, white: { before: null, after: 0.5 } };
  judged.set(id, found);
  expect(judgedGame(app, mistakes)?.losses).toEqual([0, 0, 6.5, 0, 0, 0]);
});

test("of Go the network's own first choice loses nothing, and a large fall of its lead is searched first", () => {
  sit(go("C3 G7 C7 G3 E5 E3"));
  const scores = [0, 0, 0, 0, -2, -2, -2];
  app.path.forEach((id, place) => results.set(id, { ply: place, black: 0.5, score: scores[place]!, moves: [] } as unknown as Result));
  const before = app.path[3]!;
  const judging = new Judging(app);
  Object.assign(results.get(app.path[2]!)!, { score: 3 });
  // C7 lost 3 points by the network, which is nearly a mistake; G3 gained 2 for White.
  expect(judging.searched(before)).toBe(true);
  expect(judging.searched(app.path[4]!)).toBe(false);
  Object.assign(results.get(app.path[2]!)!, { moves: [{ move: "C7", san: "C7", p: 0.5 }] });
  expect(judging.searched(before)).toBe(false);
  expect(judgedGame(app, mistakes)?.losses).toEqual([0, 3, 0, 0, 0, 0]);
});

test("passes that end a game of Go cost nothing, and from the last stone on the count is the value", () => {
  sit(go("C3 G7 C7 G3 E5 pass pass"));
  const chances = [0.5, 0.6, 0.7, 0.8, 0.9, 0.9, 0.67, 0.4];
  app.path.forEach((id, place) => results.set(id, { ply: place, black: chances[place]!, score: 20 * chances[place]! } as Result));
  const [last, first, second] = app.path.slice(-3) as [number, number, number];
  // As long as the game is not over, a pass is a move like others.
  expect(judgedGame(app, mistakes)?.values.at(-1)).toBe(0.4);
  expect(new Judging(app).searched(first)).toBe(false);
  app.node(second).end = "passes";
  shown.counts.set(second, { black: 1, score: 5.5, owners: [], dead: [] });
  const judged = judgedGame(app, mistakes)!;
  expect(judged.values).toEqual([0.5, 0.6, 0.7, 0.8, 0.9, 1, 1, 1]);
  expect(judged.leads).toEqual([10, 12, 14, 16, 18, 5.5, 5.5, 5.5]);
  expect(judged.losses.slice(-2)).toEqual([0, 0]);
  expect(new Judging(app).searched(second)).toBe(false);
  // So does the graph.
  const value = (id: number): number | undefined => displayedChance(app, { value: () => null } as unknown as Judging, id)?.chance;
  expect([last, first, second].map(value)).toEqual([1, 1, 1]);
  shown.counts.clear();
});

test("of Go the turning point does not depend on which positions a search has seen", () => {
  sit(go("C3 G7 C7 G3 E5 E3"));
  app.path.forEach((id, place) => results.set(id, { ply: place, black: 0.5, score: 0 } as Result));
  Object.assign(mistakes.judging, { value: () => 0.9 });
  expect(judgedGame(app, mistakes)?.values).toEqual([0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5]);
});

test("the counts of a player open one mistake after the other", () => {
  judge([0.5, 0], [0.4, 0.1], [0.5, 0.1], [0.4, 0.1], [0.4, 0], [0.3, 0.1], [0.3, 0], [0.3, 0]);
  const found = [];
  for (let turn = 0; turn < 4; turn += 1) {
    const next = nextMistake(app, mistakes, "white", "?!")!;
    found.push(app.node(next.id).san);
    app.go(app.node(next.id).parent!);
  }
  // The position before the first move is shown at the beginning.
  expect(found).toEqual(["Qh5", "Qxe5", "e4", "Qh5"]);
  expect(nextMistake(app, mistakes, "white", "??")).toBeUndefined();
  expect(app.node(nextMistake(app, mistakes, "black", "?!")!.id).san).toBe("e5");
});

test("the summary of a record has all marks also where the page hides them", () => {
  judge(...GAME);
  const marks = judgedGame(app, mistakes)!.marks;
  expect(marks).toContain("??");
  app.hints = false;
  expect(judgedGame(app, mistakes)!.marks).toEqual(marks);
});
