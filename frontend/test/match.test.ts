/** A game against a network or a program, with the page's own logic and a server that the test plays. */

import { beforeEach, describe, expect, test, vi } from "vitest";

import type { Control } from "../src/play/clock";
import * as confirming from "../src/ui/confirming";
import { ending } from "../src/app/naming";
import { Match, RESIGN, type Strength } from "../src/play/match";
import { said } from "../src/play/play";
import { strength } from "../src/play/strengths";
import { SHORT_SEARCH } from "../src/server/api";
import { shown } from "../src/board/overlays";
import type { App, Game } from "../src/app/state";
import { texts } from "../src/texts";
import { after, chess, find, go, network, page, words } from "./support/games";
import { held, Server, until } from "./support/server";

const STRENGTH: Strength = { method: "top-prob", temperature: 0, nodes: null, seconds: 1, rating: null };
const HER = { name: "chessnet", program: false };

let server: Server;
let app: App;
let match: Match;
/** Moves that the opponent makes, one after the other. */
let answers: (string | object)[];
/** Positions that end the game, by their move. */
let ends: Record<string, string>;

beforeEach(() => {
  server = new Server();
  answers = [];
  ends = {};
  server.on("move", ({ line, move }) => {
    const ply = line.moves.length;
    const first = line.side ?? "w";
    const turn = ply % 2 ? (first === "w" ? "b" : "w") : first;
    return { node: after(line.game, { ply, turn }, move, { end: ends[move] ?? null }) };
  });
  const think = (): object[] => {
    const next = answers.shift() ?? "none";
    return typeof next === "string" ? [{ move: next === "none" ? null : next, done: true }] : [next, { ...next, done: true }];
  };
  server.on("think", think);
  server.on("programs/think", think);
  return () => match.end();
});

function sit(game: Game = chess(), networks = [network("chessnet"), network("gohuman", { game: "go" })]): void {
  app = page(game, networks);
  match = new Match(app, () => undefined);
}

function begin(human: "w" | "b" = "w", control: Control | null = null, opponent = HER): void {
  match.begin(opponent, human, STRENGTH, control);
}

const state = (wanted: string): Promise<void> => until(() => match.state === wanted);

/** The person moves and waits for the answer. */
async function play(move: string, answer?: string | object): Promise<void> {
  if (answer) answers.push(answer);
  await app.play(move);
  if (answer) await state("human");
}

describe("moves", () => {
  test("each move is answered, and the record has both players", async () => {
    sit();
    begin();
    expect([match.state, shown.sides]).toEqual(["human", "w"]);
    await play("e4", "e5");
    await play("Nf3", "Nc6");
    expect(words(app.game)).toBe("e4 e5 Nf3 Nc6");
    expect(server.of("think")[0]).toMatchObject({ network: "chessnet", line: { moves: ["e4"] }, method: "top-prob", seconds: 1 });
    expect(app.game.headers).toMatchObject({ Black: "chessnet", Result: "*", TimeControl: "-" });
    expect(app.game.headers.Date).toMatch(/^\d{4}\.\d\d\.\d\d$/);
    match.resign();
    expect([match.state, match.result, app.game.headers.Result, shown.sides]).toEqual(["over", "b", "0-1", "both"]);
  });

  test("the opponent has not stopped while its move is made", async () => {
    const all: string[] = [];
    sit();
    match = new Match(app, () => all.push(said(match)));
    begin();
    await play("e4", "e5");
    await play("Nf3", "Nc6");
    expect(all).toContain(texts.play.thinks("chessnet"));
    expect(all).not.toContain(texts.play.stopped("chessnet"));
    // It has where the person stops it.
    const silent = held<object[]>();
    server.on("think", () => silent.answer);
    await app.play("d4");
    match.stop();
    expect(all.at(-1)).toBe(texts.play.stopped("chessnet"));
    silent.give([{ move: "d5", done: true }]);
  });

  test("the opponent begins where the person has Black", async () => {
    sit();
    answers = ["e4"];
    begin("b");
    await state("human");
    expect([words(app.game), app.game.headers.White]).toEqual(["e4", "chessnet"]);
  });

  test("a program is asked as such", async () => {
    sit();
    begin("w", null, { name: "fish", program: true });
    await play("e4", "a5");
    expect(server.of("programs/think")[0]).toMatchObject({ program: "fish" });
    expect(app.game.headers.Black).toBe("fish");
  });

  test("what fails can be asked again", async () => {
    sit();
    begin();
    server.on("think", () => [{ error: "it ended" }]);
    await app.play("e4");
    await state("lost");
    expect(match.problem).toContain("it ended");
    server.on("think", () => [{ move: "e5", done: true }]);
    match.again();
    await state("human");
    expect(words(app.game)).toBe("e4 e5");
  });

  test("thinking is stopped, and the best so far is played", async () => {
    sit();
    begin();
    server.on("think", () => [{ pv: ["c5", "Nf3"] }]);
    const silent = held<object[]>();
    server.on("think", () => silent.answer);
    await app.play("e4");
    expect(match.state).toBe("thinking");
    match.thought = { pv: ["c5", "Nf3"] };
    match.stop();
    expect(match.state).toBe("stopped");
    silent.give([{ move: "e5", done: true }]);
    match.playBest();
    await state("human");
    expect(words(app.game)).toBe("e4 c5");
  });

  test("how positions end a game", async () => {
    const said = (end: string, turn: "w" | "b" = "w"): string => ending({ ...find(chess("e4"), "e4"), end, turn });
    expect(said("checkmate", "b")).toMatch(/White/);
    expect(said("checkmate", "w")).toMatch(/Black/);
    for (const end of ["stalemate", "dead", "repetition", "fifty moves", "passes", "something new"]) expect(said(end), end).not.toBe("");
    expect(ending(find(chess("e4"), "e4"))).toBe("");
    for (const [end, result, score] of [["checkmate", "w", "1-0"], ["stalemate", "draw", "1/2-1/2"]] as const) {
      sit();
      begin();
      ends = { e4: end };
      await app.play("e4");
      expect([match.state, match.result, app.game.headers.Result]).toEqual(["over", result, score]);
    }
  });
});

describe("taking back", () => {
  test("what is played after it is the game, and what was taken back is a variation", async () => {
    sit();
    begin();
    await play("e4", "e5");
    app.undo();
    expect([app.node().san, match.state]).toEqual(["", "human"]);
    await play("d4", "d5");
    expect(words(app.game)).toBe("d4 (e4 e5) d5");
    expect(app.status).toContain("d5");
    match.takeBack();
    expect(app.status).toBe("");
    match.retry();
    expect([app.cursor, match.state]).toEqual([app.game.root, "human"]);
    expect(match.canTakeBack).toBe(false);
  });

  test("the first move of the opponent is not taken back", async () => {
    sit();
    answers = ["e4"];
    begin("b");
    await state("human");
    app.undo();
    expect([words(app.game), match.state]).toEqual(["e4", "human"]);
  });

  for (const [act, leave] of [["the game is left", () => match.end()], ["the move is taken back", () => match.takeBack()]] as const) {
    test(`a move of the opponent that comes after ${act} is not made`, async () => {
      sit();
      begin();
      const { answer, give } = held<object>();
      const usual = server.of("move").length;
      answers = ["e5"];
      await app.play("e4");
      server.on("move", () => answer);
      await until(() => server.of("move").length > usual + 1);
      expect(match.making).toBe(true);
      leave();
      give({ node: after("chess", { ply: 1, turn: "b" }, "e5") });
      server.on("move", ({ line, move }) => ({ node: after("chess", { ply: line.moves.length, turn: "w" }, move) }));
      if (match.state === "none") await app.play("c5");
      else {
        answers = ["d5"];
        server.on("move", ({ line, move }) => ({ node: after("chess", { ply: line.moves.length, turn: line.moves.length % 2 ? "b" : "w" }, move) }));
        await app.play("d4");
        await state("human");
      }
      expect(words(app.game)).toBe(match.state === "none" ? "e4 c5" : "d4 (e4) d5");
    });
  }

  test("a look at another position is no move", async () => {
    sit(chess("e4 e5 (c5)"));
    app.step(2);
    begin();
    app.go(find(app.game, "c5").id);
    expect([match.state, shown.sides]).toEqual(["away", "w"]);
    match.back();
    expect([match.state, app.node().san]).toEqual(["human", "e5"]);
    await play("Nf3", "Nc6");
    app.go(find(app.game, "e4").id);
    expect(match.state).toBe("away");
    app.go(find(app.game, "Nc6").id);
    expect(match.state).toBe("human");
  });

  test("a game whose last position is deleted is over with", async () => {
    sit();
    begin();
    await play("e4", "e5");
    app.alter("", () => app.game.nodes.delete(find(app.game, "e5").id), () => undefined);
    expect(match.state).toBe("none");
  });
});

describe("resigning", () => {
  test.each([
    ["yes", true, "over"],
    ["no", false, "human"],
  ])("is asked for: %s", async (_, answer, then) => {
    sit();
    begin();
    const asked = vi.spyOn(confirming, "confirmed").mockResolvedValue(answer);
    await match.askToResign();
    expect(asked).toHaveBeenCalledOnce();
    expect(asked.mock.calls[0]![0]).toContain("chessnet");
    expect([match.state, app.game.headers.Result]).toEqual([then, answer ? "0-1" : "*"]);
  });

  test("a yes counts no more when the game is over meanwhile", async () => {
    sit();
    begin();
    vi.spyOn(confirming, "confirmed").mockImplementation(() => {
      match.end();
      return Promise.resolve(true);
    });
    await match.askToResign();
    expect([match.state, match.result]).toEqual(["none", ""]);
  });
});

describe("the record", () => {
  test("players that it names stay", async () => {
    sit(chess("e4 e5"));
    app.game.headers = { White: "Ann", Black: "Bo", Result: "1-0" };
    app.step(2);
    begin();
    match.resign();
    expect(app.game.headers).toEqual({ White: "Ann", Black: "Bo", Result: "1-0" });
  });

  test("the next game of a record that was played here names its own players", async () => {
    sit();
    begin();
    await play("e4", "e5");
    match.resign();
    answers = ["Nf3"];
    match.begin({ name: "other", program: false }, "b", STRENGTH);
    await state("human");
    expect(app.game.headers).toMatchObject({ White: "other", Result: "*" });
  });

  test("a network that plays like people is called a network", () => {
    sit(chess(), [network("human", { rated: true })]);
    match.begin({ name: "human", program: false }, "w", { ...STRENGTH, rating: 1000 });
    expect(app.game.headers.Black).toMatch(/human .*network/);
    expect(app.game.headers.Event).toContain("1000");
    expect([app.game.headers.WhiteElo, app.game.headers.BlackElo]).toEqual([undefined, "1000"]);
    match.begin({ name: "human", program: false }, "b", STRENGTH);
    expect([app.game.headers.WhiteElo, app.game.headers.BlackElo]).toEqual([undefined, undefined]);
  });

  test("of Go a program resigns, and the record says so", async () => {
    sit(go());
    server.on("programs/think", () => [{ move: RESIGN, done: true }]);
    match.begin({ name: "gnugo", program: true }, "b", STRENGTH);
    await app.play("E5");
    await state("over");
    expect([app.game.headers.RE, app.game.headers.PB !== undefined, app.game.headers.PW]).toEqual(["B+R", true, "gnugo"]);
  });

  test("of Go that both have passed, the count says who has won", async () => {
    sit(go());
    match.begin({ name: "gohuman", program: false }, "b", STRENGTH);
    ends = { pass2: "passes" };
    answers = ["pass2"];
    await app.play("pass1");
    await state("over");
    shown.counted!("w", "White wins by 3.5.");
    expect([match.result, match.outcome]).toEqual(["w", expect.stringContaining("3.5")]);
    match.takeBack();
    expect([match.state, match.outcome, app.game.headers.RE]).toEqual(["human", "", undefined]);
  });
});

describe("an opponent that may give up or offer a draw", () => {
  /** Its chance is so low, as White's chance where the person has White. */
  const thinks = (move: string, white: number): object => ({ move, white });

  test("gives up where it was without hope three times", async () => {
    sit();
    match.yields = true;
    begin();
    await play("m1", thinks("a1", 0.98));
    await play("m2", thinks("a2", 0.99));
    answers = [thinks("a3", 0.975)];
    await app.play("m3");
    await state("over");
    expect([match.result, app.game.headers.Result, words(app.game)]).toEqual(["w", "1-0", "m1 a1 m2 a2 m3"]);
  });

  test("plays on where it was asked to", async () => {
    sit();
    match.yields = false;
    begin();
    for (let i = 0; i < 5; i += 1) await play(`m${i}`, thinks(`a${i}`, 0.999));
    expect(match.state).toBe("human");
  });

  test("a draw is declined early, and once in each position", async () => {
    sit();
    begin();
    expect(match.mayOffer).toBe(false);
    await play("m1", thinks("a1", 0.5));
    expect(match.mayOffer).toBe(true);
    match.offerDraw();
    expect([match.state, match.mayOffer, match.reply !== ""]).toEqual(["human", false, true]);
    await play("m2", thinks("a2", 0.5));
    expect([match.mayOffer, match.reply]).toEqual([true, ""]);
  });

  test("a draw is taken late by one that thinks itself no better, not by one that does", async () => {
    for (const [white, state] of [[0.5, "over"], [0.3, "human"]] as const) {
      sit(chess(Array.from({ length: 20 }, (_, ply) => `o${ply}`).join(" ")));
      app.step(20);
      begin();
      await play("m1", thinks("a1", white));
      match.offerDraw();
      expect([match.state, app.game.headers.Result]).toEqual([state, state === "over" ? "1/2-1/2" : "*"]);
    }
  });

  test("it offers a draw in a long even game, until the person has moved", async () => {
    sit(chess(Array.from({ length: 80 }, (_, ply) => `o${ply}`).join(" ")));
    app.step(80);
    match.yields = true;
    begin();
    for (let i = 0; i < 6; i += 1) {
      expect(match.offers).toBe(false);
      await play(`m${i}`, thinks(`a${i}`, 0.52));
    }
    expect(match.offers).toBe(true);
    match.accept();
    expect([match.result, app.game.headers.Result]).toEqual(["draw", "1/2-1/2"]);
  });
});

describe("warnings of mistakes", () => {
  const CHECK = { mark: "??", loss: 0.5, before: 0.6, after: 0.1, points: null, reply: ["Nxe5"], done: true };

  test("a blunder waits; it stands where the person goes on", async () => {
    sit(chess("e4 e5"));
    app.step(2);
    match.teaches = true;
    begin();
    server.on("check", () => [CHECK]);
    await app.play("Qh5");
    await state("advised");
    expect(match.advice).toContain("Qh5??");
    expect(match.advice).toContain("Nxe5");
    expect([words(app.game), server.of("think").length]).toEqual(["e4 e5 Qh5", 0]);
    match.takeBack();
    expect([match.state, match.advice, app.node().san]).toEqual(["human", "", "e5"]);
    server.on("check", () => [{ ...CHECK, mark: "", loss: 0 }]);
    await play("Nf3", "Nc6");
    expect(words(app.game)).toBe("e4 e5 Nf3 (Qh5) Nc6");
    // A look at what was taken back is no move of the game.
    app.go(find(app.game, "Qh5").id);
    expect(match.state).toBe("away");
    match.back();
    expect([match.state, words(app.game)]).toEqual(["human", "e4 e5 Nf3 (Qh5) Nc6"]);
    server.on("check", () => [CHECK]);
    await app.play("Nxe5");
    await state("advised");
    answers = ["Nxe5!"];
    match.goOn();
    await state("human");
    expect(words(app.game)).toContain("Nxe5 Nxe5!");
  });

  test("a move that could not be judged is answered", async () => {
    sit(chess("e4 e5"));
    app.step(2);
    match.teaches = true;
    begin();
    server.on("check", () => [{ error: "no search" }]);
    await play("Nf3", "Nc6");
    expect(words(app.game)).toBe("e4 e5 Nf3 Nc6");
  });

  test("nobody judges where no network can", async () => {
    sit(chess("e4 e5"), [network("moves", { answers: ["moves"] })]);
    app.step(2);
    match.teaches = true;
    begin();
    await play("Nf3", "Nc6");
    expect(server.of("check")).toEqual([]);
  });
});

describe("with clocks", () => {
  beforeEach(() => {
    vi.useFakeTimers({ shouldAdvanceTime: true });
    return () => vi.useRealTimers();
  });

  const FIVE = { base: 300, increment: 3 };

  test("time runs in the person's turn, is in the record, and comes back with what is taken back", async () => {
    sit();
    begin("w", FIVE);
    vi.advanceTimersByTime(120_000); // the first move is free
    await play("e4", "e5");
    vi.advanceTimersByTime(30_000);
    await play("d3", "d6");
    const left = match.clock!.at(app.cursor, "w");
    expect(left).toBeGreaterThan(265);
    expect(left).toBeLessThanOrEqual(273);
    expect(app.game.headers.TimeControl).toBe("300+3");
    expect(find(app.game, "e4").commands?.clk).toBe("0:05:00.0");
    match.takeBack();
    expect(match.clock!.at(app.cursor, "w")).toBe(300);
    expect(server.of("think")[0]!.seconds).toBeLessThanOrEqual(1);
  });

  test("time that is over loses, and is told of before", async () => {
    sit();
    begin("w", { base: 60, increment: 0 });
    await play("e4", "e5");
    vi.advanceTimersByTime(45_000);
    expect(app.status).toContain("20");
    vi.advanceTimersByTime(20_000);
    expect([match.state, match.result]).toEqual(["over", "b"]);
    expect(app.game.headers).toMatchObject({ Result: "0-1", Termination: "Time forfeit", TimeControl: "60" });
  });

  test("time that is over against a bare king is a draw", async () => {
    sit();
    server.on("move", ({ line, move }) => {
      const ply = line.moves.length;
      return { node: after("chess", { ply, turn: ply % 2 ? "b" : "w" }, move, { fen: `4k3/8/8/8/8/8/4P3/4K3 ${ply % 2 ? "w" : "b"} - - 0 1` }) };
    });
    begin("w", { base: 60, increment: 0 });
    await play("e4", "e5");
    vi.advanceTimersByTime(61_000);
    expect([match.result, app.game.headers.Result]).toEqual(["draw", "1/2-1/2"]);
  });
});

describe("a reload", () => {
  test("goes on with the game that the tab had, and with its settings", async () => {
    sit();
    match.teaches = true;
    server.on("check", () => [{ mark: "", loss: 0, before: 0.5, after: 0.5, points: null, reply: [], done: true }]);
    begin("w", { base: 300, increment: 3 });
    await play("e4", "e5");
    const before = { opponent: match.opponent, since: match.clock!.since };
    const again = chess("e4 e5");
    sit(again);
    app.begin();
    await state("human");
    expect([match.opponent, match.human, match.teaches, match.clock!.since, app.node().san]).toEqual([before.opponent, "w", true, before.since, "e5"]);
    await play("Nf3", "Nc6");
    expect(words(app.game)).toBe("e4 e5 Nf3 Nc6");
    match.resign();
    expect(app.game.headers.Result).toBe("0-1");
  });

  test("a game without a move goes on too, of Go from its own start", async () => {
    for (const game of [chess, go]) {
      sit(game());
      const opponent = { name: "gohuman", program: false };
      match.begin(opponent, game === go ? "b" : "w", STRENGTH);
      sit(game());
      app.begin();
      await state("human");
      expect(match.opponent).toEqual(opponent);
      match.end();
    }
  });

  test("another game, or one that is over, does not go on", async () => {
    sit();
    begin();
    await play("e4", "e5");
    sit(chess("d4 d5"));
    app.begin();
    await app.begun;
    await Promise.resolve();
    expect(match.state).toBe("none");
    begin();
    match.resign();
    sit(chess("d4 d5"));
    app.begin();
    await app.begun;
    await Promise.resolve();
    expect(match.state).toBe("none");
  });
});

describe("thinking times", () => {
  const LIKE: Strength = { ...STRENGTH, temperature: 1, seconds: 5, rating: 1500 };
  const CLOCK = { base: 180, increment: 2 };

  async function asked(strength: Strength, control: Control | null, paces = true): Promise<Record<string, unknown>> {
    sit();
    match.paces = paces;
    match.begin(HER, "w", strength, control);
    await play("e4", "e5");
    await play("d4", "d5");
    const last = server.of("think").at(-1)!;
    return Object.fromEntries(Object.entries(last).filter(([name]) => ["clock", "increment", "start"].includes(name)));
  }

  test("an opponent like people is asked how long they think", async () => {
    const { clock, ...rest } = await asked(LIKE, CLOCK);
    expect(clock).toBeGreaterThan(170);
    expect(rest).toEqual({ increment: 2, start: 180 });
  });

  test.each([
    ["without a clock", LIKE, null, true],
    ["at full strength", STRENGTH, CLOCK, true],
    ["unless it is wanted", LIKE, CLOCK, false],
  ])("not %s", async (_, strength, control, paces) => {
    expect(await asked(strength, control, paces)).toEqual({});
  });

  test("its move is made after that time, or not at all once it is stopped", async () => {
    await asked(LIKE, CLOCK);
    const before = Date.now();
    await play("c4", { move: "a6", people_seconds: 0.2 });
    expect(Date.now() - before).toBeGreaterThanOrEqual(150);
    answers.push({ move: "b6", people_seconds: 3600 });
    await app.play("b3");
    await until(() => server.of("think").length === 4);
    match.stop();
    expect([match.state, words(app.game)]).toEqual(["stopped", "e4 e5 d4 d5 c4 a6 b3"]);
  });
});

describe("help", () => {
  test("is off while one plays, and as it was afterwards", () => {
    sit();
    expect(app.hints).toBe(true);
    begin();
    expect(app.hints).toBe(false);
    match.end();
    expect(app.hints).toBe(true);
  });

  test("a game that runs is not left without a question", () => {
    sit();
    begin();
    expect(app.mayLeave).not.toBeNull();
    match.resign();
    expect(app.mayLeave).toBeNull();
  });

  test("a move ahead of one's turn may be made while a network of chess thinks", async () => {
    sit();
    begin();
    const { answer, give } = held<object[]>();
    server.on("think", () => answer);
    expect(shown.early).toBeNull();
    await app.play("e4");
    expect(shown.early).toBe("w");
    give([{ move: "e5", done: true }]);
    await state("human");
    expect(shown.early).toBeNull();
  });
});

test("the record of a game against the short search of a shared page has its time, and no clock", () => {
  sit();
  match.begin(HER, "w", strength({ method: SHORT_SEARCH }));
  expect(app.game.headers.Event).toContain(texts.match.secondsAMove(1));
  expect(app.game.headers.Event).not.toContain(texts.match.onClock);
});
