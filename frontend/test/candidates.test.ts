/** Values of single moves by a search: what is kept of them when somebody steps on. */

import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { Candidates } from "../src/analysis/candidates";
import { displayedChance, displayedLead } from "../src/app/displayed";
import { Judging } from "../src/server/judging";
import type { Opinion } from "../src/server/api";
import type { Result } from "../src/app/state";
import { chess, find, go, network, page } from "./support/games";
import { Server, until } from "./support/server";

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("document", { visibilityState: "visible", addEventListener: () => undefined });
  vi.stubGlobal("IntersectionObserver", class { observe(): void {} });
});

afterEach(() => vi.useRealTimers());

const host = { offsetParent: {} } as HTMLElement;
const line = (move: string, white: number): { moves: string[]; san: string[]; white: number } => ({ moves: [move], san: [move], white });

test("a search that is done stays known where somebody steps on before the values of more moves", async () => {
  const app = page(chess("e4 e5"), [network("human")]);
  app.result = () => ({ ply: 0, moves: ["a", "b"].map((move) => ({ move, san: move, p: 0.4 })) }) as Result;
  const asked: Record<string, unknown>[] = [];
  let said: (found: Opinion) => void = () => undefined;
  let answer: (found: Opinion) => void = () => undefined;
  app.api.candidates = (body, found) => {
    asked.push(body);
    said = found;
    return new Promise((resolve) => (answer = resolve));
  };
  const judging = new Judging(app);
  const candidates = new Candidates(app, host, () => undefined, judging);
  const look = async (): Promise<string[]> => {
    candidates.of(app.networks[0]);
    await vi.advanceTimersByTimeAsync(1000);
    return candidates.of(app.networks[0]).lines.map(({ moves }) => moves[0]!);
  };
  await look();
  const running = (): boolean => candidates.of(app.networks[0]).running === true;
  expect(running()).toBe(true);
  said({ lines: [line("a", 0.3)] });
  expect(await look()).toEqual(["a"]);
  expect(running()).toBe(true);
  const { id } = app.node();
  expect(judging.value(id)).toBeNull();
  said({ lines: [line("a", 0.6)], searched: true, risk: [0.1] });
  expect(judging.value(id)).toBe(0.6);
  expect(running()).toBe(false);
  said({ lines: [line("a", 0.6)], risk: [0.1] });
  expect(running()).toBe(false);
  app.go(find(app.game, "e4").id);
  await look();
  app.go(id);
  expect(await look()).toEqual(["a"]);
  // Only what is missing is asked for.
  expect(asked.map(({ moves, searched }) => [moves, searched])).toEqual([[["a", "b"], undefined], [["a", "b"], undefined], [["b"], true]]);
  answer({ lines: [line("b", 0.5)] });
  expect(await look()).toEqual(["a", "b"]);
  expect(candidates.of(app.networks[0])).toMatchObject({ risk: [0.1] });
  expect(judging.value(id)).toBe(0.6);
  app.go(find(app.game, "e4").id);
  app.go(id);
  expect(await look()).toEqual(["a", "b"]);
  expect(asked).toHaveLength(3);
});

test("a search that fails is not waited for", async () => {
  const app = page(chess("e4"), [network("human")]);
  app.result = () => ({ ply: 0, moves: [] }) as unknown as Result;
  let fail: (why: Error) => void = () => undefined;
  app.api.candidates = () => new Promise((_, reject) => (fail = reject));
  const candidates = new Candidates(app, host, () => undefined, new Judging(app));
  expect(candidates.of(app.networks[0]).running).toBe(true);
  await vi.advanceTimersByTimeAsync(1000);
  fail(new Error("gone"));
  await vi.advanceTimersByTimeAsync(0);
  expect(candidates.of(app.networks[0])).toEqual({ lines: [], risk: null });
});

test("a move of the game has the value of the position after it, but the best line has that of the position", async () => {
  const app = page(chess("e4"), [network("human")]);
  app.result = () => ({ ply: 0, moves: [] }) as unknown as Result;
  app.go(app.node().parent ?? app.game.root);
  const played = find(app.game, "e4");
  let lines = [line("d2d4", 0.6), line(played.move!, 0.5)];
  app.api.candidates = async () => ({ lines });
  const judging = new Judging(app);
  const values = async (): Promise<unknown[]> => {
    const candidates = new Candidates(app, host, () => undefined, judging);
    candidates.of(app.networks[0]);
    await vi.advanceTimersByTimeAsync(1000);
    return candidates.of(app.networks[0]).lines.map(({ white }) => white);
  };
  expect(await values()).toEqual([0.6, 0.5]);
  judging.learn(played.id, "human", 0.2);
  expect(await values()).toEqual([0.6, 0.2]);
  lines = lines.reverse();
  expect(await values()).toEqual([0.5, 0.6]);
});

test("of Go a search gives the lead with the value: the graph and the number have the same", async () => {
  const server = new Server();
  const app = page(go("E5 C3 G7"), [network("gohuman", { game: "go" })]);
  const [root, first, second] = app.path as [number, number, number, number];
  app.analyser.result = (_, id) => ({ ply: app.node(id).ply, black: id === second ? 0.99 : 0.9, score: 12.5, moves: [] });
  const judging = new Judging(app);
  const both = (id: number): unknown[] => [displayedChance(app, judging, id), displayedLead(app, judging, id)];
  expect(both(first)).toEqual([{ chance: 0.9, source: "network" }, { lead: 12.5, source: "network" }]);
  // A move that is checked: before White's C3 the search says 50% and W+2.2. Its lead is the mover's.
  server.on("check", ({ line }) => [{ done: true, loss: 0, mark: "", points: 0, before: 0.5, after: 0.5, reply: [], ...(line.moves.length === 2 ? { lead: 2.2 } : {}) }]);
  judging.soon(second);
  await until(() => judging.value(first) !== null);
  expect(both(first)).toEqual([{ chance: 0.5, source: "search" }, { lead: -2.2, source: "search" }]);
  // The search of the position that is looked at.
  judging.learn(root, "gohuman", 0.4, -3);
  expect(both(root)).toEqual([{ chance: 0.4, source: "search" }, { lead: -3, source: "search" }]);
});
