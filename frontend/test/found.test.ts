/** What the page has found of a game, and how it is saved and copied. */

import { beforeEach, expect, test, vi } from "vitest";

import { found, progress } from "../src/analysis/found";
import { Mistakes } from "../src/analysis/mistakes";
import type { App, Result } from "../src/app/state";
import { shownLine } from "../src/library/annotated";
import { record } from "../src/library/save";
import type { Judgement, Judging } from "../src/server/judging";
import { chess, find, go, network, page } from "./support/games";
import { Server } from "./support/server";

let app: App;
let judged: Map<number, Judgement>;
let results: Map<number, Result>;
let mistakes: Mistakes;
let possible: boolean;

function sit(game = chess("e4 e5 (c5 Nf3) Qh5")): void {
  const claim = { name: "White's expected score", short: "score", note: "draws count half" };
  app = page(game, [network("human", { game: game.kind, claim })]);
  judged = new Map();
  results = new Map();
  possible = true;
  app.result = (_, id) => results.get(id);
  const exact = (id: number): Judgement | undefined => judged.get(id);
  const judging = {
    get possible() {
      return possible;
    },
    progress: "",
    of: exact,
    exact,
    searched: () => true,
    value: (id: number) => (game.kind === "chess" ? (exact(id)?.white.after ?? null) : null),
    lead: (id: number) => exact(id)?.score ?? null,
    get counts() {
      return [judged.size, app.path.length - 1];
    },
  } as unknown as Judging;
  mistakes = new Mistakes(app, judging);
}

const judge = (san: string, after: number, loss: number, more: Partial<Judgement> = {}): void => {
  const { id, ply } = find(app.game, san);
  judged.set(id, { ply, loss, mark: "", best: { move: "best", san: "Nf3" }, line: ["Nf3"], only: false, exact: true, white: { before: null, after }, ...more });
};

beforeEach(() => sit());

test("nothing is found of a game that nobody has looked at", () => {
  expect(found(app, mistakes)).toBeUndefined();
  judge("e4", 0.5, 0);
  expect(found(app, mistakes)?.notes.size).toBe(1);
});

test("values, marks and reasons of all moves, variations too", () => {
  judge("e4", 0.55, 0);
  judge("c5", 0.6, 0.12);
  judge("Qh5", 0.2, 0.35, { reason: { code: "x", texts: { en: "It hangs.", de: "Sie hängt." } } });
  const { notes, analysis } = found(app, mistakes)!;
  expect(notes.get(find(app.game, "e4").id)).toMatchObject({ value: 0.55, mark: "", loss: 0, lead: null });
  expect(notes.get(find(app.game, "c5").id)).toMatchObject({ value: 0.6, mark: "?!", loss: 0.12, line: ["Nf3"] });
  expect(notes.get(find(app.game, "Qh5").id)).toMatchObject({ value: 0.2, mark: "??", reasons: { en: "It hangs.", de: "Sie hängt." } });
  expect(notes.has(find(app.game, "e5").id)).toBe(false);
  expect(analysis).toEqual({ meaning: "draws count half", language: "en", checked_by: null, summary: null });
});

test("a mate keeps its number of moves", () => {
  judge("e4", 0.55, 0);
  judge("Qh5", 1, 0, { mate: 5 });
  const { notes } = found(app, mistakes)!;
  expect(notes.get(find(app.game, "Qh5").id)).toMatchObject({ value: 1, mate: 5 });
  expect(notes.get(find(app.game, "e4").id)).not.toHaveProperty("mate");
});

test("marks are found also where the page hides them", () => {
  judge("Qh5", 0.2, 0.35);
  app.set({ hints: false });
  expect(mistakes.of(find(app.game, "Qh5").id)).toBeUndefined();
  expect(found(app, mistakes)!.notes.get(find(app.game, "Qh5").id)!.mark).toBe("??");
});

test("the network's own values count only where nothing is searched", () => {
  results.set(find(app.game, "e4").id, { white: 0.7 } as Result);
  expect(found(app, mistakes)).toBeUndefined();
  possible = false;
  expect(found(app, mistakes)!.notes.get(find(app.game, "e4").id)!.value).toBe(0.7);
});

test("of Go Black's chance and lead, and the points that a move lost", () => {
  sit(go("C3 G7"));
  results.set(find(app.game, "C3").id, { black: 0.6, score: 2.5 } as Result);
  results.set(find(app.game, "G7").id, { black: 0.9, score: 9 } as Result);
  judge("G7", 0.1, 0.3, { mark: "?", points: 6.5, best: { move: "E5", san: "E5" } });
  const { notes } = found(app, mistakes)!;
  expect(notes.get(find(app.game, "C3").id)).toMatchObject({ value: 0.6, lead: 2.5, mark: "", points: null });
  expect(notes.get(find(app.game, "G7").id)).toMatchObject({ value: 0.9, lead: 9, mark: "?", points: 6.5, best: "E5" });
});

test("it is said how many moves are still unchecked", () => {
  judge("e4", 0.5, 0);
  expect(progress(mistakes)).toMatch(/1\D+3/);
  judge("e5", 0.5, 0);
  judge("Qh5", 0.5, 0);
  expect(progress(mistakes)).toBe("");
});

test("the record is asked for with what was found, and without it", async () => {
  const server = new Server().on("save", () => ({ text: "1. e4" }));
  judge("e4", 0.55, 0);
  expect(await record(app, found(app, mistakes))).toBe("1. e4");
  await record(app);
  const [noted, plain] = server.of("save");
  expect(noted!.analysis.meaning).toBe("draws count half");
  expect(noted!.tree.map((node: { judged?: object }) => node.judged !== undefined)).toEqual([false, true, false, false, false, false]);
  expect(plain!).not.toHaveProperty("analysis");
  expect(plain!.tree.some((node: object) => "judged" in node)).toBe(false);
  vi.unstubAllGlobals();
});

test("a page shows the line that is open, with its summary", () => {
  sit(chess("e4 e5 (c5 Nf3 d6 c3 Nf6 Nxd4) Qh5 Nc6 Qxe5 Nxe5 d4"));
  Object.assign(app.game.headers, { White: "Ann", Result: "0-1" });
  for (const { id, ply } of app.game.nodes.values()) judged.set(id, { ply, loss: 0, mark: "", best: { move: "best", san: "Nf3" }, line: [], only: false, exact: true, white: { before: null, after: 0.5 } });
  const moves = (): unknown[] => shownLine(app, mistakes).tree.slice(1).map((node) => (node as { move: string }).move);
  app.go(find(app.game, "d4").id);
  expect(moves().join(" ")).toBe("e4 e5 Qh5 Nc6 Qxe5 Nxe5 d4");
  expect(shownLine(app, mistakes)).toMatchObject({ headers: { Result: "0-1" }, analysis: { summary: { movers: { length: 7 } } } });
  app.go(find(app.game, "Nxd4").id);
  expect(moves().join(" ")).toBe("e4 c5 Nf3 d6 c3 Nf6 Nxd4");
  const { headers, analysis } = shownLine(app, mistakes);
  expect(headers).toEqual({ White: "Ann" }); // it never had this result
  expect(analysis!.summary!.movers).toHaveLength(7);
  expect(found(app, mistakes)!.analysis.summary).toBeNull(); // of a record it is that of the game
});
