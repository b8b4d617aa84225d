/** A file on the command line: what a tab that has had nothing open shows of it. */

import { beforeEach, expect, test, vi } from "vitest";

import { gamesOf } from "../src/library/explorersources";
import { Address } from "../src/app/url";
import type { Kept } from "../src/app/earlier";
import type { App, Game, Network } from "../src/app/state";
import type { Tabs } from "../src/ui/tabs";
import { texts } from "../src/texts";
import { reopened } from "../src/app/earlier";
import { hashOf } from "../src/app/hash";
import { after, chess, find, go, page } from "./support/games";
import { type Answer, held, Server, until } from "./support/server";

const tabs = { chosen: "analysis", choose: () => undefined, on: () => undefined } as unknown as Tabs;
const START = { ply: 0, move: null, san: "", turn: "b", end: null, stones: ".".repeat(361), id: 0, parent: null, comment: "", nags: [] };
const LOADED = {
  game: "go",
  headers: { PB: "Ann" },
  line: { game: "go", size: 19, moves: [] },
  tree: [START, { ...START, ply: 1, move: "Q16", san: "Q16", turn: "w", id: 1, parent: 0 }],
  games: [
    { index: 0, title: "Ann – Bo" },
    { index: 1, title: "Bo – Ann" },
  ],
  count: 2,
  problems: [],
};

beforeEach(() => {
  vi.stubGlobal("location", { hash: "" });
  vi.stubGlobal("history", { replaceState: () => undefined });
  vi.stubGlobal("window", Object.assign(Object.create(globalThis), { addEventListener: () => undefined }));
});

function begun(given: Answer, loaded: Answer = LOADED, networks: Answer = { networks: [], given: [] }): { app: App; server: Server } {
  const server = new Server()
    .on("given", () => given)
    .on("load", () => loaded)
    .on("line", () => ({ nodes: [START] }))
    .on("networks", () => networks);
  const app = page();
  void new Address(app).begin(tabs);
  return { app, server };
}

test("a new tab opens it, and the explorer has it as one source", async () => {
  const { app } = begun({ name: "a.sgf", text: "(;B[pd])(;B[dd])" });
  await until(() => app.status === texts.load.games(2));
  expect([app.game.kind, app.game.file?.count, app.game.file?.given]).toEqual(["go", 2, "a.sgf"]);
  expect(gamesOf(app.game.file!, true)).toBe(0);
  expect(gamesOf({ text: "", count: 2 }, true)).toBe(2);
});

test("a network of Go on the same command line does not replace it, however slow the server is", async () => {
  const gohuman = { name: "gohuman", game: "go", answers: ["moves"], problem: null } as unknown as Network;
  const file = { name: "a.sgf", text: "(;B[pd])(;B[dd])" };
  const known = { networks: [gohuman], given: ["gohuman"] };
  for (const slow of ["given", "load"]) {
    sessionStorage.removeItem("kibitz-hash");
    const { answer, give } = held<object>();
    const networks = held<object>();
    const { app, server } = begun(slow === "given" ? answer : file, slow === "load" ? answer : LOADED, networks.answer);
    await until(() => server.of(slow).length === 1);
    networks.give(known);
    await until(() => app.networks.length === 1);
    give(slow === "given" ? file : LOADED);
    await app.begun;
    await until(() => app.network === "gohuman");
    expect([app.game.kind, app.game.file?.given, app.status]).toEqual(["go", "a.sgf", texts.load.games(2)]);
  }
  // Without a file, the network brings its board.
  sessionStorage.removeItem("kibitz-hash");
  const none = begun({}, LOADED, known);
  await until(() => none.app.network === "gohuman");
  expect([none.app.game.kind, none.app.game.file]).toEqual(["go", undefined]);
});

test("what somebody has played while the file is read stays", async () => {
  for (const slow of ["given", "load"]) {
    sessionStorage.removeItem("kibitz-hash");
    const { answer, give } = held<object>();
    const file = { name: "a.sgf", text: "(;B[pd])(;B[dd])" };
    const { app, server } = begun(slow === "given" ? answer : file, slow === "load" ? answer : LOADED);
    await until(() => server.of(slow).length === 1);
    server.on("move", () => ({ node: after("chess", app.node(), "e2e4") }));
    await app.play("e2e4");
    expect(app.touched).toBe(true);
    give(slow === "given" ? file : LOADED);
    await app.begun;
    expect([app.game.kind, app.node().move, app.game.file, app.problem]).toEqual(["chess", "e2e4", undefined, false]);
  }
});

test("a tab that had something open, and an address that names something, keep that", async () => {
  for (const [hash, kept] of [["", "#game=chess"], ["#game=go&size=19", null]] as const) {
    sessionStorage.removeItem("kibitz-hash");
    if (kept) sessionStorage.setItem("kibitz-hash", kept);
    vi.stubGlobal("location", { hash });
    const { app, server } = begun({ name: "a.sgf", text: "(;B[pd])" });
    await app.begun;
    expect(server.of("given")).toHaveLength(0);
    expect(app.game.file).toBeUndefined();
  }
});

test("a large file is in the explorer, and one that cannot be read is named", async () => {
  const large = begun({ name: "a.pgn" });
  await until(() => large.app.status === texts.load.inExplorer("a.pgn"));
  sessionStorage.removeItem("kibitz-hash");
  const wrong = begun({ name: "a.pgn", problem: "a.pgn: damaged" });
  await until(() => wrong.app.status === "a.pgn: damaged");
  expect([large.app.problem, wrong.app.problem]).toEqual([false, true]);
  sessionStorage.removeItem("kibitz-hash");
  const none = begun({});
  await none.app.begun;
  expect(none.server.of("given")).toHaveLength(1);
  expect(none.app.status).toBe("");
});

/** A game as the browser keeps it, with the line of its main moves. */
const keptGame = (game: Game): Kept => {
  const { key, kind, headers, start, nodes, root, revision } = game;
  return { key, kind, headers, start, root, revision, cursor: root, time: 1, title: "", about: "", line: [...nodes.values()].slice(1).map((each) => each.move).join("."), nodes: [...nodes.values()] };
};

test("a kept game of Go is opened only for an address with its komi, rules, setup and side", async () => {
  const open = async (hash: string): Promise<App> => {
    for (const name of ["hash", "key", "revision"]) sessionStorage.removeItem(`kibitz-${name}`);
    vi.stubGlobal("location", { hash });
    new Server().on("networks", () => ({ networks: [], given: [] })).on("line", ({ line }) => ({ nodes: [START, ...line.moves.map((move: string, at: number) => ({ ...START, ply: at + 1, move, san: move }))] }));
    const app = page();
    const game = go("E5 C3");
    find(game, "E5").comment = "kept";
    await app.store.put(keptGame(game));
    void new Address(app).begin(tabs);
    await app.begun;
    return app;
  };
  const same = await open("#game=go&size=9&moves=E5.C3");
  expect([same.game.start.komi, find(same.game, "E5").comment]).toEqual([7.5, "kept"]);
  for (const other of ["komi=0.5", "rules=japanese", "black=A1.B1", "side=w"]) {
    const app = await open(`#game=go&size=9&${other}&moves=E5.C3`);
    expect(find(app.game, "E5").comment, other).toBe("");
  }
});

test("after a reload, a variation is still the line that is looked at, also from a position before it", async () => {
  new Server().on("networks", () => ({ networks: [], given: [] }));
  const before = page(chess("e4 e5 (c5 Nf3 d6) Nf3"));
  before.go(find(before.game, "Nf3").id);
  before.step(-99);
  before.step(1);
  const [game] = reopened(keptGame(before.game));
  vi.stubGlobal("location", { hash: hashOf(before) });
  for (const [name, value] of Object.entries({ hash: hashOf(before), key: game.key, revision: "0" })) sessionStorage.setItem(`kibitz-${name}`, value);
  const app = page();
  await app.store.put(keptGame(game));
  void new Address(app).begin(tabs);
  await app.begun;
  expect([app.path.map((id) => app.node(id).san).join(" ").trim(), app.node().san]).toEqual(["e4 c5 Nf3 d6", "e4"]);
});
