/** The game that the page shows: moves, changes that are taken back, other games, networks. */

import { beforeEach, describe, expect, test } from "vitest";

import { comment, draw, makeMain, promote, removeFrom, toggleGlyph } from "../src/app/editing";
import { type App, Overtaken } from "../src/app/state";
import { openingOf } from "../src/ui/title";
import { openStart } from "../src/play/starting";
import { empty } from "../src/app/tree";
import { after, chess, find, go, network, page, words } from "./support/games";
import { held, Server, until } from "./support/server";

let server: Server;

beforeEach(() => {
  server = new Server();
  server.on("move", ({ line, move }) => {
    const ply = line.moves.length;
    return { node: after(line.game, { ply, turn: ply % 2 ? "b" : "w" }, move) };
  });
});

const sans = (app: App): string => app.path.map((id) => app.node(id).san).join(" ").trim();

describe("moves", () => {
  test("a move that is known is followed, another one is asked for and added", async () => {
    const app = page(chess("e4 e5"));
    await app.play("e4");
    expect([app.node().san, server.of("move").length, app.game.changed]).toEqual(["e4", 0, false]);
    await app.play("c5");
    expect([words(app.game), app.node().san, app.game.changed]).toEqual(["e4 e5 (c5)", "c5", true]);
    expect(server.of("move")[0]).toMatchObject({ move: "c5", line: { moves: ["e4"] } });
  });

  test("moves are made one after the other", async () => {
    const app = page();
    await Promise.all([app.play("e4"), app.play("e5"), app.play("Nf3")]);
    expect(words(app.game)).toBe("e4 e5 Nf3");
  });

  test("a refused move leaves the game as it is, and the next one is made", async () => {
    const app = page();
    server.on("move", ({ move }) => (move === "e5" ? { error: "no legal move" } : { node: after("chess", { ply: 0, turn: "w" }, move) }));
    await expect(app.play("e5")).rejects.toThrow("no legal move");
    await app.play("e4");
    expect(words(app.game)).toBe("e4");
  });

  test("a move that is no longer wanted, or of a game that was left, is not made", async () => {
    const app = page();
    const { answer, give } = held<object>();
    server.on("move", () => answer);
    let wanted = true;
    const other = chess("c4");
    const unwanted = app.play("e4", () => wanted);
    await until(() => server.of("move").length === 1);
    wanted = false;
    give({ node: after("chess", { ply: 0, turn: "w" }, "e4") });
    await expect(unwanted).rejects.toThrow();
    await expect(app.play("e5", () => false)).rejects.toThrow();
    expect([server.of("move").length, words(app.game)]).toEqual([1, ""]);
    const later = held<object>();
    server.on("move", () => later.answer);
    const late = app.play("d4");
    await until(() => server.of("move").length === 2);
    app.open(other);
    later.give({ node: after("chess", { ply: 0, turn: "w" }, "d4") });
    await expect(late).rejects.toThrow();
    expect(words(app.game)).toBe("c4");
  });

  test("steps stay on the line that is looked at", () => {
    const app = page(chess("e4 e5 (c5 Nf3) Nf3 Nc6"));
    app.step(-1);
    expect(app.place).toBe(0);
    app.step(99);
    expect(sans(app)).toBe("e4 e5 Nf3 Nc6");
    app.go(find(app.game, "c5").id);
    expect([sans(app), app.place]).toEqual(["e4 c5 Nf3", 2]);
    app.step(1);
    expect(app.node().parent).toBe(find(app.game, "c5").id);
    app.step(-3);
    expect([sans(app), app.place]).toEqual(["e4 c5 Nf3", 0]);
  });
});

describe("changes", () => {
  const TREE = "e4 e5 (c5 Nf3 (c3 d5) d6) Nf3 Nc6";

  test("a move, a deletion and words are taken back and made again", async () => {
    const app = page(chess(TREE));
    const before = words(app.game);
    app.step(4);
    await app.play("Bb5");
    app.undo();
    expect([words(app.game), app.node().san]).toEqual([before, "Nc6"]);
    app.redo();
    expect(app.node().san).toBe("Bb5");
    app.undo();
    removeFrom(app, find(app.game, "c5").id);
    expect(words(app.game)).toBe("e4 e5 Nf3 Nc6");
    app.undo();
    expect(words(app.game)).toBe(before);
    app.redo();
    app.undo();
    comment(app, find(app.game, "e4").id, "best");
    toggleGlyph(app, find(app.game, "e4").id, 1);
    app.undo();
    app.undo();
    expect([find(app.game, "e4").comment, find(app.game, "e4").nags]).toEqual(["", []]);
    app.undo();
    expect(app.status).not.toBe("");
    expect(words(app.game)).toBe(before);
  });

  test("who looks at a deleted position looks at the one before it", () => {
    const app = page(chess(TREE));
    app.go(find(app.game, "d5").id);
    removeFrom(app, find(app.game, "c5").id);
    expect(app.node().san).toBe("e4");
    app.undo();
    expect(app.node().san).toBe("d5");
  });

  test("a variation is promoted where it begins, or made the main line from the start", () => {
    const app = page(chess(TREE));
    promote(app, find(app.game, "d5").id);
    expect(words(app.game)).toBe("e4 e5 (c5 c3 (Nf3 d6) d5) Nf3 Nc6");
    makeMain(app, find(app.game, "d5").id);
    expect(words(app.game)).toBe("e4 c5 (e5 Nf3 Nc6) c3 (Nf3 d6) d5");
    app.undo();
    app.undo();
    expect(words(app.game)).toBe(words(chess(TREE)));
    promote(app, find(app.game, "Nc6").id); // of the main line there is nothing to do
    expect(app.game.history.last).toBeUndefined();
  });

  test("a move has one sign of its own, and keeps those of the position", () => {
    const app = page(chess("e4"));
    const { id } = find(app.game, "e4");
    app.node(id).nags = [16];
    for (const [nag, expected] of [[1, [1, 16]], [4, [4, 16]], [4, [16]]] as const) {
      toggleGlyph(app, id, nag);
      expect(app.node(id).nags).toEqual(expected);
    }
  });

  test("what changes nothing is no change", () => {
    const app = page(chess("e4"));
    comment(app, app.game.root, "");
    draw(app, app.game.root, []);
    expect(app.game.changed).toBe(false);
    draw(app, app.game.root, ["Gd4"]);
    expect([app.game.changed, app.node().shapes]).toEqual([true, ["Gd4"]]);
  });

  test("what is only tried leaves the game unchanged", async () => {
    const app = page(chess("e4 e5"));
    app.isTried = () => true;
    const tried = await app.play("d4");
    expect([app.game.changed, words(app.game)]).toEqual([false, "e4 (d4) e5"]);
    app.retract(tried.id);
    expect([app.game.changed, words(app.game), app.game.history.last, app.cursor]).toEqual([false, "e4 e5", undefined, app.game.root]);
  });

  test("a game against an opponent takes a move back in its own way", async () => {
    const app = page();
    await app.play("e4");
    let asked = 0;
    app.takesBack = () => ((asked += 1), true);
    app.undo();
    expect([asked, words(app.game)]).toEqual([1, "e4"]);
  });
});

describe("other games", () => {
  const answer = (text: string) => ({
    game: "chess", headers: {}, line: { game: "chess", moves: [] }, games: [], count: 1, problems: [],
    tree: [{ ...after("chess", { ply: -1, turn: "b" }, ""), move: null, id: 0, parent: null }, { ...after("chess", { ply: 0, turn: "w" }, text), id: 1, parent: 0 }],
  });

  test("of two games that are asked for, the later one is opened", async () => {
    const app = page();
    const slow = held<object>();
    server.on("load", ({ text }) => (text === "slow" ? slow.answer : answer(text)));
    const first = app.load("slow");
    await app.load("quick");
    slow.give(answer("slow"));
    await expect(first).rejects.toBeInstanceOf(Overtaken);
    expect(words(app.game)).toBe("quick");
    app.status = "";
    app.notOpened(await first.catch((error: unknown) => error));
    expect(app.status).toBe("");
  });

  test("of a large file only the game that is shown is sent", async () => {
    const app = page();
    server.on("load", ({ text }) => answer(/Player \d+/.exec(text)![0].replace(" ", "")));
    const games = Array.from({ length: 300 }, (_, i) => `[White "Player ${i}"]\n[Black "Bo"]\n\n1. e4 {${"x".repeat(800)}} *\n\n`);
    await app.load(games.join(""));
    expect([app.game.file?.count, words(app.game)]).toEqual([300, "Player0"]);
    await app.openOfFile(177);
    expect([app.game.file?.index, words(app.game)]).toEqual([177, "Player177"]);
    expect(server.of("load").map(({ text, index }) => [text.length < 1000, index])).toEqual([[true, 0], [true, 0]]);
    await app.openOfFile(300);
    expect(server.of("load")).toHaveLength(2);
  });

  test("the other game waits while this one is looked at", () => {
    const networks = [network("human"), network("gohuman", { game: "go" })];
    const app = page(chess("e4 e5"), networks);
    app.step(1);
    app.choose("gohuman");
    expect([app.game.kind, app.network]).toEqual(["go", "gohuman"]);
    app.open(go("E5"));
    app.choose("human");
    expect([sans(app), app.node().san]).toEqual(["e4 e5", "e4"]);
    app.choose("gohuman");
    expect(sans(app)).toBe("E5");
  });

  test("a game with changes is among the earlier ones when it is left", async () => {
    const app = page();
    await app.play("e4");
    app.open(chess("d4"));
    expect(app.whereLeft).not.toBe("");
    app.open(chess("c4"));
    expect(app.whereLeft).toBe("");
  });

  test("a game that must not be left stays", async () => {
    const app = page(chess("e4"));
    app.mayLeave = () => Promise.resolve(false);
    expect(await app.fresh()).toBe(false);
    expect(words(app.game)).toBe("e4");
    app.mayLeave = () => Promise.resolve(true);
    expect(await app.fresh("go", 13)).toBe(true);
    expect(app.game.start.size).toBe(13);
  });

  test("a start of one's own is asked for, and handicap stones are in the record", async () => {
    const app = page(empty("go", 9));
    server.on("line", () => ({ nodes: [{ ...after("go", { ply: -1, turn: "b" }, ""), move: null, turn: "w" }] }));
    await openStart(app, { game: "go", size: 9, komi: 0.5, rules: "japanese", side: "w", setup: { B: ["C3", "G7"], W: [] }, moves: ["E5"] });
    expect(app.game.headers).toEqual({ HA: "2" });
    expect(server.of("line")[0]).toMatchObject({ line: { moves: [] } });
  });
});

describe("what the server is told of a game", () => {
  test("the moves up to a position, and ratings that are some", () => {
    const app = page(chess("e4 e5 (c5)"));
    app.game.headers = { WhiteElo: "900", BlackElo: "2310?" };
    expect(app.line(find(app.game, "c5").id)).toEqual({ game: "chess", moves: ["e4", "c5"], ratings: [900, 2310] });
    app.game.headers = { WhiteElo: "900", TimeControl: "600", Site: "https://www.chess.com/game/live/1", Round: "1" };
    expect(app.line().headers).toEqual({ Site: "https://www.chess.com/game/live/1", TimeControl: "600" });
    app.game.headers = { WhiteElo: "?", BlackElo: "9999" };
    expect(app.line().ratings).toEqual([0, 0]);
    expect(page(go("E5")).line()).not.toHaveProperty("ratings");
  });

  test("the opening is named as far as the game has come", () => {
    const app = page(chess("Nf3 c5 e4 d6"));
    app.game.headers = { ECO: "B99", Opening: "?" };
    find(app.game, "e4").opening = "B27 Sicilian Defense";
    expect(openingOf(app)).toBe("");
    app.step(1);
    expect(openingOf(app)).toBe("B99"); // as the record says, until the table knows one
    app.step(2);
    expect(openingOf(app)).toBe("B27 Sicilian Defense");
    app.step(1);
    expect(openingOf(app)).toBe("B27 Sicilian Defense");
    expect(openingOf(page(go("E5")))).toBe("");
  });
});

describe("networks", () => {
  test("the first of the command line is chosen, else the best of this game", async () => {
    const app = page();
    const all = [network("chessnet"), network("human"), network("gohuman", { game: "go" }), network("runs/a", { from: "run" })];
    server.on("networks", () => ({ networks: all, given: [] }));
    await app.findNetworks();
    expect(app.network).toBe("human");
    server.on("networks", () => ({ networks: all, given: ["gohuman", "runs/a"] }));
    app.network = null;
    await app.findNetworks();
    expect(app.network).toBe("runs/a");
    await app.findNetworks("chessnet");
    expect(app.network).toBe("chessnet");
    await app.findNetworks("gohuman"); // of another game: the choice stays
    expect(app.network).toBe("chessnet");
  });

  test("steps of the training of a personal network are in no list of networks", async () => {
    const app = page();
    const step = network("runs/ana/candidates/22e5-adapters-0.01", { from: "run", live: true, part_of: "runs/ana" });
    const whole = network("runs/ana", { from: "run" });
    server.on("networks", () => ({ networks: [step, whole], given: [] }));
    await app.findNetworks(step.name);
    expect(app.networks.map(({ name }) => name)).toEqual(["runs/ana"]);
    expect([app.network, app.steps, app.named(step.name)]).toEqual(["runs/ana", [step], step]);
    let changes = 0;
    app.on("networks", () => (changes += 1));
    await app.findNetworks();
    expect(changes).toBe(0);
    server.on("networks", () => ({ networks: [whole], given: [] }));
    await app.findNetworks();
    expect([changes, app.steps]).toEqual([1, []]);
  });

  test("the second network is no longer compared with itself", () => {
    const app = page(chess(), [network("a"), network("b")]);
    app.chooseSecond("b");
    app.choose("b");
    expect([app.network, app.second]).toEqual(["b", null]);
  });
});

test("a move after a promoted variation is in the tree once, however often both are taken back", async () => {
  const app = page(chess("e4 (d4) e5"));
  promote(app, find(app.game, "d4").id);
  app.go(app.game.root);
  await app.play("c4");
  for (let times = 0; times < 2; times += 1) {
    app.undo();
    app.undo();
    expect(words(app.game)).toBe("e4 (d4) e5");
    app.redo();
    expect(words(app.game)).toBe("d4 (e4 e5)");
    app.redo();
    expect(words(app.game)).toBe("d4 (e4 e5) (c4)");
  }
});

test("a second network that is gone, or is the first one now, is not compared any more", async () => {
  const [one, two] = [network("one"), network("two")];
  const app = page(chess("e4"), [one, two]);
  app.chooseSecond("two");
  const known = (...networks: object[]): unknown => server.on("networks", () => ({ networks, given: [] }));
  known(one, two, network("three"));
  await app.findNetworks();
  expect([app.network, app.second]).toEqual(["one", "two"]);
  known(one);
  await app.findNetworks();
  expect([app.network, app.second]).toEqual(["one", null]);
  known(one, two);
  await app.findNetworks();
  app.chooseSecond("two");
  known(two);
  await app.findNetworks();
  expect([app.network, app.second]).toEqual(["two", null]);
});

test("the other game comes back with the line that was looked at", () => {
  const app = page(chess("e4 e5 (c5 Nf3) Nf3"), [network("human"), network("gohuman", { game: "go" })]);
  app.go(find(app.game, "c5").id);
  app.step(-1);
  expect(sans(app)).toBe("e4 c5 Nf3");
  app.choose("gohuman");
  expect(app.game.kind).toBe("go");
  app.choose("human");
  expect([sans(app), app.node().san]).toEqual(["e4 c5 Nf3", "e4"]);
});
