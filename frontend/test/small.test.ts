/** Words, lists and choices: what the panels show of what they are given. */

import { describe, expect, test, vi } from "vitest";

import { ByWeights, Kept, Latest, message } from "../src/server/asking";
import { banded, BANDS, inBand } from "../src/app/bands";
import { chanceOf, inWords, leads } from "../src/app/chance";
import { runName, usual, usualRun } from "../src/app/choosing";
import { percent } from "../src/ui/elements";
import { finder } from "../src/library/filegames";
import type { Wanted } from "../src/library/gamelist";
import { decode, sentence } from "../src/library/load";
import { estimate } from "../src/mygames/myanswers";
import { examplePoint } from "../src/board/controls";
import { distinct, firstMoves, Keeper, reopened, Store, unite } from "../src/app/earlier";
import { scrolled } from "../src/analysis/movelist";
import { firstColumn, named, numberOf, numeral, occasion, players } from "../src/app/naming";
import { scored, scoreWords } from "../src/analysis/opinion";
import { likely, NOTHING, picture, shown, tints } from "../src/board/overlays";
import { withoutMetrics } from "../src/app/choosing";
import { takenBy } from "../src/play/players";
import { asked, keyOf, playerOf, Programs } from "../src/server/programs";
import { fileName } from "../src/library/save";
import { CUSTOM, FULL, isRank, levelOf, LEVELS, levelsOf, likeRatings, offered, PERSON, strength, usualLevel } from "../src/play/strengths";
import type { Api } from "../src/server/api";
import { add } from "../src/app/tree";
import { texts } from "../src/texts";
import { after, chess, find, go, network, page } from "./support/games";
import { held } from "./support/server";

test("the training that runs is shown, unless another one was picked", () => {
  const runs = ["a", "b", "c"].map((name) => network(name, { game: name === "b" ? "go" : "chess", live: name === "c" }));
  expect(usualRun(runs, "", "a", "chess")).toBe("c");
  expect(usualRun(runs, "b", "a", "chess")).toBe("b");
  const ended = runs.map((each) => ({ ...each, live: false }));
  expect([usualRun(ended, "", "c", "chess"), usualRun(ended, "", "x", "go"), usualRun([], "", null, "go")]).toEqual(["c", "b", ""]);
});

test("a step of a personal training is named by its network", () => {
  expect(runName(network("runs/personal-ana/candidates/22e5-adapters-0.01", { part_of: "runs/personal-ana" }))).toBe("runs/personal-ana: adapters-0.01");
  expect(runName(network("runs/a-b"))).toBe("runs/a-b");
});

test("what is being done is said until it is done", async () => {
  vi.useFakeTimers();
  const app = page();
  const { answer, give } = held<number>();
  const done = app.during("Reading …", answer, "Still reading …");
  expect([app.status, app.lasting]).toEqual(["Reading …", true]);
  await vi.advanceTimersByTimeAsync(1_500);
  expect(app.status).toBe("Reading …");
  await vi.advanceTimersByTimeAsync(1_000);
  expect(app.status).toBe("Reading … 2 s");
  await vi.advanceTimersByTimeAsync(27_500);
  expect([app.status, app.lasting]).toEqual(["Still reading … 30 s", true]);
  give(7);
  expect(await done).toBe(7);
  expect([app.status, app.lasting]).toEqual(["", false]);
  // What somebody else has said meanwhile stays.
  const other = held<number>();
  const second = app.during("Reading …", other.answer);
  app.say("Sound on.");
  other.give(1);
  await second;
  expect(app.status).toBe("Sound on.");
  vi.useRealTimers();
});

test("a list of moves is scrolled by whole rows, and shows the comment of the move", () => {
  const rows = Array.from({ length: 20 }, (_, at) => 28 * at);
  const at = (row: number, now: number, more = 0): number => scrolled({ top: 28 * row, bottom: 28 * (row + 1) + more, now, height: 150, rows });
  // What is seen with its neighbors stays; below, the list goes on by rows.
  expect([at(2, 0), at(3, 0)]).toEqual([0, 0]);
  expect([at(5, 0), at(19, 0)]).toEqual([56, 448]);
  expect(rows).toContain(at(9, 28));
  // Above, too.
  expect([at(1, 200), at(6, 300)]).toEqual([0, 140]);
  // A comment of two lines is seen whole; a long one does not push the move out of sight.
  expect(at(5, 0, 40)).toBe(112);
  expect(at(5, 0, 900)).toBeLessThanOrEqual(28 * 5);
  // The row before the move is seen only where that leaves room for what comes after it.
  expect([at(5, 0, 54), at(5, 0, 80)]).toEqual([28 * 4, 28 * 5]);
});

test("a list of moves stays where it was scrolled to, also with comments in it", () => {
  const heights = [28, 28, 20, 28, 40, 28, 28, 300, 28, 28, 40, 28];
  const rows = heights.map((_, at) => 6 + heights.slice(0, at).reduce((sum, each) => sum + each, 0));
  for (const height of [90, 111, 150, 400])
    for (let now = 0; now < 600; now += 7)
      rows.forEach((top, at) => {
        const given = { top, bottom: top + heights[at]!, height, rows };
        const first = scrolled({ ...given, now });
        expect(scrolled({ ...given, now: first }), `row ${at} of ${height} px from ${now}`).toBe(first);
      });
});

test("an analysis of one's games is estimated: the thorough stage comes after the quick one", () => {
  expect(estimate(200, { quick: 1, thorough: 20 })).toEqual({ quick: 200, thorough: 4200 });
  // No speed is known before it was measured.
  expect(estimate(200, {})).toEqual({ quick: NaN, thorough: NaN });
  expect(estimate(200, { quick: 1 })).toEqual({ quick: 200, thorough: NaN });
});

test("the box for moves of Go names a point that the board has", () => {
  expect([9, 13, 19].map(examplePoint)).toEqual(["G7", "K10", "Q16"]);
});

describe("chances in words", () => {
  test("of chess White's, of Go Black's", () => {
    const result = { ply: 0, white: 0.2, black: 0.7 };
    expect([chanceOf("chess", result), chanceOf("go", result), chanceOf("go", { ply: 0, white: 0.2 }), chanceOf("chess", undefined)]).toEqual([0.2, 0.7, null, null]);
  });

  test("the words grow with the chance, and name the side that is better", () => {
    const steps = [0.5, 0.544, 0.546, 0.614, 0.616, 0.774, 0.776, 0.924, 0.926, 1].map((p) => inWords("chess", p));
    expect(new Set(steps).size).toBe(5);
    for (const at of [0, 2, 4, 6, 8]) expect(steps[at]).toBe(steps[at + 1]);
    // One number, one word: 55% of either side, however it was rounded.
    expect([0.554, 0.546, 0.454, 0.446].map((p) => [percent(p), inWords("go", p)])).toEqual(
      ["55%", "55%", "45%", "45%"].map((shown) => [shown, texts.chance.little(shown === "55%" ? "Black" : "White")]),
    );
    expect([inWords("chess", 0.9), inWords("chess", 0.1)].map((words) => /White|Black/.exec(words)?.[0])).toEqual(["White", "Black"]);
    expect([inWords("go", 0.9), inWords("go", 0.1)].map((words) => /White|Black/.exec(words)?.[0])).toEqual(["Black", "White"]);
  });

  test("a lead in half points", () => {
    expect(leads(3.6)).toMatch(/Black.*3\.5/);
    expect(leads(-0.8)).toMatch(/White.*\b1\b/);
    expect(leads(0.2)).not.toMatch(/\d/);
  });

  test("never 0% or 100% of what is not", () => {
    expect([0, 0.001, 0.005, 0.5, 0.995, 0.999, 1].map(percent)).toEqual(["0%", "<1%", "1%", "50%", ">99%", ">99%", "100%"]);
  });
});

describe("moves and games in words", () => {
  const game = chess("e4 e5 Nf3");

  test("moves have the numbers of the FEN, of Go their own", () => {
    expect(["e4", "e5", "Nf3"].map((san) => named({ game }, find(game, san)))).toEqual(["1. e4", "1… e5", "2. Nf3"]);
    expect(firstColumn(game, find(game, "e5"))).toBe(false);
    const board = go("E5 C3");
    expect([numeral(board, find(board, "C3")), firstColumn(board, find(board, "E5"))]).toEqual(["2.", true]);
    expect(numberOf(board, find(board, "C3"))).toBe(2);
    expect(named({ game }, game.nodes.get(game.root)!)).not.toContain("null");
  });

  test("the first player stands first: White of chess, Black of Go", () => {
    const of = (kind: "chess" | "go", headers: Record<string, string>): string => players({ ...(kind === "go" ? go() : chess()), headers });
    expect(of("chess", { White: "Ann", Black: "Bo" })).toBe("Ann – Bo");
    expect(of("go", { PB: "Bo", PW: "Ann" })).toBe("Bo – Ann");
    expect(of("chess", { White: "Ann", Black: "?" })).toBe("Ann – ?");
    expect([of("chess", {}), of("chess", { White: "?", Black: "?" })]).toEqual(["", ""]);
  });

  test("the occasion, without what is unknown; a result stays in one line", () => {
    const of = (headers: Record<string, string>): string => occasion({ ...chess(), headers });
    expect(of({ Event: "Open", Date: "2005.??.??", Result: "1-0" })).toBe("Open · 2005 · 1\u20110");
    expect(of({ Event: "?", Date: "????.??.??", Result: "*" })).toBe("");
    expect(of({ EV: "Cup", DT: "2010-05-06", RE: "B+R" })).toBe("Cup · 2010-05-06 · B+R");
  });

  test("what a side has taken, and its lead", () => {
    expect(takenBy("w", "rnb1kbnr/pppp1ppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1")).toEqual({ figures: ["♛", "♟"], lead: 10 });
    expect(takenBy("b", "rnb1kbnr/pppp1ppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1")).toEqual({ figures: [], lead: -10 });
    // A position that was set up begins without captures.
    const endgame = "4k3/4p3/8/8/8/8/4P3/Q3K3 w - - 0 1";
    expect(takenBy("w", endgame, endgame).figures).toEqual([]);
    expect(takenBy("w", "4k3/8/8/8/8/8/4P3/Q3K3 w - - 0 1", endgame)).toEqual({ figures: ["♟"], lead: 10 });
    // Two queens of a side are no loss of the other.
    expect(takenBy("w", "4k3/8/8/8/8/8/8/QQ2K3 w - - 0 1").lead).toBe(18);
  });

  test("names of files have no signs that file systems do not take", () => {
    expect([fileName("Ann – Bo", "pgn"), fileName('a/b\\c:d*?"<>|', "sgf"), fileName("", "pgn"), fileName("x".repeat(200), "pgn").length]).toEqual(["Ann - Bo.pgn", "a b c d.sgf", "game.pgn", 84]);
  });

  test("a problem becomes a sentence", () => {
    expect([sentence("move 3 is unknown"), sentence("Why?"), sentence("done.")]).toEqual(["Move 3 is unknown.", "Why?", "done.".replace("d", "D")]);
  });
});

test("texts of files: UTF-8, what an SGF says, else Latin-1", () => {
  const bytes = (...values: number[]): ArrayBuffer => new Uint8Array(values).buffer;
  const text = (words: string): number[] => [...words].map((letter) => letter.charCodeAt(0));
  expect(decode(new TextEncoder().encode("Müñoz 棋").buffer as ArrayBuffer)).toBe("Müñoz 棋");
  expect(decode(bytes(...text("M"), 0xfc, ...text("ller")))).toBe("Müller");
  expect(decode(bytes(0xff, 0xfe, 0x4d, 0, 0xfc, 0))).toBe("Mü");
  expect(decode(bytes(0xfe, 0xff, 0, 0x4d, 0, 0xfc))).toBe("Mü");
  expect(decode(bytes(...text("(;CA[GB18030]PB["), 0xc6, 0xe5, ...text("])")))).toContain("PB[棋]");
  expect(decode(bytes(...text("(;CA[nonsense]PB["), 0xfc, ...text("])")))).toContain("PB[ü]");
});

describe("lists of games", () => {
  const wanted = (more: Partial<Wanted>): Wanted => ({ search: "", result: "", rating: "", first_year: null, last_year: null, ...more });
  const games = ["Ann – Bo, 1-0, Open", "Ann – Cy", "Di – Ed, Cup"].map((title, index) => ({ index, title }));
  const facts = [
    { result: "1", year: 2005, rating: 1550 },
    { result: "-1", year: 2010, rating: 2600 },
    { result: "", year: 0, rating: null },
  ] as const;
  const find = (more: Partial<Wanted>, known: typeof facts | null = facts): number[] => finder(games, known && [...known])(wanted(more)).map(({ index }) => index);

  test("words of the title, in any order and in any case", () => {
    expect([find({}), find({ search: "open ANN" }), find({ search: " ann  " }), find({ search: "nobody" })]).toEqual([[0, 1, 2], [0], [0, 1], []]);
  });

  test("results, years and ratings; what is unknown is found only where nothing is asked", () => {
    expect([find({ result: "1" }), find({ result: "0" }), find({ first_year: 2006 }), find({ last_year: 2006 }), find({ first_year: 2005, last_year: 2010 })]).toEqual([[0], [], [1], [0], [0, 1]]);
    expect([find({ rating: "2600-" }), find({ rating: "1200-1600" }), find({ rating: "-1200" })]).toEqual([[1], [0], []]);
    expect(find({ result: "1", search: "ann" }, null)).toEqual([0, 1]);
  });

  test("bands of ratings and of ranks", () => {
    expect([inBand(1200, "-1200"), inBand(1201, "-1200"), inBand(2600, "2600-"), inBand(null, "2600-"), inBand(null, "")]).toEqual([true, false, true, false, true]);
    // 12k, 5k, 2d, 3p.
    expect([-11, -4, 2, 13].map((rank) => BANDS.go.slice(1).filter((band) => inBand(rank, band)))).toEqual([["-10k"], ["9k-1k"], ["1d-4d"], ["1p-"]]);
    expect(new Set(BANDS.chess.map(banded)).size).toBe(BANDS.chess.length);
    expect(banded("1200-1600")).toBe("1200–1600");
  });
});

describe("players", () => {
  test("a program is told from a network of the same name", () => {
    for (const player of [{ name: "fish", program: true }, { name: "fish", program: false }]) expect(playerOf(keyOf(player))).toEqual(player);
    expect([asked({ name: "fish", program: true }), asked({ name: "human", program: false })]).toEqual([{ program: "fish" }, { network: "human" }]);
  });

  test("what a program can do is asked once, when somebody wants it", async () => {
    const calls: string[] = [];
    const api = {
      programs: async () => ({ programs: [{ name: "fish", game: "chess", command: "fish" }, { name: "gnugo", game: "go", command: "gnugo" }] }),
      aboutProgram: async (name: string) => (calls.push(name), name === "fish" ? { ratings: [1400, 2000] } : Promise.reject(new Error("gone"))),
    } as unknown as Api;
    let changes = 0;
    const programs = new Programs(api, () => (changes += 1));
    expect(programs.of("chess")).toEqual([]);
    await programs.find();
    await programs.find();
    expect([programs.of("go").map(({ name }) => name), calls, changes]).toEqual([["gnugo"], [], 1]);
    expect([programs.about("fish"), programs.about("fish"), programs.about("gnugo")]).toEqual([null, null, null]);
    await vi.waitFor(() => expect(changes).toBe(3));
    expect([programs.about("fish"), programs.about("gnugo"), calls]).toEqual([{ ratings: [1400, 2000], problem: "" }, { ratings: null, problem: "gone" }, ["fish", "gnugo"]]);
  });

  test("the levels of an opponent", () => {
    const values = (...given: Parameters<typeof levelsOf>): string[] => levelsOf(...given).map(([value]) => value);
    expect(values(network("chessnet"), null, false)).toEqual(["easy", "medium", "hard", FULL, CUSTOM]);
    expect(values(network("plain", { methods: ["top-prob"] }), null, false)).toEqual([FULL, CUSTOM]);
    expect(values(network("human", { rated: true }), null, false).slice(0, 2)).toEqual(["800", "900"]);
    expect(values(network("me", { person: "Ana", rated: true }), null, false)).toEqual([PERSON, FULL, CUSTOM]);
    const ranked = levelsOf(network("gohuman", { game: "go", ranked: true }), null, false);
    expect(ranked.map(([value]) => value)).toEqual(["15k", "10k", "5k", "1k", "1d", "3d", "5d", "7d", "9d", "medium", "hard", FULL, CUSTOM]);
    expect(ranked[2]![1]).toBe("Plays like a 5 kyu player");
    const shared = { game: "go" as const, single: true, answers: ["moves"] };
    expect(values(network("gohuman", { ...shared, ranked: true }), null, false)).toEqual(["15k", "10k", "5k", "1k", "1d", "3d", "5d", "7d", "9d", "best", "varied"]);
    expect(values(network("own", shared), null, false)).toEqual(["best", "varied"]);
    expect(values(undefined, { ratings: [1350, 1800], problem: "" }, true)).toEqual(["1400", "1600", "1800", FULL, CUSTOM]);
    expect(values(undefined, { ratings: null, problem: "" }, true)).toEqual([FULL, CUSTOM]);
    expect(likeRatings({ ratings: [2500, 3190], problem: "" }).map(([value]) => value)).toEqual(["2600", "2800", "3000"]);
  });

  test("a strength has its level back, whatever the form shows by now", () => {
    for (const [name, level] of Object.entries(LEVELS)) expect(levelOf(level.strength, false)).toBe(name);
    expect(levelOf(strength({ rating: 1000, method: "top-prob", temperature: 1, seconds: 5 }), false)).toBe("1000");
    expect(levelOf(strength({ method: "top-prob", temperature: 1, seconds: 5 }), false)).toBe(PERSON);
    expect(levelOf(strength({ temperature: null, seconds: 5, rank: "5k" }), false)).toBe("5k");
    expect([isRank("5k"), isRank("1400"), isRank(FULL)]).toEqual([true, false, false]);
    expect([levelOf(strength({ seconds: 1 }), false), levelOf(strength({}), true), levelOf(strength({ seconds: 1 }), true)]).toEqual([FULL, FULL, CUSTOM]);
    expect(levelOf(strength({ nodes: 7 }), false)).toBe(CUSTOM);
  });

  test("the level at first", () => {
    const rated = network("human", { rated: true });
    const ranked = network("gohuman", { game: "go", ranked: true });
    expect([offered(network("me")), offered(network("me", { person: "Ana", unfinished: true }))]).toEqual(["me", texts.play.unfinished("me")]);
    expect(usualLevel(ranked, levelsOf(ranked, null, false))).toBe(FULL);
    expect([usualLevel(rated, levelsOf(rated, null, false)), usualLevel(network("a"), levelsOf(network("a"), null, false)), usualLevel(network("me", { person: "Ana" }), [])]).toEqual(["1400", FULL, PERSON]);
  });

  test("which network is asked where nobody has chosen", () => {
    const all = [network("runs/a", { from: "run" }), network("broken", { problem: "gone" }), network("chessnet"), network("human"), network("gohuman", { game: "go" })];
    expect([usual(all, [], "chess"), usual(all, [], "go"), usual(all, ["gohuman", "runs/a"], "chess")]).toEqual(["human", "gohuman", "runs/a"]);
    expect([usual(all.slice(0, 2), [], "chess"), usual(all.slice(1, 2), [], "chess"), usual([], [], "chess")]).toEqual(["runs/a", "broken", null]);
  });
});

describe("opinions in short", () => {
  test("scores and mates, as the chance is told", () => {
    const line = { moves: [], san: [] };
    expect([0.3, -0.2, 0].map((score) => scored("chess", { ...line, score }))).toEqual(["+0.30", "−0.20", "0.00"]);
    expect([3.25, -3.25, 0].map((score) => scored("go", { ...line, score }))).toEqual(["B+3.3", "W+3.3", "0"]);
    expect([1, -3].map((mate) => scored("chess", { ...line, mate, score: 0 }))).toEqual(["#1", "#−3"]);
    expect([scored("chess", line), scoreWords("chess", line)]).toEqual(["", ""]);
    expect([scoreWords("chess", { ...line, mate: -2 }), scoreWords("chess", { ...line, score: 0.5 }), scoreWords("go", { ...line, score: 0.5 })].map((words) => /White|Black/.exec(words)?.[0])).toEqual(["Black", "White", "Black"]);
  });
});

describe("layers of a board", () => {
  test("arrows: up to five, of 2% and more, the first in any case", () => {
    const moves = [0.019, 0.5, 0.02, 0.3, 0.1, 0.4].map((p, at) => ({ move: `m${at}`, san: `m${at}`, p }));
    expect(likely({ ply: 0, moves }).map(({ move }) => move)).toEqual(["m0", "m1", "m2", "m3", "m4"]);
    expect(likely(undefined)).toEqual([]);
  });

  test("tints grow with the value, and small ones have none", () => {
    const [none, little, much] = tints({ kind: "origin", values: [0.004, 0.25, 1] });
    expect([none!.strength, little!.strength, much!.strength, none!.text, little!.text]).toEqual([0, 0.5, 0.9, "", "25"]);
    const signed = tints({ kind: "signed", values: [0.2, -0.1, 0.001] });
    expect(signed.map(({ negative, text }) => [negative, text])).toEqual([[false, "+20"], [true, "−10"], [false, ""]]);
    expect(signed[0]!.strength).toBeGreaterThan(signed[1]!.strength);
    expect(tints({ kind: "plane", values: [0, 1, -0.25, -0.004] }).map(({ text }) => text)).toEqual(["", "", "−.25", ""]);
  });

  test("what the chosen layer shows of an answer; nothing without hints, but a count always", () => {
    const app = page(go("E5"), [network("gohuman", { game: "go" })]);
    const result = { ply: 0, owners: [1, 0], origin: [0.5], moves: [{ move: "A1", san: "A1", p: 0.9 }] };
    const node = app.node();
    expect(picture(app, node, result)).toMatchObject({ owners: [1, 0], heat: null, chains: false });
    shown.layers.go = "chains";
    expect(picture(app, node, result)).toMatchObject({ owners: null, chains: true });
    shown.layers.go = "owners";
    app.set({ hints: false });
    expect(picture(app, node, result)).toBe(NOTHING);
    shown.count = { node: node.id, dead: [], owners: [0.5, 1] };
    expect(picture(app, node, result).owners).toEqual([0.5, 1]);
    shown.count = null;
  });
});

describe("questions to the server", () => {
  test("only the latest counts, and what was asked before is given up", async () => {
    vi.useFakeTimers();
    const latest = new Latest(100);
    const heard: string[] = [];
    const signals: AbortSignal[] = [];
    const answers = [held<string>(), held<string>(), held<string>()];
    const ask = (at: number): void => latest.ask((signal) => (signals.push(signal), answers[at]!.answer), (answer) => heard.push(answer), (problem) => heard.push(`failed: ${problem}`), () => heard.push("slow"));
    ask(0);
    await vi.advanceTimersByTimeAsync(50);
    ask(1); // the first was never asked
    await vi.advanceTimersByTimeAsync(100);
    expect(signals).toHaveLength(1);
    ask(2);
    expect(signals[0]!.aborted).toBe(true);
    answers[1]!.give("late");
    await vi.advanceTimersByTimeAsync(600);
    answers[2]!.give("right");
    await vi.advanceTimersByTimeAsync(1);
    expect(heard).toEqual(["slow", "right"]);
    latest.ask(() => Promise.reject(new Error("no")), () => undefined, (problem) => heard.push(problem));
    await vi.advanceTimersByTimeAsync(200);
    expect(heard.at(-1)).toBe("no");
    vi.useRealTimers();
  });

  test("answers are kept as long as there is room, and by the weights that gave them", () => {
    const kept = new Kept<number>(2);
    kept.set("a", 1);
    kept.set("b", 2);
    kept.set("a", 3);
    kept.set("c", 4);
    expect(["a", "b", "c"].map((key) => kept.get(key))).toEqual([3, undefined, 4]);
    const known = new ByWeights<number>();
    known.of("one").set(7, 1);
    known.of("two").set(7, 2);
    known.forget(["two"]);
    expect([known.of("one").get(7), known.of("two").get(7)]).toEqual([undefined, 2]);
  });

  test("errors in words", () => {
    expect([message(new Error("gone")), message("text"), message(new Error(""))]).toEqual(["gone", "text", "Error"]);
  });
});

test("a game that is opened twice is one of the earlier games, and a changed copy is another", async () => {
  vi.stubGlobal("window", Object.assign(Object.create(globalThis), { addEventListener: () => undefined }));
  const store = new Store();
  const app = page();
  const first = chess("e4 e5");
  first.changed = true;
  app.open(first);
  new Keeper(app, store);
  app.open(chess("d4"));
  const earlier = async () => (await store.all()).map(({ about }) => about);
  await vi.waitFor(async () => expect(await earlier()).toHaveLength(1));
  const [kept] = await store.all();
  // Its address opened again, in another tab or after the tab was closed: a copy, with another position shown.
  const [copy] = reopened(kept!, true);
  app.open(copy);
  expect(distinct(await store.all(), copy).once).toEqual([]);
  app.open(chess("c4"));
  await vi.waitFor(async () => expect((await store.all()).map(({ key }) => key)).toEqual([copy.key]));
  // Copies of earlier visits go, too.
  await store.put({ ...kept!, key: "older", time: 1 });
  expect(await earlier()).toHaveLength(2);
  await unite(store);
  expect(await earlier()).toEqual([kept!.about]);
  // What differs in a move, a word or a name stays.
  const [changed] = reopened(kept!, true);
  add(changed, find(changed, "e5").id, after("chess", { ply: 2, turn: "w" }, "Nf3"));
  app.open(changed);
  app.open(chess("b4"));
  await vi.waitFor(async () => expect(await earlier()).toHaveLength(2));
  for (const other of [{ headers: { White: "Ana" } }, { nodes: kept!.nodes.map((each) => ({ ...each, comment: "x" })) }]) expect(distinct([kept!, { ...kept!, key: "other", ...other }]).again).toEqual([]);
});

/** The locks of a browser, which tabs share. */
class Locks {
  private readonly names = new Set<string>();

  async request(name: string, _: object, act: (lock: object | null) => Promise<void> | undefined): Promise<void> {
    if (this.names.has(name)) return act(null);
    this.names.add(name);
    await act({});
    this.names.delete(name);
  }

  query = async (): Promise<object> => ({ held: [...this.names].map((name) => ({ name })) });
}

test("a game that is open in another tab stays among the kept ones, also where the same game is newer", async () => {
  vi.stubGlobal("window", Object.assign(Object.create(globalThis), { addEventListener: () => undefined }));
  const locks = new Locks();
  vi.stubGlobal("navigator", { locks });
  const store = new Store();
  const keys = async (): Promise<string[]> => (await store.all()).map(({ key }) => key);
  const one = page();
  new Keeper(one, store);
  const first = chess("e4 e5");
  first.changed = true;
  one.open(first);
  one.open(chess("d4"));
  await vi.waitFor(async () => expect(await keys()).toEqual([first.key]));
  const [kept] = await store.all();
  // It is opened again here; another tab opens a copy, which has a name of its own from the start.
  one.open(...reopened(kept!));
  const two = page();
  new Keeper(two, store);
  const copy = reopened(kept!)[0];
  two.open(copy);
  await vi.waitFor(() => expect(copy.key).not.toBe(first.key));
  const { query } = locks;
  await vi.waitFor(async () => expect(JSON.stringify(await query())).toContain(copy.key));
  await store.put({ ...kept!, key: copy.key, time: kept!.time + 1 });
  await store.put({ ...kept!, key: "closed", time: kept!.time + 2 });
  expect(await unite(store)).toHaveLength(1);
  expect(await keys()).toEqual([copy.key, first.key]);
  // Nor do many newer games push it out.
  for (let at = 0; at < 25; at += 1) await store.put({ ...kept!, key: `n${at}`, time: kept!.time + 10 + at });
  expect(await keys()).toEqual(expect.arrayContaining([copy.key, first.key]));
  for (const key of await keys()) if (key.startsWith("n")) await store.remove(key);
  // Once the other tab has left it, one of them is enough.
  two.open(chess("c4"));
  await vi.waitFor(async () => expect(await keys()).toEqual([first.key]));
});

test("an earlier game is named by its first moves, with the number of each move of the first column", () => {
  const black = chess();
  black.start.fen = "8/8/8/8/8/8/8/8 b - - 0 7";
  Object.assign(black.nodes.get(black.root)!, { turn: "b", fen: black.start.fen });
  const moves = ["a", "b", "c"].reduce((at, move, place) => add(black, at, { ...after("chess", { ply: place, turn: place % 2 ? "w" : "b" }, move), fen: `8 ${place % 2 ? "b" : "w"} - - 0 ${8 + Math.floor(place / 2)}` }).id, black.root);
  expect(black.nodes.has(moves)).toBe(true);
  expect(firstMoves(black)).toBe("7… a 8. b c (2 moves)");
  expect(firstMoves(chess("a b c d e f g"))).toBe("1. a b 2. c d 3. e f … (4 moves)");
  expect(firstMoves(go("A1 B1 C1"))).toBe("1. A1 B1 3. C1 (3 moves)");
});

test("a person's run without metrics is not said to be missing", () => {
  expect(withoutMetrics([network("human"), network("runs/personal-ana", { person: "Ana" })])).toContain("personal-ana");
  expect(withoutMetrics([network("human")])).not.toContain("personal");
});
