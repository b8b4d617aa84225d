/** Two players against each other, over several games. */

import { beforeEach, expect, test } from "vitest";

import { type Contestant, Series } from "../src/play/series";
import type { App } from "../src/app/state";
import { after, chess, network, page, words } from "./support/games";
import { type Answer, held, Server, until } from "./support/server";

const STRENGTH = { method: null, temperature: 0, nodes: 100, seconds: null, rating: null };
const A: Contestant = { name: "a", program: false, rating: null };
const FISH: Contestant = { name: "fish", program: true, rating: 1600 };

let server: Server;
let app: App;
let series: Series;
/** The position that a move leads to, where that is special. */
let special: Record<string, object>;

beforeEach(() => {
  server = new Server();
  special = {};
  server.on("move", ({ line, move }) => {
    const ply = line.moves.length;
    return { node: after(line.game, { ply, turn: ply % 2 ? "b" : "w" }, move, special[move] ?? {}) };
  });
  app = page(chess(), [network("a"), network("b", { methods: ["alpha-beta"] })]);
  series = new Series(app, () => undefined);
});

/** Has the players move; where there is no move they think for ever. */
const think = (move: (body: any) => string | null): void => {
  const answer = (body: object): Answer => {
    const next = move(body);
    return next === null ? held<object>().answer : [{ move: next, done: true }];
  };
  server.on("think", answer).on("programs/think", answer);
};
const THREE = ({ line }: any): string | null => (line.moves.length < 3 ? `m${line.moves.length}` : null);

test("colours change, and the second of two games begins as the first did", async () => {
  think(({ line }) => (line.moves.length === 9 ? "mate" : `m${line.moves.length}`));
  special = { mate: { end: "checkmate" } };
  await series.begin({ players: [A, FISH], strength: STRENGTH, games: 2 });
  expect([series.state, series.games]).toEqual(["over", 2]);
  // Ten plies: Black mates, in the first game the program, in the second the network.
  expect(series.points).toEqual([1, 1]);
  expect(app.game.headers).toMatchObject({ White: "fish (1600)", Black: "a", Result: "0-1" });
  expect(words(app.game).split(" ")).toHaveLength(10);
  // The second game has the eight plies of the opening from the first: only two moves of it are asked for.
  expect(server.of("think").length + server.of("programs/think").length).toBe(12);
  const [first] = server.of("think");
  expect(first).toMatchObject({ network: "a", method: "top-prob", temperature: 1 });
  expect(server.of("think").at(-1)).toMatchObject({ method: null, nodes: 100 });
  expect(server.of("programs/think").at(-1)).toMatchObject({ program: "fish", rating: 1600 });
});

test("a network that does not know the method plays by its first one", async () => {
  think(({ line }) => (line.moves.length === 8 ? "end" : `m${line.moves.length}`));
  special = { end: { end: "stalemate" } };
  await series.begin({ players: [{ ...A, name: "b" }, A], strength: { ...STRENGTH, method: "top-prob" }, games: 1 });
  expect(series.points).toEqual([0.5, 0.5]);
  expect(server.of("think").filter(({ network }) => network === "b").every(({ method }) => method === null)).toBe(true);
  expect(app.game.headers.Result).toBe("1/2-1/2");
});

test("it stops after the present move, and goes on with a new game", async () => {
  think(THREE);
  void series.begin({ players: [A, A], strength: STRENGTH, games: 1 });
  await until(() => app.game.nodes.size > 3);
  series.stop();
  expect(series.state).toBe("stopped");
  think(() => "end");
  special = { end: { end: "dead" } };
  await series.goOn();
  expect([series.state, series.games, words(app.game)]).toEqual(["over", 1, "end"]);
});

test("another game that is opened stops it", async () => {
  think(THREE);
  void series.begin({ players: [A, A], strength: STRENGTH, games: 1 });
  await until(() => app.game.nodes.size > 3);
  app.open(chess("d4"));
  expect(series.state).toBe("stopped");
});

test("what fails is said", async () => {
  server.on("think", () => [{ error: "it has no model" }]);
  await series.begin({ players: [A, A], strength: STRENGTH, games: 1 });
  expect([series.state, series.problem]).toEqual(["lost", "it has no model"]);
});

test("a game of Go is counted by the server, or ends where a program gives up", async () => {
  app.networks = [network("g", { game: "go" })];
  const line = ({ line }: any): object => ({ nodes: [{ ...after("go", { ply: -1, turn: "w" }, ""), move: null, turn: line.side }] });
  server.on("line", line).on("move", ({ line, move }) => {
    const ply = line.moves.length;
    const end = ply === 1 ? "passes" : null;
    return { node: after("go", { ply, turn: ply % 2 ? "w" : "b" }, move, { end, stones: `B${".".repeat(80)}`, captured: { B: 0, W: 0 } }) };
  });
  await app.fresh("go", 9);
  app.game.start.komi = 7.5;
  const players: [Contestant, Contestant] = [{ name: "g", program: false, rating: null }, { name: "gnugo", program: true, rating: null }];
  think(() => "pass");
  server.on("analyse", () => [{ ply: 2, owners: new Array(81).fill(0.9), score: 70 }, { done: true }]);
  server.on("count", ({ line }) => ({ dead: [], seki: [], owners: new Array(81).fill(1), black: 81, white: line.komi }));
  await series.begin({ players, strength: STRENGTH, games: 1 });
  // Its one stone makes the whole board Black's.
  expect([series.points, app.game.headers.RE, app.game.headers.PB]).toEqual([[1, 0], "B+73.5", "g"]);
  server.on("programs/think", () => [{ move: "resign", done: true }]);
  await series.begin({ players, strength: STRENGTH, games: 1 });
  expect([series.points, app.game.headers.RE]).toEqual([[1, 0], "B+R"]);
});
