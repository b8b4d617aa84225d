/** What the page asks of a network: positions nearest to the cursor first, moves as soon as their positions are known. */

import { beforeEach, describe, expect, test } from "vitest";

import { Judging } from "../src/server/judging";
import type { App } from "../src/app/state";
import { after, chess, find, go, network, page } from "./support/games";
import { held, Server, until } from "./support/server";

const TEN = Array.from({ length: 10 }, (_, ply) => `m${ply + 1}`).join(" ");

let server: Server;

/** Answers for each position, or move, that is asked about. */
const each = (make: (ply: number) => object) => ({ from, to }: any): object[] => {
  const plies = Array.from({ length: to - from + 1 }, (_, at) => from + at);
  return [{ total: plies.length }, ...plies.map(make), { done: true }];
};

beforeEach(() => {
  server = new Server();
  server.on("analyse", each((ply) => ({ ply, white: 0.5, black: 0.5 })));
  server.on("move", ({ line, move }) => ({ node: after(line.game, { ply: line.moves.length, turn: line.moves.length % 2 ? "b" : "w" }, move) }));
});

const analysed = (app: App): Promise<void> => until(() => app.path.every((id) => app.result(app.network!, id)) && !app.analyser.busy);
const stretches = (path: string): [number, number][] => server.of(path).map(({ from, to }) => [from, to]);

describe("positions", () => {
  test("from the cursor on to the end, and then back to the beginning", async () => {
    const app = page(chess(TEN), [network("a")]);
    app.step(4);
    await analysed(app);
    expect(stretches("analyse")).toEqual([[4, 10], [0, 3]]);
    expect(server.of("analyse")[0]).toMatchObject({ network: "a", line: { moves: TEN.split(" ") } });
    await until(() => app.analyser.done === 11 && app.analyser.total === 11); // with the next redraw
  });

  test("what is known is not asked again, of a new move only the position after it", async () => {
    const app = page(chess(TEN), [network("a")]);
    await analysed(app);
    app.step(10);
    await app.play("m11");
    await analysed(app);
    expect(stretches("analyse")).toEqual([[0, 10], [11, 11]]);
  });

  test("another network is asked about all, and the second one too", async () => {
    const app = page(chess("e4"), [network("a"), network("b"), network("c")]);
    await analysed(app);
    app.choose("b");
    app.chooseSecond("c");
    await analysed(app);
    await until(() => app.path.every((id) => app.result("c", id)));
    expect(server.of("analyse").map(({ network }) => network)).toEqual(["a", "b", "c"]);
  });

  test("new weights of a network are asked anew", async () => {
    const app = page(chess("e4"), [network("runs/a")]);
    await analysed(app);
    app.networks = [network("runs/a", { stamp: "2" })];
    app.emit("networks");
    expect(app.result("runs/a", app.cursor)).toBeUndefined();
    await analysed(app);
    expect(server.of("analyse")).toHaveLength(2);
  });

  test("a network that refuses is not asked again, until it is chosen anew", async () => {
    server.on("analyse", () => ({ error: "it has no model" }));
    const app = page(chess("e4"), [network("a")]);
    await until(() => app.analyser.problem !== "");
    expect([app.analyser.problem, app.problem]).toEqual(["it has no model", true]);
    app.step(1);
    await new Promise((next) => setTimeout(next, 10));
    expect(server.of("analyse")).toHaveLength(1);
  });

  test("a network of another game, of another size or with a problem is not asked", async () => {
    for (const one of [network("a"), network("b", { game: "go", sizes: [13] }), network("c", { game: "go", problem: "gone" })]) {
      const app = page(go("E5"), [one]);
      app.network = one.name;
      app.emit("networks");
    }
    await new Promise((next) => setTimeout(next, 10));
    expect(server.of("analyse")).toEqual([]);
  });

  test("a step to what is far from the answers has that asked first", async () => {
    const app = page(chess(Array.from({ length: 60 }, (_, ply) => `m${ply + 1}`).join(" ")), [network("a")]);
    const first = held<object[]>();
    server.on("analyse", () => first.answer);
    await until(() => server.of("analyse").length === 1);
    server.on("analyse", each((ply) => ({ ply, white: 0.5 })));
    app.step(50);
    await analysed(app);
    expect(stretches("analyse")).toEqual([[0, 60], [50, 60], [0, 49]]);
  });
});

describe("moves", () => {
  const judged = (ply: number): object => ({ ply, loss: 0, mark: "", best: { move: "x", san: "x" }, line: ["x"], only: false, white: { before: 0.5, after: 0.5 }, exact: true });
  let app: App;
  let judging: Judging;

  const sit = (game = chess("e4 e5"), one = network("a", { game: game.kind })): void => {
    app = page(game, [one]);
    judging = new Judging(app);
  };
  const done = (moves: number): Promise<void> => until(() => judging.done === moves);

  beforeEach(() => void server.on("judge", each(judged)));

  test("all at once, once their positions are known; a move more alone", async () => {
    sit();
    await done(2);
    expect([stretches("judge"), judging.progress]).toEqual([[[0, 2]], ""]); // of the start the value alone is wanted
    app.step(2);
    await app.play("Qg4");
    await done(3);
    expect(stretches("judge")).toEqual([[0, 2], [3, 3]]);
    expect(judging.exact(find(app.game, "Qg4").id)?.ply).toBe(3);
  });

  test("an exact judgement is not replaced by a quick one", async () => {
    server.on("judge", (body) => [...each(judged)(body).slice(0, -1), { ...judged(1), exact: false, loss: 0.5 }, { done: true }]);
    sit();
    await done(2);
    expect(judging.of(find(app.game, "e4").id)).toMatchObject({ exact: true, loss: 0 });
  });

  test("a network that does not predict who wins judges nothing", async () => {
    sit(chess("e4 e5"), network("a", { answers: ["moves"] }));
    await analysed(app);
    expect([judging.possible, judging.progress, server.of("judge")]).toEqual([false, "", []]);
  });

  test("a move that somebody waits for comes first", async () => {
    const never = held<object[]>();
    server.on("judge", () => never.answer);
    sit(chess(TEN));
    await until(() => server.of("judge").length === 1);
    server.on("judge", each(judged));
    judging.soon(find(app.game, "m7").id);
    await done(10);
    expect(stretches("judge")).toEqual([[0, 10], [7, 7], [0, 6], [8, 10]]);
  });

  test("of Go only moves that cost much by the network alone, one after the other", async () => {
    // Black's chance before each move and after the last.
    const black = [0.5, 0.5, 0.9, 0.5, 0.5];
    server.on("analyse", each((ply) => ({ ply, black: black[ply] })));
    server.on("check", ({ line }) => [{ mark: "??", loss: 0.4, before: 0.9, after: 0.5, points: 9, reply: [], line: [`x${line.moves.length}`], done: true }]);
    sit(go("E5 C3 A1 G7"));
    await done(2);
    // White's second move gave Black 40%, and Black's third gave them back.
    expect(server.of("check").map(({ line }) => line.moves.length)).toEqual([2, 3]);
    expect(judging.exact(find(app.game, "A1").id)).toMatchObject({ points: 9, best: { move: "x3" } });
    expect(judging.exact(find(app.game, "E5").id)).toBeUndefined();
  });
});
