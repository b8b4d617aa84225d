/** Marks: what a search says a move lost. */

import { beforeEach, expect, test } from "vitest";

import { type Judgement, lostBy, type Judging } from "../src/server/judging";
import { lostPercent, Mistakes } from "../src/analysis/mistakes";
import type { App, Result } from "../src/app/state";
import { judgeOf, grave, verdict } from "../src/play/teaching";
import { texts } from "../src/texts";
import { chess, find, go, network, page } from "./support/games";

let app: App;
let judged: Map<number, Judgement>;
let results: Map<number, Result>;
let mistakes: Mistakes;

function sit(game = chess("e4 e5 Qh5 Nc6 Qxe5 Nxe5")): void {
  app = page(game, [network(game.kind === "go" ? "gohuman" : "winner", { game: game.kind })]);
  judged = new Map();
  results = new Map();
  app.result = (_, id) => results.get(id);
  const judging = {
    possible: true,
    of: (id: number) => judged.get(id),
    exact: (id: number) => (judged.get(id)?.exact ? judged.get(id) : undefined),
    searched: (id: number) => app.game.kind === "chess" || (lostBy(app, app.node(id)) ?? 0) >= 0.05,
  } as unknown as Judging;
  mistakes = new Mistakes(app, judging);
}

function judge(san: string, loss: number, more: Partial<Judgement> = {}): void {
  const node = find(app.game, san);
  const known = { mark: "", best: { move: "best", san: "Nf3" }, line: ["Nf3", "Nc6"], only: false, exact: true } as const;
  judged.set(node.id, { ply: node.ply, loss, white: { before: null, after: null }, ...known, line: [...known.line], ...more });
  app.emit("judgements");
}

const mark = (san: string): string | undefined => mistakes.sign(find(app.game, san).id)?.text;

beforeEach(() => sit());

test("the mark of a move is how much of the chance it lost", () => {
  const losses = [0.09, 0.1, 0.19, 0.2, 0.29, 0.3];
  ["e4", "e5", "Qh5", "Nc6", "Qxe5", "Nxe5"].forEach((san, at) => judge(san, losses[at]!));
  expect(["e4", "e5", "Qh5", "Nc6", "Qxe5", "Nxe5"].map(mark)).toEqual([undefined, "?!", "?!", "?", "?", "??"]);
  expect(mistakes.all.map(({ word }) => word)).toEqual(["inaccuracy", "inaccuracy", "mistake", "mistake", "blunder"]);
});

test("the loss is the server's, also of the best move, so that an accuracy is that of kibitz analyze", () => {
  judge("Qxe5", 0.0072, { best: { move: "Qxe5", san: "Qxe5" } });
  expect([mistakes.lost(find(app.game, "Qxe5").id), mark("Qxe5")]).toEqual([0.0072, undefined]);
});

test("a quick look gives a dot, and a search the mark", () => {
  judge("Qxe5", 0.4, { exact: false });
  expect([mark("Qxe5"), mistakes.doubts.length, mistakes.all.length]).toEqual(["•", 1, 0]);
  judge("Qxe5", 0.05, { exact: false });
  expect(mark("Qxe5")).toBeUndefined();
  judge("Qxe5", 0.45);
  expect([mark("Qxe5"), mistakes.doubts.length]).toEqual(["??", 0]);
});

test("a mark says what was lost, what was better, and where the game opens", () => {
  judge("Qxe5", 0.45);
  const sign = mistakes.sign(find(app.game, "Qxe5").id)!;
  for (const part of ["Qxe5??", "45", "Nf3 Nc6"]) expect(sign.words).toContain(part);
  expect(sign.label).toContain("3. Qxe5");
  expect([sign.name, sign.mistake]).toEqual(["blunder", true]);
});

test("a mark has the reason in the language of the page, if there is one", () => {
  judge("Qxe5", 0.45, { reason: { code: "loses", texts: { en: "Loses the queen.", de: "Verliert die Dame." } } });
  expect(mistakes.sign(find(app.game, "Qxe5").id)!.reason).toBe("Loses the queen.");
});

test("a mark without a proven reason has its loss and the better line, if the record does not have it", () => {
  judge("Qxe5", 0.45);
  const lines = [{ instead: true, moves: ["best"], written: "Nf3" }];
  expect(mistakes.sign(find(app.game, "Qxe5").id)).toMatchObject({ reason: texts.mistakes.instead(45, "Nf3 Nc6"), lines });
  judge("Qxe5", 0.45, { points: 3.6 });
  expect(mistakes.sign(find(app.game, "Qxe5").id)!.reason).toBe(texts.mistakes.insteadPoints(3.6, "Nf3 Nc6"));
  judge("Qxe5", 0.45, { line: [] });
  expect(mistakes.sign(find(app.game, "Qxe5").id)).not.toHaveProperty("reason");
  judge("Qxe5", 0.45);
  find(app.game, "Qxe5").comment = "better: Nf3";
  app.emit("judgements");
  expect(mistakes.sign(find(app.game, "Qxe5").id)).not.toHaveProperty("reason");
});

test("an only move has a sign that is no mistake", () => {
  judge("Qh5", 0, { only: true });
  const sign = mistakes.sign(find(app.game, "Qh5").id)!;
  expect([sign.text, sign.mistake]).toEqual(["□", false]);
});

test("without hints there are no marks, and another network begins anew", () => {
  judge("Qxe5", 0.45);
  app.set({ hints: false });
  expect([mark("Qxe5"), mistakes.all, mistakes.doubts]).toEqual([undefined, [], []]);
  app.set({ hints: true });
  expect(mark("Qxe5")).toBe("??");
  judged.clear();
  app.networks = [network("other")];
  app.network = "other";
  app.emit("networks");
  expect(mark("Qxe5")).toBeUndefined();
});

test("of Go the search's own mark counts, with its points; what the network alone doubts has a dot", () => {
  sit(go("E5 C3 A1"));
  const ids = app.path;
  [0.6, 0.6, 0.6, 0.3].forEach((black, at) => results.set(ids[at]!, { ply: at, black }));
  expect([mark("E5"), mark("A1")]).toEqual([undefined, "•"]);
  judge("A1", 0.05, { mark: "??", points: 9 });
  expect(mark("A1")).toBe("??");
  expect(mistakes.sign(find(app.game, "A1").id)!.words).toContain("9");
  judge("A1", 0.9, { mark: "" });
  expect(mark("A1")).toBeUndefined();
});

test("what a move cost by the network alone is told of the one who moved", () => {
  const set = (...chances: number[]): void => chances.forEach((white, at) => results.set(app.path[at]!, { ply: at, white }));
  set(0.5, 0.4, 0.7);
  expect(lostBy(app, find(app.game, "e4"))).toBeCloseTo(0.1);
  expect(lostBy(app, find(app.game, "e5"))).toBeCloseTo(0.3);
  expect(lostBy(app, find(app.game, "Qh5"))).toBeNull();
  expect(lostBy(app, app.node(app.game.root))).toBeNull();
});

test("who judges a person's move: the opponent, else the network that is looked at, else any that can", () => {
  const moves = network("moves", { answers: ["moves"] });
  app.networks = [moves, network("broken", { problem: "no model" }), network("a"), network("b")];
  app.network = "b";
  expect([judgeOf(app, "a"), judgeOf(app, "moves"), judgeOf(app, "fish")]).toEqual(["a", "b", "b"]);
  app.network = "moves";
  expect(judgeOf(app, "broken")).toBe("a");
  app.networks = [moves];
  expect(judgeOf(app, "moves")).toBeNull();
  sit(go("E5"));
  app.networks = [network("small", { game: "go", sizes: [13] }), network("all", { game: "go", sizes: [] })];
  expect(judgeOf(app, "small")).toBe("all");
});

test("a mistake or a blunder is told, with its cost", () => {
  const check = (mark: string, points: number | null = null) => ({ mark, loss: 0.4, before: 0.5, after: 0.05, points, reply: [] }) as never;
  expect(["", "?!", "?", "??"].map((each) => grave(check(each)))).toEqual([false, false, true, true]);
  expect(verdict("Qxe5", check("??"))).toMatch(/Qxe5\?\?.*50%.*5%/);
  expect(verdict("A1", check("?", 9.26))).toContain("9.3");
});

test("a loss is written with as many decimals as its mark needs", () => {
  expect([0.199, 0.1996, 0.2, 0.2049, 0.29996, 0.0999, 0.5].map(lostPercent)).toEqual([19.9, 19.96, 20, 20, 29.996, 9.99, 50]);
  expect(texts.common.percent(lostPercent(0.1996) / 100, 4)).toBe("19.96%");
  expect(texts.mistakes.lost("Qb6", lostPercent(0.1996), "e4")).toContain("19.96 percentage points");
  expect(mistakes.percent(0.1996)).toBe(19.96);
  sit(go("C3 G7"));
  expect(mistakes.percent(0.1996)).toBe(20);
});
