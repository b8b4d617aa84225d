/** Mistakes that the browser keeps: which are due, how many there is room for, and how one is opened without its game. */

import { beforeEach, describe, expect, test, vi } from "vitest";

import { exerciseOf, type KeptMistake, KeptMistakes, MOST, ROOM } from "../src/mygames/keptmistakes";
import { cardOf, Schedule } from "../src/mygames/schedule";
import { App } from "../src/app/state";
import { Refused } from "../src/server/api";
import { Judging, type Judgement } from "../src/server/judging";
import { type Exercise, Handover } from "../src/app/handover";
import { Mistakes } from "../src/analysis/mistakes";
import { mountPuzzles } from "../src/mygames/puzzles";
import { texts } from "../src/texts";
import { withDocument } from "./support/document";
import { after, chess, find, network, page } from "./support/games";
import { held, Server, until } from "./support/server";

const KEY = "kibitz-mistakes";
let now: Date;
let schedule: Schedule;
let mistakes: KeptMistakes;

const judgement: Judgement = { ply: 3, loss: 0.3, mark: "??", best: { move: "d2d4", san: "d4" }, line: ["d4"], only: false, white: { before: 0.5, after: 0.2 }, exact: true };
const mistake = (name: string, more: Partial<KeptMistake> = {}): KeptMistake => ({
  card: cardOf("Muñoz, Ana", name),
  line: { game: "chess", moves: ["e2e4", "e7e5"], ratings: [1500, 0] },
  move: "d1h5",
  judge: "human 1",
  judgement,
  ...more,
});
const practiced = (each: KeptMistake, answer: "first" | "failed" = "failed"): void => {
  schedule.attempt(each.card)(answer);
  mistakes.add(each);
};
const cards = (found: KeptMistake[]): string[] => found.map(({ card }) => card);

beforeEach(() => {
  now = new Date(2026, 2, 2, 12);
  schedule = new Schedule(() => now);
  mistakes = new KeptMistakes(schedule);
});

describe("mistakes that are due", () => {
  test("come the most overdue first, without those of the game on the board", () => {
    const [a, b, known, go] = [mistake("a"), mistake("b"), mistake("known"), mistake("go", { line: { game: "go", size: 9, komi: 7, rules: "chinese", setup: { B: [], W: [] }, side: "b", moves: ["E5"] }, move: "A1", judgement: null })];
    practiced(known, "first");
    practiced(b);
    now = new Date(2026, 2, 3, 12);
    practiced(a);
    practiced(go);
    expect(mistakes.due(new Set())).toEqual([b]);
    now = new Date(2026, 2, 4, 0, 1);
    expect(cards(mistakes.due(new Set()))).toEqual(cards([b, a, go]));
    expect(cards(mistakes.due(new Set(), "chess"))).toEqual(cards([b, a]));
    expect(cards(mistakes.due(new Set([b.card]), "chess"))).toEqual(cards([a]));
    // Another page finds them, and no name is kept.
    expect(new KeptMistakes(schedule).due(new Set())).toHaveLength(3);
    expect(localStorage.getItem(KEY)).not.toMatch(/ana|mu/i);
  });

  test("one that is answered again is kept once, as it was found last", () => {
    practiced(mistake("a", { judgement: null }));
    practiced(mistake("a"));
    now = new Date(2026, 2, 3, 12);
    expect(mistakes.due(new Set())).toEqual([mistake("a")]);
  });

  test("there is room for so many, and for so many characters", () => {
    for (let at = 0; at < ROOM + 3; at += 1) practiced(mistake(`p${at}`));
    now = new Date(2026, 2, 3, 12);
    const found = mistakes.due(new Set());
    expect(found).toHaveLength(ROOM);
    expect(cards(found)).not.toContain(cardOf("Muñoz, Ana", "p2"));
    const long = Array.from({ length: 30_000 }, () => "E5");
    for (let at = 0; at < 12; at += 1) practiced(mistake(`long${at}`, { line: { game: "go", moves: long } }));
    expect(localStorage.getItem(KEY)!.length).toBeLessThanOrEqual(MOST);
    now = new Date(2026, 2, 5, 12);
    expect(cards(mistakes.due(new Set()))).toContain(cardOf("Muñoz, Ana", "long11"));
  });

  test("one with a damaged judgment is not shown, and the others are", () => {
    practiced(mistake("a"));
    practiced(mistake("b"));
    now = new Date(2026, 2, 3, 12);
    const [a, b] = JSON.parse(localStorage.getItem(KEY)!) as KeptMistake[];
    for (const wrong of [{ ...judgement, white: {} }, { ...judgement, best: { move: 7, san: "d4" } }, { ...judgement, line: [null] }, { ...judgement, reason: {} }, { ...judgement, reason: { code: "a", texts: { en: 7 } } }, { ...judgement, reason: { code: "a", texts: { en: "It hangs." }, lines: [{ moves: [7], written: "d4" }] } }]) {
      localStorage.setItem(KEY, JSON.stringify([{ ...a, judgement: wrong }, b]));
      expect(cards(mistakes.due(new Set()))).toEqual([b!.card]);
    }
    localStorage.setItem(KEY, JSON.stringify([{ ...a, judgement: { ...judgement, reason: { code: "a", texts: { en: "It hangs." }, lines: [{ instead: true, moves: ["d2d4"], written: "d4" }] } } }, b]));
    expect(cards(mistakes.due(new Set()))).toHaveLength(2);
  });

  test.each(["", "{", "7", '[null, 7, {"card": "x"}]'])("storage that is %j has none", (text) => {
    localStorage.setItem(KEY, text);
    expect(mistakes.due(new Set())).toEqual([]);
    practiced(mistake("a"));
    now = new Date(2026, 2, 3, 12);
    expect(mistakes.due(new Set())).toHaveLength(1);
  });
});

test("a kept mistake opens its position, and what was found is known at once", async () => {
  const server = new Server();
  const fen = "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2";
  const names = [null, "e2e4", "e7e5", "d1h5"];
  server.on("line", () => ({ nodes: names.map((move, ply) => ({ ply, move, san: move ?? "", turn: ply % 2 ? "b" : "w", end: null, fen })) }));
  const app = new App();
  const judging = new Judging(app);
  const one = mistake("a", { judge: judging.judge });
  const last = await exerciseOf(app, judging, one).open();
  expect(server.of("line")[0]!.line).toEqual({ game: "chess", moves: ["e2e4", "e7e5", "d1h5"] });
  expect(app.node(last)).toMatchObject({ move: "d1h5", ply: 3 });
  expect(app.line(last).ratings).toEqual([1500, 0]);
  expect(judging.exact(last)).toEqual(judgement);
  const timed = mistake("t", { line: { ...one.line, headers: { TimeControl: "600" } } });
  expect(app.line(await exerciseOf(app, judging, timed).open())).toMatchObject({ ratings: [1500, 0], headers: { TimeControl: "600" } });
  // Of another network, or another engine, it is not taken.
  const other = await exerciseOf(app, judging, mistake("a", { judge: "winner 1" })).open();
  expect(judging.exact(other)).toBeUndefined();
  // While a game may not be left, it stays.
  app.mayLeave = () => Promise.resolve(false);
  await expect(exerciseOf(app, judging, one).open()).rejects.toThrow();
});

test("what is kept is read once, not at every drawing, and again once it has changed", () => {
  practiced(mistake("a"));
  now = new Date(2026, 2, 3, 12);
  expect(mistakes.due(new Set())).toHaveLength(1);
  const read = vi.spyOn(JSON, "parse");
  for (let at = 0; at < 5; at += 1) mistakes.due(new Set());
  expect(read).not.toHaveBeenCalled();
  localStorage.setItem(KEY, "[]");
  expect(mistakes.due(new Set())).toEqual([]);
  expect(read).toHaveBeenCalledTimes(1);
});

test("a game that was opened while a kept mistake was looked for stays", async () => {
  const { answer, give } = held<object>();
  const server = new Server().on("line", () => answer);
  const app = new App();
  const opening = exerciseOf(app, null, mistake("a")).open();
  await until(() => server.of("line").length === 1);
  const other = chess("d4 d5");
  app.open(other);
  give({ nodes: [null, "e2e4", "e7e5", "d1h5"].map((move, ply) => ({ ply, move, san: move ?? "", turn: ply % 2 ? "b" : "w", end: null, fen: "8/8/8/8/8/8/8/8 w - - 0 1" })) });
  await expect(opening).rejects.toThrow(texts.state.meanwhile);
  expect(app.game).toBe(other);
});

test("a second click while the first mistake opens begins the practice all the same", async () => {
  const { element } = withDocument();
  new Server();
  const app = page(chess("e4 e5 Qh5"));
  const given = new Handover<{ about: string; card: string; open: () => Promise<number> }[]>();
  mountPuzzles(element, app, new Mistakes(app, new Judging(app)), given);
  const id = find(app.game, "Qh5").id;
  const first = held<number>();
  const second = vi.fn(() => Promise.resolve(id));
  given.give([{ about: "", card: "a a", open: () => first.answer }]);
  given.give([{ about: "", card: "a a", open: second }]);
  first.give(id);
  await until(() => second.mock.calls.length === 1);
  await until(() => app.cursor === app.node(id).parent);
  expect(app.hints).toBe(false);
});

describe("a mistake that cannot be opened", () => {
  const none = { about: "", card: mistake("sound").card, open: () => Promise.reject(new Error("not asked")) };
  const damaged = { about: "", card: mistake("damaged").card, open: () => Promise.reject(new Refused("move 1, e2e9, is not a move")), kept: true };
  let app: App;
  let given: Handover<Exercise[]>;
  let id: number;

  beforeEach(() => {
    const { element } = withDocument();
    new Server();
    app = page(chess("e4 e5 Qh5"));
    given = new Handover();
    mountPuzzles(element, app, new Mistakes(app, new Judging(app)), given);
    id = find(app.game, "Qh5").id;
    practiced(mistake("damaged"));
    practiced(mistake("sound"));
    now = new Date(2026, 2, 3, 12);
  });
  const known = (): string[] => cards(new KeptMistakes(schedule).due(new Set()));

  test("is left out of a practice, and forgotten", async () => {
    const open = vi.fn(() => Promise.resolve(id));
    given.give([damaged, { ...none, open }]);
    await until(() => app.cursor === app.node(id).parent);
    expect(open).toHaveBeenCalledTimes(1);
    expect(known()).toEqual([none.card]);
  });

  test("is forgotten if it is the only one, which says why", async () => {
    given.give([damaged]);
    await until(() => app.problem);
    expect(app.status).toContain("e2e9");
    expect(known()).toEqual([none.card]);
  });

  test.each([
    ["the server is busy or lets nobody in", { ...damaged, open: () => Promise.reject(new Refused("busy", 503)) }],
    ["it is a game of the report, which the server no longer has", { ...damaged, kept: false }],
  ])("stays if %s", async (_, refused) => {
    given.give([refused, none]);
    await until(() => app.problem);
    expect(known()).toHaveLength(2);
  });
});

test("a try counts against the best move as the same search sees it, and the best move is named", async () => {
  const { element, host } = withDocument();
  const server = new Server();
  const app = page(chess("e4 e5 Qh5"), [network("winner")]);
  const judging = new Judging(app);
  const id = find(app.game, "Qh5").id;
  // The search found 72% before the move, and finds 68% after the best one.
  const values: Record<string, number> = { Qh5: 0.3, d4: 0.68, Nf3: 0.66, a3: 0.64 };
  server.on("move", ({ line, move }) => ({ node: after("chess", { ply: line.moves.length, turn: "w" }, move) }));
  server.on("judge", ({ line, from, to }) => {
    const each = (ply: number): object => {
      const value = values[line.moves[ply - 1]] ?? 0.5;
      return { ply, loss: 0.72 - value, mark: "", best: { move: "d4", san: "d4" }, line: ["d4"], only: false, white: { before: 0.72, after: value }, exact: true };
    };
    return [{ total: 1 }, ...Array.from({ length: to - from + 1 }, (_, at) => each(from + at)), { done: true }];
  });
  const given = new Handover<Exercise[]>();
  mountPuzzles(element, app, new Mistakes(app, judging), given);
  given.give([{ about: "", card: "a a", open: () => Promise.resolve(id) }]);
  await until(() => app.cursor === app.node(id).parent);
  await until(() => judging.exact(id) !== undefined);
  const tells = async (move: string, words: string): Promise<void> => {
    host.all("button").find((each) => each.textContent === texts.puzzles.again)!.click();
    await until(() => app.cursor === app.node(id).parent);
    await app.play(move);
    await until(() => host.textContent.includes(words));
  };
  await tells("Nf3", texts.puzzles.good("Nf3"));
  await tells("a3", texts.puzzles.partly("a3"));
  await tells("d4", texts.puzzles.isBest("d4"));
}, 60_000);
