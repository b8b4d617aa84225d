/** Who judges the moves: the network's own search, or an engine. Values of different judges are never mixed. */

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { displayedChance } from "../src/app/displayed";
import { claimant } from "../src/app/chance";
import { Judging } from "../src/server/judging";
import type { App } from "../src/app/state";
import { chess, find, go, network, page } from "./support/games";
import { held, Server, until } from "./support/server";

const FISH = { engine: "Fish 1", nodes: 1000, depth: null };
const PROGRAMS = [{ name: "fish", game: "chess", command: "fish" }, { name: "kata", game: "go", command: "kata gtp" }];

let server: Server;
let app: App;
let judging: Judging;

const judgements = ({ from, to, checked_by: by }: any): object[] => {
  const plies = Array.from({ length: to - from + 1 }, (_, at) => from + at);
  // The engine thinks 0.9 of each position, the network's search 0.5.
  const white = { before: by ? 0.9 : 0.5, after: by ? 0.9 : 0.5 };
  const best = { move: "x", san: "x" };
  const first = by ? { total: plies.length, checked_by: FISH } : { total: plies.length };
  return [first, ...plies.map((ply) => ({ ply, loss: 0, mark: "", best, line: ["x"], only: false, white, score: -4, exact: true })), { done: true }];
};

const sit = async (game = chess("e4 e5"), first: object = {}, one = network("a", { game: game.kind })): Promise<void> => {
  server.on("programs", () => ({ programs: PROGRAMS, checked_by: first }));
  app = page(game, [one]);
  judging = new Judging(app);
  await app.programs.find();
};
const done = (): Promise<void> => until(() => app.path.slice(1).every((id) => judging.exact(id)));
const values = (): (number | undefined)[] => app.path.map((id) => displayedChance(app, judging, id)?.chance);
const who = (): string[] => server.of("judge").map(({ checked_by: by }) => by ?? "");

beforeEach(() => {
  server = new Server();
  server.on("analyse", ({ from, to }) => [
    { total: 1 },
    ...Array.from({ length: to - from + 1 }, (_, at) => ({ ply: from + at, white: 0.4, black: 0.4 })),
    { done: true },
  ]);
  server.on("judge", judgements);
});

// All test files share one process: what is asked here is answered here.
afterEach(async () => {
  app.network = null;
  await new Promise((next) => setTimeout(next, 50));
});

describe("an engine", () => {
  test("judges in place of the search, and values are never mixed", async () => {
    await sit();
    await done();
    expect([who(), values(), app.checker.now]).toEqual([[""], [0.5, 0.5, 0.5], ""]);
    app.checker.choose("fish");
    expect(values()).toEqual([0.4, 0.4, 0.4]); // the network alone, not its search
    await done();
    expect([who(), values()]).toEqual([["", "fish"], [0.9, 0.9, 0.9]]);
    expect([app.checker.about(), claimant(app)]).toEqual([FISH, undefined]);
  });

  test("is not asked again for what it has judged", async () => {
    await sit();
    app.checker.choose("fish");
    await done();
    app.checker.choose("");
    await done();
    app.checker.choose("fish");
    expect(values()).toEqual([0.9, 0.9, 0.9]); // at once
    app.checker.choose("");
    expect(values()).toEqual([0.5, 0.5, 0.5]);
    expect(who().filter(Boolean)).toEqual(["fish"]);
  });

  test("is not asked again where another network is chosen", async () => {
    await sit();
    app.networks = [network("a"), network("b")];
    app.checker.choose("fish");
    await done();
    app.choose("b");
    expect(values()).toEqual([0.9, 0.9, 0.9]);
    expect(who()).toEqual(["fish"]);
    app.checker.choose("");
    expect(app.path.some((id) => judging.exact(id))).toBe(false);
  });

  test("does not take over what another search has found", async () => {
    await sit();
    app.checker.choose("fish");
    await done();
    judging.learn(app.cursor, "a", 0.1);
    expect(values()[0]).toBe(0.9);
    app.checker.choose("");
    expect(values()[0]).toBe(0.1);
  });

  test("judges for a network that only predicts moves, which alone judges nothing", async () => {
    await sit(chess("e4 e5"), {}, network("a", { answers: ["moves"] }));
    expect(judging.possible).toBe(false);
    app.checker.choose("fish");
    await done();
    expect(judging.possible).toBe(true);
  });

  test("of Go judges every move, and Black's chance and lead are told", async () => {
    await sit(go("E5 C3"));
    app.checker.choose("kata");
    await done();
    expect(server.of("judge").map(({ from, to, checked_by: by }) => [from, to, by])).toEqual([[0, 2, "kata"]]);
    expect(values().map((each) => each?.toFixed(1))).toEqual(["0.1", "0.1", "0.1"]);
    expect([judging.lead(app.cursor), server.of("check")]).toEqual([-4, []]);
  });

  test("begins where somebody looks", async () => {
    await sit(chess("m1 m2 m3 m4 m5 m6 m7 m8"));
    await done();
    const never = held<object[]>();
    server.on("judge", () => never.answer);
    app.go(find(app.game, "m3").id);
    app.checker.choose("fish");
    await until(() => who().length === 2);
    server.on("judge", judgements);
    app.go(find(app.game, "m8").id);
    await done();
    expect(server.of("judge").slice(1).map(({ from, to }) => [from, to])).toEqual([[3, 8], [8, 8], [0, 7]]);
  });
});

describe("an engine that fails", () => {
  test("is named once, and the network's own search goes on", async () => {
    await sit();
    server.on("judge", (body) => (body.checked_by ? [{ error: "fish ended" }] : judgements(body)));
    app.checker.choose("fish");
    await done();
    expect([app.checker.problem, app.checker.now, app.checker.chosen()]).toEqual(["fish ended", "", "fish"]);
    expect(values()).toEqual([0.5, 0.5, 0.5]);
    expect(who().filter(Boolean)).toEqual(["fish"]);
    server.on("judge", judgements);
    app.checker.choose("fish");
    await done();
    expect([app.checker.problem, values()[0]]).toEqual(["", 0.9]);
  });
});

describe("the choice", () => {
  test("is kept in the browser, for each game", async () => {
    await sit();
    app.checker.choose("fish");
    await sit();
    expect([app.checker.chosen("chess"), app.checker.chosen("go")]).toEqual(["fish", ""]);
    server.on("programs", () => ({ programs: [] }));
    app = page(chess("e4"), [network("a")]);
    expect(app.checker.waits).toBe(true);
    await app.programs.find();
    expect([app.checker.chosen(), app.checker.waits]).toEqual(["", false]); // it is not installed any more
  });

  test("is at first that of the command line; a new one comes before an old choice", async () => {
    await sit(chess("e4"), { chess: "fish" });
    expect([app.checker.chosen(), app.checker.now]).toEqual(["fish", "fish"]);
    app.checker.choose("");
    await sit(chess("e4"), { chess: "fish" });
    expect(app.checker.chosen()).toBe("");
    await sit(chess("e4"));
    expect(app.checker.chosen()).toBe("");
    await sit(chess("e4"), { chess: "fish" });
    expect(app.checker.chosen()).toBe("");
    app.checker.choose("fish");
    await sit(chess("e4"));
    expect(app.checker.chosen()).toBe(""); // it was the choice beside another command line
  });

  test("and what the engine has said of itself outlast a reload", async () => {
    await sit();
    app.checker.choose("fish");
    await done();
    await sit();
    expect(app.checker.about()).toEqual(FISH);
  });

  test("that cannot be read is none", async () => {
    localStorage.setItem("kibitz-checked-by-chess", "{");
    await sit();
    expect(app.checker.chosen()).toBe("");
    localStorage.setItem("kibitz-checked-by-chess", "[1, 2]");
    expect(app.checker.chosen()).toBe("");
  });
});
