/** What outlasts a reload: judgements of moves, and the form of a game against an opponent. */

import { afterEach, expect, test, vi } from "vitest";

import { type Judgement, Judging } from "../src/server/judging";
import { Mistakes } from "../src/analysis/mistakes";
import { KeptForm } from "../src/play/playform";
import { lineKeys, Remembered } from "../src/app/remembered";
import { chess, find, go, network, page } from "./support/games";
import { Server, until } from "./support/server";

afterEach(() => vi.useRealTimers());

const MOVES = "e4 e5 Qh5 Nc6";

const judgement = (ply: number): Judgement => ({
  ply,
  loss: ply === 3 ? 0.35 : 0,
  mark: "",
  best: { move: "Nf3", san: "Nf3" },
  line: ["Nf3"],
  only: false,
  white: { before: 0.5, after: 0.5 },
  exact: true,
});

/** A server that judges each move that it is asked for. */
function judges(): Server {
  const each = (make: (ply: number) => object) => ({ from, to }: Record<string, number>): object[] => [
    ...Array.from({ length: to! - from! + 1 }, (_, at) => make(from! + at)),
    { done: true },
  ];
  return new Server().on("analyse", each((ply) => ({ ply, white: 0.5 }))).on("judge", each(judgement));
}

test("moves that were judged are not judged again after a reload, and their marks are there at once", async () => {
  const server = judges();
  const before = page(chess(MOVES), [network("winner")]);
  const judging = new Judging(before);
  before.emit("path");
  await until(() => judging.done === 4);
  globalThis.dispatchEvent?.(new Event("pagehide"));
  await until(() => JSON.parse(sessionStorage.getItem("kibitz-judged") ?? "[]").length >= 4); // not an earlier write
  const asked = server.of("judge").length;
  expect(asked).toBeGreaterThan(0);

  const again = page(chess(MOVES), [network("winner")]);
  const next = new Judging(again);
  const mistakes = new Mistakes(again, next);
  again.emit("path");
  expect(next.done).toBe(4);
  expect(mistakes.sign(find(again.game, "Qh5").id)?.text).toBe("??");
  await new Promise((done) => setTimeout(done, 400));
  expect(server.of("judge")).toHaveLength(asked);
});

test("other weights, another line and another start are judged anew", async () => {
  const server = judges();
  const before = page(chess(MOVES), [network("winner")]);
  const judging = new Judging(before);
  before.emit("path");
  await until(() => judging.done === 4);
  await until(() => JSON.parse(sessionStorage.getItem("kibitz-judged") ?? "[]").length >= 4); // not an earlier write
  const trained = page(chess(MOVES), [network("winner", { stamp: "2" })]);
  const [none, some] = [new Judging(trained), new Judging(page(chess("e4 e5 Nf3"), [network("winner")]))];
  trained.emit("path");
  expect(none.done).toBe(0);
  expect(some.done).toBe(0);
  expect(server.of("judge").length).toBeGreaterThan(0);
});

test("positions have the name of their line", () => {
  const [a, b] = [lineKeys({ game: "chess" }, ["e2e4", "e7e5"]), lineKeys({ game: "chess" }, ["e2e4", "c7c5"])];
  expect(a.slice(0, 2)).toEqual(b.slice(0, 2));
  expect(a[2]).not.toBe(b[2]);
  expect(lineKeys({ game: "go" }, [])).not.toEqual(a.slice(0, 1));
});

test("only the latest judgements are kept, and storage that holds something else is none", () => {
  vi.useFakeTimers();
  const kept = new Remembered<number>("numbers");
  for (let at = 0; at < 1600; at += 1) kept.set(`k${at}`, at);
  vi.runAllTimers();
  const read = new Remembered<number>("numbers");
  expect([read.get("k0"), read.get("k1599")]).toEqual([undefined, 1599]);
  for (const text of ["{", "7", '["a"]']) {
    sessionStorage.setItem("kibitz-numbers", text);
    expect(new Remembered<number>("numbers").get("k1599")).toBeUndefined();
  }
});

test("the form of a game is there again: opponent, side, and the level of each opponent", () => {
  const form = new KeptForm();
  expect(form.of("chess")).toEqual({});
  form.set("chess", { opponent: "human", side: "b" });
  form.chooseLevel("chess", "human", "2000");
  form.chooseLevel("chess", "chessnet", "full");
  form.set("go", { komi: "0.5" });
  const again = new KeptForm();
  expect(again.of("chess")).toEqual({ opponent: "human", side: "b", levels: { human: "2000", chessnet: "full" } });
  expect(again.of("go")).toEqual({ komi: "0.5" });
  localStorage.setItem("kibitz-play", "[1");
  expect(new KeptForm().of("chess")).toEqual({});
});

test("a new tab has the marks that the server has kept at once, before the network's own values", async () => {
  const server = new Server().on("judged", () => ({ judged: [1, 2, 3].map(judgement) }));
  const app = page(chess(MOVES), [network("winner")]);
  const judging = new Judging(app);
  const mistakes = new Mistakes(app, judging);
  app.emit("path");
  await until(() => judging.done === 3);
  expect(mistakes.sign(find(app.game, "Qh5").id)?.text).toBe("??");
  expect(server.of("judged")).toEqual([{ network: "winner", line: app.line(app.path.at(-1)) }]);
  expect(server.of("judge")).toEqual([]);
  // The same line is not asked for again, and a game of another network is.
  app.emit("path");
  app.emit("networks");
  expect(server.of("judged")).toHaveLength(1);
  app.networks = [network("winner", { stamp: "2" })];
  app.emit("networks");
  expect(judging.done).toBe(0);
  expect(server.of("judged")).toHaveLength(2);
});

test("checks of Go that the server has kept are judgements, of the one who moved", async () => {
  const check = { loss: 0.3, mark: "??", before: 0.6, after: 0.3, points: 4, reply: [], line: ["C3"] };
  new Server().on("judged", () => ({ judged: [{ ...check, ply: 1 }, { ...check, ply: 2 }] }));
  const app = page(go("E5 A1"), [network("gohuman", { game: "go", answers: ["black", "white", "moves"] })]);
  const judging = new Judging(app);
  app.emit("path");
  await until(() => judging.done === 2);
  const [black, white] = ["E5", "A1"].map((move) => judging.exact(find(app.game, move).id)!);
  expect(black).toMatchObject({ ply: 1, loss: 0.3, mark: "??", points: 4, best: { move: "C3" } });
  expect([black!.white.before, white!.white.before]).toEqual([0.4, 0.6]);
});
