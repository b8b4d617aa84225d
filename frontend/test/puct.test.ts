/** The short search of a page without a server, with networks that the test plays. */

import { describe, expect, test } from "vitest";
import type { Line } from "../src/app/state";
import { searchRules as chessRules } from "../src/share/chesssearch";
import { legalMoves, Played, replay, startOf, uciOf } from "../src/share/chessrules";
import { searchRules as goRules, think } from "../src/share/go";
import { PASS, POINTS, replay as replayGo } from "../src/share/gorules";
import type { Ask } from "../src/share/local";
import type { Answer, Shared } from "../src/share/network";
import { type Limits, search, type SearchRules } from "../src/share/puct";

const SHARED = { network: { rated: false }, side_inputs: [] } as unknown as Shared;
const GO = { network: { name: "gocnn", plays: true }, side_inputs: [["komi", 0]] } as unknown as Shared;
const LIMITS: Limits = { visits: 400, milliseconds: 1e9, batch: 4 };

/** A network of chess: all moves are as likely, but those from one square; each position is even. */
const even = (liked?: number): Ask => async (positions) =>
  positions.map((): Answer => {
    const origin = new Float32Array(64).fill(0.01);
    if (liked !== undefined) origin[liked] = 1;
    return { origin, target: new Float32Array(64 * 64).fill(0.02), value: Float32Array.of(0) };
  });

const found = async (fen: string, ask = even(), limits: Partial<Limits> = {}) => {
  const at = new Played(startOf(fen));
  const best = await search(at, chessRules(SHARED, ask), { ...LIMITS, ...limits });
  return { at, best: best!, move: uciOf(at.board, best!.move) };
};

/** Moves that a player knows, and what each position is worth: a tree of numbers. */
function tree(moves: number, value: (at: number[]) => number): SearchRules<number[], number> {
  return {
    after: (at, move) => [...at, move],
    over: () => null,
    wins: () => null,
    look: async (positions) => positions.map((at) => ({ value: value(at), moves: Array.from({ length: moves }, (_, move) => ({ move, prior: 1 / moves })) })),
  };
}

describe("chess", () => {
  test("a mate in one that the network does not like is played, without asking it", async () => {
    // The network likes moves of the king's pawn, on h2.
    const fen = "6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1";
    const liked = await even(15)([{ codes: [], state: [] }]);
    expect(liked[0]!["origin"]![15]).toBe(1);
    const { move, best } = await found(fen, even(15));
    expect([move, best.value, best.evaluated]).toEqual(["a1a8", 1, 0]);
  });

  test("a mate in two is found, and proven", async () => {
    const { at, best, move } = await found("7k/8/8/8/8/8/R7/1R5K w - - 0 1");
    expect(best.value).toBe(1);
    const then = at.copy();
    then.push(best.move);
    const rules = chessRules(SHARED, even());
    expect(move).not.toBe("");
    for (const { move: reply } of legalMoves(then.board)) expect(rules.wins(rules.after(then, reply))).not.toBeNull();
    // One evaluation does not find it.
    expect((await found("7k/8/8/8/8/8/R7/1R5K w - - 0 1", even(), { visits: 1 })).best.value).toBe(0);
  });

  test("a move that allows mate in one is not played", async () => {
    // The network likes moves of the bishop, which guards g2... and leaves it to the queen.
    const fen = "6k1/5ppp/8/8/7q/5Bn1/6PP/6K1 w - - 0 1";
    const { at, best } = await found(fen, even(21));
    const then = at.copy();
    then.push(best.move);
    expect(chessRules(SHARED, even()).wins(then)).toBeNull();
  });

  test("stalemate and repetition are worth a draw", () => {
    const rules = chessRules(SHARED, even());
    expect(rules.over(new Played(startOf("7k/5Q2/8/8/8/8/8/K7 b - - 0 1")))).toBe(0);
    expect(rules.over(new Played(startOf("7k/6Q1/6K1/8/8/8/8/8 b - - 0 1")))).toBe(-1);
    expect(rules.over(replay({ game: "chess", moves: "g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1 f6g8".split(" ") }))).toBe(0);
    expect(rules.over(new Played(startOf()))).toBeNull();
  });

  test("a game that the search plays against itself has legal moves only", async () => {
    const at = new Played(startOf());
    for (let ply = 0; ply < 30 && at.end() === null; ply += 1) {
      const best = await search(at, chessRules(SHARED, even((ply * 29) % 64)), { ...LIMITS, visits: 12 });
      expect(at.board.isLegal(best!.move)).toBe(true);
      at.push(best!.move);
    }
    expect(at.ply).toBeGreaterThan(20);
  });
});

describe("limits", () => {
  const rules = tree(3, (at) => (at.length % 2 ? -1 : 1) * 0.1 * (at[0] === 2 ? 1 : 0));

  test("visits are never exceeded, and the better move wins", async () => {
    const best = await search([], rules, { ...LIMITS, visits: 60 });
    expect(best!.move).toBe(2);
    expect(best!.visits).toBeLessThanOrEqual(60);
    expect(best!.visits).toBeGreaterThan(20);
  });

  test("time is never exceeded by more than the first evaluation", async () => {
    let now = 0;
    const slow = (ms: number): SearchRules<number[], number> => ({ ...rules, look: (positions) => ((now += ms), rules.look(positions)) });
    const clock = { ...LIMITS, milliseconds: 850, now: () => now };
    expect((await search([], slow(100), clock))!.milliseconds).toBeLessThanOrEqual(850);
    expect(now).toBeGreaterThan(400);
    now = 0;
    const once = await search([], slow(600), clock);
    expect([once!.evaluated, once!.milliseconds]).toEqual([1, 600]);
  });

  test("a search that is no longer wanted ends", async () => {
    const abort = new AbortController();
    const wanted = await search([], rules, { ...LIMITS, signal: abort.signal, visits: 60 });
    const ending: SearchRules<number[], number> = { ...rules, look: (positions) => (abort.abort(), rules.look(positions)) };
    const ended = await search([], ending, { ...LIMITS, signal: abort.signal, visits: 60 });
    expect(wanted!.visits).toBeGreaterThan(ended!.visits);
    expect(ended!.visits).toBe(1);
  });

  test("the only move is played after one evaluation", async () => {
    const { best, move } = await found("k7/8/8/8/8/8/1r6/K7 w - - 0 1");
    expect([move, best.visits]).toEqual(["a1b2", 1]);
  });
});

describe("Go", () => {
  const line = (moves: string): Line => ({ game: "go", size: 9, komi: 7, rules: "chinese", setup: { B: [], W: [] }, side: "b", moves: moves.split(" ").filter(Boolean) });
  /** All points are as likely; Black owns the points of the first columns. */
  const network: Ask = async (positions) =>
    positions.map((): Answer => ({
      policy: new Float32Array(POINTS + 1).fill(0.01),
      value: Float32Array.of(0),
      black_owns: Float32Array.from({ length: POINTS }, (_, point) => (point % 19 < 5 ? 1 : 0)),
      lead: Float32Array.of(0),
      spread: Float32Array.of(1),
    }));
  const rules = goRules({ komi: 7, territory: false, stones: 0 }, GO, network);
  const WALLS = "E1 F1 E2 F2 E3 F3 E4 F4 E5 F5 E6 F6 E7 F7 E8 F8 E9 F9";

  test("after two passes the stones are counted", async () => {
    const [look] = await rules.look([replayGo(line(`${WALLS} pass pass`))]);
    // Black has 45 points, White 36 and the komi.
    expect(look).toEqual({ value: 1, moves: [] });
    const [other] = await goRules({ komi: 20, territory: false, stones: 0 }, GO, network).look([replayGo(line(`${WALLS} pass pass`))]);
    expect(other!.value).toBe(-1);
  });

  test("the side that leads ends the game; moves are legal", async () => {
    const board = replayGo(line(`${WALLS} A1 pass`));
    const best = await search(board, rules, LIMITS);
    expect([best!.move, best!.value]).toEqual([PASS, 1]);
    const move = await think({ line: line(`${WALLS} A1`), temperature: 0, rating: 0, searches: true, nodes: null }, GO, network, () => undefined);
    expect(() => replayGo(line(`${WALLS} A1 ${move}`))).not.toThrow();
  });

  test("a network that predicts owners only does not play", async () => {
    const owners = { ...GO, network: { ...GO.network, plays: false } };
    const asked = { line: line("E5"), temperature: 0, rating: 0, searches: false, nodes: null };
    await expect(think(asked, owners, network, () => undefined)).rejects.toThrow(/gocnn .* cannot play/);
    await expect(think(asked, GO, network, () => undefined)).resolves.toBeTruthy();
  });
});
