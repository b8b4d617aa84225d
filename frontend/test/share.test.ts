import { describe, expect, test } from "vitest";
import type { Line } from "../src/app/state";
import * as chess from "../src/share/chess";
import { drawn } from "../src/share/chances";
import { movesOf, rowOf } from "../src/share/chessanswers";
import { encode, legalMoves, Played, readMove, replay, startOf } from "../src/share/chessrules";
import * as go from "../src/share/go";
import { readOwners, readResults } from "../src/share/goreading";
import type { Ask } from "../src/share/local";
import type { Shared } from "../src/share/network";
import * as rules from "../src/share/gorules";
import { isFen, loadFen, loadPgn, savePgn } from "../src/share/pgn";
import type { SavedNode } from "../src/share/saved";
import { loadSgf, saveSgf } from "../src/share/sgf";
import { threadsOf } from "../src/share/threads";
import { de } from "../src/texts/de";

/** Whether a sentence is one of the server's, in which {1} and {2} stand for anything. */
const fits = (known: string, words: string): boolean => new RegExp(`^${known.replace(/[.*+?^$()|[\]\\]/g, "\\$&").replace(/\{\d\}/g, ".+")}$`).test(words);

const line = (moves: string, fen?: string): Line => ({ game: "chess", ...(fen ? { fen } : {}), moves: moves.split(" ").filter(Boolean) });
const on = (moves: string, more: Partial<Line> = {}): Line => ({ game: "go", size: 9, komi: 7, rules: "chinese", setup: { B: [], W: [] }, side: "b", moves: moves.split(" ").filter(Boolean), ...more });

test("threads only where the host isolates the page", () => {
  expect([threadsOf(false, 8), threadsOf(true, 1), threadsOf(true, 2), threadsOf(true, 6), threadsOf(true, 64)]).toEqual([1, 1, 1, 3, 4]);
});

describe("chess", () => {
  test("castling is the king's two steps, in the moves and in what is told", () => {
    const at = replay(line("e2e4 e7e5 g1f3 b8c6 f1c4 f8c5 e1g1"));
    expect(at.last).toEqual([5, 7, 62, 35]);
    const [node] = chess.nodesOf(line("e2e4 e7e5 g1f3 b8c6 f1c4 f8c5 e1g1")).slice(-1);
    expect([node!.san, node!.move]).toEqual(["O-O", "e1g1"]);
    const before = replay(line("e2e4 e7e5 g1f3 b8c6 f1c4 f8c5")).node();
    expect(before.dests?.["e1"]).toEqual(expect.arrayContaining(["g1", "e2", "f1"]));
    expect(before.dests?.["e1"]).not.toContain("h1");
    expect(chess.after(line("e2e4 e7e5 g1f3 b8c6 f1c4 f8c5"), "O-O").move).toBe("e1g1");
  });

  test("a person's network compares no ratings, although it has inputs for them", async () => {
    for (const rated of [true, false]) {
      const shared = { network: { rated }, side_inputs: [["rating", 90], ["opponent_rating", 90]] } as unknown as Shared;
      const ask: Ask = (rows) => Promise.resolve(rows.map(() => ({ origin: new Float32Array(64).fill(0.1), target: new Float32Array(4096).fill(0.1), value: new Float32Array([0, 0, 0]) })));
      const found: { rating?: number; by_rating?: unknown }[] = [];
      await chess.analyse({ line: { ...line("e2e4"), ratings: [1500, 1500] }, from: 0, to: 0 }, shared, ask, (result) => found.push(result));
      expect(found.map((each) => ["rating" in each, "by_rating" in each])).toEqual([[rated, rated]]);
    }
  });

  test("what a network is told: pieces, rights, a pawn that may be taken in passing", () => {
    const { codes, state } = encode(replay(line("e2e4 a7a6 e4e5 d7d5")).board);
    expect([codes[0], codes[4], codes[60], codes[36], codes[12]]).toEqual([4, 6, 12, 1, 0]);
    expect(state).toEqual([0, 15, 4, 0]);
    // Nobody can take it: it is not told.
    expect(encode(replay(line("e2e4")).board).state).toEqual([1, 15, 0, 0]);
    expect(encode(startOf("4k2r/8/8/8/8/8/8/R3K3 b Qk - 7 30")).state).toEqual([1, 2 + 4, 0, 7]);
    const at = replay(line("e2e4 e7e5"));
    const row = rowOf(at, [["rating", 0], ["opponent_rating", 0], ["speed", 0], ["last_from", 0], ["last_to", 0], ["outcome", 2]], [1600, 2000]);
    expect(row.state).toEqual([0, 15, 0, 0, 100, 125, 0, 53, 37, 2]);
  });

  test("a move's chance is its origin's and its target's; lesser promotions only where they are told apart", () => {
    const board = startOf("7k/P7/8/8/8/8/8/K7 w - - 0 1");
    const origin = new Float32Array(64).fill(0);
    const target = new Float32Array(64 * 64).fill(0);
    origin[48] = 0.5;
    target[64 * 48 + 56] = 0.5;
    origin[0] = 0.5;
    target[1] = 0.25;
    const plain = movesOf(board, { origin, target });
    expect(plain[0]).toMatchObject({ uci: "a7a8q", p: expect.closeTo(2 / 3, 6) });
    expect(plain.filter((each) => each.listed).map((each) => each.uci)).not.toContain("a7a8n");
    const promotion = new Float32Array(32).fill(0);
    promotion.set([0.9, 0, 0, 0.1]);
    expect(movesOf(board, { origin, target, promotion })[0]!.uci).toBe("a7a8n");
    expect(legalMoves(board)).toHaveLength(4 + 3);
  });

  test.each([
    ["f2f3 e7e5 g2g4 d8h4", undefined, "checkmate"],
    ["g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1 f6g8", undefined, "repetition"],
    ["g1f3 g8f6 f3g1 f6g8", undefined, null],
    ["e6e7", "k7/8/4K3/8/8/8/8/8 w - - 0 1", "dead"],
    ["f7g6", "7k/5Q2/8/8/8/8/8/K7 w - - 0 1", "stalemate"],
    ["a1b1", "7k/8/8/8/8/8/5R2/K7 w - - 99 80", "fifty moves"],
  ])("how a game ends: %s", (moves, fen, end) => {
    expect(replay(line(moves, fen)).end()).toBe(end);
  });

  test("null moves: read, played and written as the server does", () => {
    const once = loadPgn("1. e4 -- 2. d4 Z0 3. c4 (3. -- e5) 0000 4. Nf3 <> *", 0);
    expect(once.problems).toEqual([]);
    expect(once.tree.map(({ san, move }) => san === "--" ? move : san)).toEqual(["", "e4", "0000", "d4", "0000", "c4", "0000", "Nf3", "0000", "0000", "e5"]);
    expect(once.tree[2]!.fen).toBe("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 1 2");
    const pgn = savePgn(once.tree as SavedNode[], {}, undefined);
    expect(pgn).toContain("1. e4 -- 2. d4 -- 3. c4 ( 3. -- e5 ) 3... -- 4. Nf3 --");
    expect(loadPgn(pgn, 0).tree).toEqual(once.tree);
    expect(chess.after(line("e2e4 0000"), "d4").move).toBe("d2d4");
    expect(chess.after(line("e2e4"), "--")).toMatchObject({ move: "0000", san: "--", turn: "w" });
    expect(replay(line("e2e4 0000 d2d4")).last).toEqual([12, 28, 0, 0]);
    expect(() => chess.after(line("e2e4 f7f6 d1h5"), "--")).toThrow(/in check/);
    expect(loadPgn("1. e4 f6 2. d4 g5 3. Qh5+ -- 4. Qh4", 0).tree).toHaveLength(6);
  });

  test.each([
    ["1. e4 ; the best move e5 d4\n1... e5 ; (2. f4)\n2. Nf3", "e4 e5 Nf3"],
    ["1. e4 e5\n% 2. d4 exd4\n2. Nf3", "e4 e5 Nf3"],
    ["1. e4 e5\n\n2. Nf3 Nc6 1-0\n", "e4 e5 Nf3 Nc6"],
    ["1. e4 e5 * 2. Nf3 Nc6 1-0", "e4 e5"],
    ["1. e4 e5 2. Nf3 Nc6 3. Bb5 Nf6 4. OO Be7 5. Re1 0-0", "e4 e5 Nf3 Nc6 Bb5 Nf6 O-O Be7 Re1 O-O"],
    ["e2e4 e7e5 g1f3 b8c6 f1b5 g8f6 e1g1", "e4 e5 Nf3 Nc6 Bb5 Nf6 O-O"],
    ["e4 e5 Nf3 Nc6 Bb5 Nf6 Kg1 Be7 Re1 e8h8", "e4 e5 Nf3 Nc6 Bb5 Nf6 O-O Be7 Re1 O-O"],
    ["1. e4 e5 2. ♘f3 ♞c6 3. ♗b5 a6 4. ♗×c6", "e4 e5 Nf3 Nc6 Bb5 a6 Bxc6"],
    ["1. e4 e5 2. Sf3 Sc6 3. Lb5 a6 4. Lxc6 dxc6 5. 0-0 Dd6", "e4 e5 Nf3 Nc6 Bb5 a6 Bxc6 dxc6 O-O Qd6"],
    ["1. e4 e5 2. Кf3 Кc6 3. Сb5 a6", "e4 e5 Nf3 Nc6 Bb5 a6"],
    ["1. e4 e5 2. nf3 nc6 3. bb5", "e4 e5 Nf3 Nc6 Bb5"],
    ["1. e4 d5 2. ed Q:d5 3. Nc3 Qe5ch 4. Be2", "e4 d5 exd5 Qxd5 Nc3 Qe5+ Be2"],
    ["1. Pe4 Pe5 2. Pd4 Pxd4", "e4 e5 d4 exd4"],
    ["1. e4 a6 2. e5 d5 3. exd6 e.p. exd6", "e4 a6 e5 d5 exd6 exd6"],
    ['[FEN "7k/P7/8/8/8/8/7p/K7 w - - 0 1"]\n\n1. a8(Q)+ Kg7 2. Qb8 h1/N', "a8=Q+ Kg7 Qb8 h1=N"],
    ["1. e4 e5 2. Ke4 (2. Nf3 Nc6) Nc6", "e4 e5"],
    ["1. e4 += e5 = 2. Nf3 N", "e4 e5 Nf3"],
  ])("odd but legal PGN, as the server reads it: %s", (text, moves) => {
    expect(loadPgn(text, 0).tree.slice(1).map(({ san }) => san).join(" ")).toBe(moves);
  });

  test("a game of another variant is refused", () => {
    expect(() => loadPgn('[Variant "Atomic"]\n\n1. e4 e5 *', 0)).toThrow(/variant/);
  });

  test("what is no legal move is refused, in UCI and SAN", () => {
    const { board } = new Played(startOf());
    for (const word of ["e2e5", "Ke2", "hello", ""]) expect(() => readMove(board, word)).toThrow(/illegal/);
    for (const word of ["e2e4", "e4", "Nf3"]) expect(readMove(board, word)).toBeTruthy();
    expect(() => readMove(board, "Nxf3")).toThrow("'Nxf3' is not a capture here");
    const passed = replay(line("e2e4 a7a6 e4e5 d7d5")).board;
    expect(readMove(passed, "exd6")).toBeTruthy();
    const castles = startOf("4k3/8/8/8/8/8/8/4K2R w K - 0 1");
    expect(() => readMove(castles, "Rxg1")).toThrow(/not a capture/);
    expect(() => startOf("8/8/8/8/8/8/8/8 w - - 0 1")).toThrow(/FEN/);
  });

  test("a result may have any of the dashes that the board's server reads", () => {
    for (const dash of "-–—−‐‑‒:\x96") {
      for (const [side, result] of [[`1${dash}0`, "1-0"], [`0${dash}1`, "0-1"], [`1/2${dash}1/2`, "1/2-1/2"]]) {
        const found = loadPgn(`1. e4 e5 ${side}`, 0);
        expect([found.headers["Result"], found.tree.length, found.problems]).toEqual([result, 3, []]);
      }
      expect(loadPgn(`[Result "1${dash}0"]\n\n1. e4`, 0).headers["Result"]).toBe("1-0");
    }
    expect(loadPgn("1. e4 d5 2. e4‒d5", 0).tree.map(({ san }) => san)).toEqual(["", "e4", "d5", "exd5"]);
  });

  test("a game with variations, words and drawings is the same after it was written and read", () => {
    const text = '[White "Ann"]\n[Black "Bo"]\n[Result "1-0"]\n\n{Begin} 1. e4 $1 {[%csl Ge4][%clk 0:05:00] good} (1. d4 d5 (1... Nf6 2. c4)) 1... e5 2. Nf3 1-0\n';
    const once = loadPgn(text, 0);
    expect(once.tree.map((node) => node.san)).toEqual(["", "e4", "e5", "Nf3", "d4", "d5", "Nf6", "c4"]);
    expect(once.tree[1]).toMatchObject({ comment: "good", nags: [1], shapes: ["Ge4"], commands: { clk: "0:05:00" } });
    expect(once.games).toEqual([{ index: 0, title: "Ann – Bo, 1-0" }]);
    const again = loadPgn(savePgn(once.tree as SavedNode[], once.headers, undefined), 0);
    expect(again.tree).toEqual(once.tree);
    expect(again.headers).toMatchObject(once.headers);
  });

  test("a game from a position keeps it; an illegal move ends its line and is told", () => {
    const fen = "7k/P7/8/8/8/8/8/K7 w - - 0 1";
    const made = loadFen(fen);
    expect([made.line.fen, isFen(fen), isFen("1. e4")]).toEqual([fen, true, false]);
    const text = savePgn([made.tree[0] as SavedNode, { id: 1, parent: 0, move: "a7a8n" }], {}, made.line.fen);
    expect(text).toContain(`[FEN "${fen}"]`);
    expect(loadPgn(text, 0).tree[1]!.san).toBe("a8=N");
    const bad = loadPgn("1. e4 e5 2. Ke4 Nc6 *", 0);
    expect([bad.tree.length, bad.problems]).toEqual([3, ["move 2. 'Ke4' is illegal; the moves after it are skipped"]]);
    const aside = loadPgn("1. e4 (1. d4 Kd5) e5 *", 0);
    expect([aside.tree.length, aside.problems]).toEqual([4, ["a variation of move 1… is skipped from 'Kd5' on"]]);
    // In the words of the server, so that all languages have them.
    for (const words of [...bad.problems, ...aside.problems]) expect(Object.keys(de.server).some((known) => fits(known, words))).toBe(true);
    expect(() => loadPgn("no game at all", 0)).toThrow(/no game/);
  });

  test("the likeliest move at temperature 0, else by chance", () => {
    expect(drawn([0.2, 0.5, 0.3], 0)).toBe(1);
    expect([0, 0.19, 0.21, 0.69, 0.71, 0.999].map((at) => drawn([0.2, 0.5, 0.3], 1, () => at))).toEqual([0, 0, 1, 1, 2, 2]);
    expect(drawn([0, 1, 0], 1, () => 0)).toBe(1);
  });
});

describe("Go", () => {
  test("captures, ko, suicide", () => {
    const taken = go.nodesOf(on("A8 A9 B9")).at(-1)!;
    expect(taken.stones!.slice(0, 3)).toBe(".B.");
    expect(taken.captured).toEqual({ B: 1, W: 0 });
    // White's point is no suicide for White only where it captures.
    expect(go.nodesOf(on("A8 E5 B9")).at(-1)!.legal![0]).toBe("0");
    expect(go.nodesOf(on("A8 E5 B9", { rules: "tromp-taylor" })).at(-1)!.legal![0]).toBe("0");
    expect(go.nodesOf(on("A8 A7 B9 B8 E5 C9 F5")).at(-1)!.legal![0]).toBe("1");
    const ko = "C5 F5 D6 E6 D4 E4 A1 D5 E5";
    expect(go.nodesOf(on(ko)).at(-1)!.captured).toEqual({ B: 1, W: 0 });
    expect(() => go.after(on(ko), "D5")).toThrow(/ko/);
    expect(go.after(on(`${ko} J9 J1`), "D5").captured).toEqual({ B: 1, W: 1 });
    expect(rules.encode(rules.replay(on(ko))).codes[19 * 4 + 3]).toBe(13);
    expect(() => go.after(on("E5"), "E5")).toThrow(/stone/);
    expect(() => go.after(on("E5"), "K5")).toThrow(/board/);
  });

  test("what a network is told: liberties, ages, ko, the board's edge", () => {
    const { codes, state } = rules.encode(rules.replay(on("E5 E6 pass")));
    const at = (row: number, column: number): number => codes[19 * row + column]!;
    expect(state).toEqual([1, 9, 1, 3]);
    // The last move is a pass: the stones are 3 and 2 plies old, with three liberties each.
    expect([at(4, 4), at(3, 4), at(0, 0), at(0, 9), at(9, 0)]).toEqual([1 + 2 + 16 * 3, 7 + 2 + 16 * 2, 0, 14, 14]);
  });

  test("players of a rank: their inputs, and every move as often as it is expected of them", async () => {
    const side_inputs: [string, number][] = [["komi", 143], ["handicap", 1], ["rules", 0], ["rank", 0], ["opponent_rank", 0], ["server", 0]];
    const ranks = { temperature: 1, inputs: { "5k": 36, "9d": 49 }, rules: { area: 1, territory: 2 }, handicap: 1 };
    let owned = 0.5;
    const shared = { network: { name: "gohuman", plays: true }, side_inputs, rules: { area: 0, territory: 2 }, ranks } as unknown as Shared;
    let policy: (point: number) => number = () => 0;
    const states: number[][] = [];
    const ask: Ask = (positions) => {
      states.push(...positions.map(({ state }) => [...state]));
      const answer = { policy: Float32Array.from({ length: 362 }, (_, point) => policy(point)), value: new Float32Array([0.5]), lead: new Float32Array([5]), spread: new Float32Array([9]), black_owns: new Float32Array(361).fill(owned) };
      return Promise.resolve(positions.map(() => answer));
    };
    const play = async (line: Line, rank: string, temperature: number): Promise<string | null> => {
      states.length = 0;
      return go.think({ line, rank, temperature, rating: 0, searches: false, nodes: null }, shared, ask, () => undefined);
    };
    // The eye at A9 is likely, but is not filled.
    const eye = on("A8 E5 B9 E4 B8 E3");
    policy = (point) => ({ 0: 0.9, [19 * 6 + 6]: 0.096, [19 * 2 + 6]: 0.004 })[point] ?? 0;
    expect(await play(eye, "5k", 0)).toBe("G3");
    expect(states.at(-1)!.slice(4)).toEqual([142, 1, 1, 36, 36, 0]);
    expect(states.slice(0, -1).every((state) => state[7] === 0)).toBe(true);
    const found = new Set(await Promise.all(Array.from({ length: 300 }, () => play(eye, "5k", 1))));
    expect(found).toEqual(new Set(["G3", "G7"]));
    expect(await play(on("", { komi: 0.5, side: "w", rules: "japanese", setup: { B: ["C3", "G7"], W: [] } }), "9d", 0)).not.toBe("pass");
    expect(states.at(-1)!.slice(4)).toEqual([129, 3, 2, 49, 49, 0]);
    expect(await play(eye, "", 0)).toBe("A9");
    expect(states.every((state) => state[7] === 0)).toBe(true);
    // A pass is answered by a pass if the network expects no move more.
    policy = (point) => ({ 361: 0.6, [19 * 6 + 6]: 0.4 })[point] ?? 0;
    const trailing = on("E5 E6 A1 pass", { komi: 90 });
    expect(await play(on("E5 E6 A1 F6", { komi: 90 }), "5k", 0)).toBe("G3");
    expect(await play(trailing, "5k", 0)).toBe("pass");
    policy = (point) => ({ 361: 0.4, [19 * 6 + 6]: 0.6 })[point] ?? 0;
    expect(await play(trailing, "5k", 0)).toBe("G3");
    // Nobody moves after two passes.
    const moves: boolean[] = [];
    await go.analyse({ line: on("E5 pass pass"), from: 1, to: 3 }, shared, ask, (result) => moves.push(Boolean(result.moves?.length)));
    expect(moves).toEqual([true, true, false]);
    // It passes first where the owners of the points are known, unless a pass is nearly never expected.
    const passes = async (share: number, sure: number): Promise<boolean> => {
      policy = (point) => ({ 361: share, [19 * 6 + 6]: 1 - share })[point] ?? 0;
      owned = sure;
      const played = await Promise.all(Array.from({ length: 60 }, () => play(on("E5 E6 A1 F6", { komi: 90 }), "5k", 1)));
      return played.includes("pass");
    };
    expect([await passes(0.6, 0.99), await passes(0.6, 0.5), await passes(0.09, 0.99)]).toEqual([true, false, false]);
  });

  test("a komi beyond the network's input counts in full", () => {
    const points = Array.from({ length: 81 }, (_, at) => at);
    const said = (value: number): Parameters<typeof readResults>[0] => ({ policy: [1], value, owners: points.map(() => 0.5), lead: 40 * value, spread: 30 });
    const read = (komi: number, black: boolean): ReturnType<typeof readResults> => readResults(said(0.1), said(-0.1), points, 9, black, { komi, territory: false, stones: 0 });
    for (const black of [true, false]) {
      for (const komi of [63.5, -63.5]) {
        const [least, more] = [read(komi, black), read(komi + 10 * Math.sign(komi), black)];
        expect(more.lead).toBeCloseTo(least.lead - 10 * Math.sign(komi), 6);
        const odds = ({ black }: { black: number }): number => Math.log(black / (1 - black));
        expect(odds(more)).toBeCloseTo(odds(least) - ((10 * Math.sign(komi)) / 30) * (Math.PI / Math.sqrt(3)), 6);
      }
    }
  });

  test("the lead by owners alone: handicap stones are no territory", () => {
    const points = Array.from({ length: 81 }, (_, at) => at);
    const lead = (territory: boolean): number => readOwners(points.map(() => 0.5), points.map(() => 0.5), points, false, { komi: 0.5, territory, stones: 4 }).lead;
    expect(lead(false) - lead(true)).toBeCloseTo(4, 6);
  });

  test("the count: area and territory, with dead stones, prisoners, and komi for handicap", () => {
    const wall = "E1 F1 E2 F2 E3 F3 E4 F4 E5 F5 E6 F6 E7 F7 E8 F8 E9 F9".split(" ");
    const played = on([...wall, "H5", "pass", "pass"].join(" "));
    const counted = go.count(played, ["H5"]);
    expect([counted.black, counted.white]).toEqual([45, 36 + 7]);
    expect(go.count(played, []).white).toBeLessThan(36 + 7);
    const territory = go.count({ ...played, rules: "japanese" }, ["H5"]);
    expect([territory.black, territory.white]).toEqual([36, 27 + 1 + 7]);
    expect(rules.komiOf(on("", { komi: 0.5, side: "w", setup: { B: ["C3", "G7"], W: [] } }))).toBe(2.5);
    expect(rules.komiOf(on("", { komi: 0.5, rules: "aga", side: "w", setup: { B: ["C3", "G7"], W: [] } }))).toBe(1.5);
  });

  test("a record is the same after it was written and read", () => {
    const text = "(;GM[1]SZ[9]KM[6.5]RU[Japanese]PB[Ann]PW[B\\]o]C[Begin];B[ee]TE[1]C[fine];W[cc](;B[gc];W[])(;B[dd]LB[dd:x];W[tt]))";
    const once = loadSgf(text, 0);
    expect(once.line).toMatchObject({ size: 9, komi: 6.5, rules: "japanese", side: "b" });
    expect(once.tree.map((node) => node.move)).toEqual([null, "E5", "C7", "G7", "pass", "D6", "pass"]);
    expect(once.tree[1]).toMatchObject({ comment: "fine", nags: [1] });
    expect(once.headers["PW"]).toBe("B]o");
    const again = loadSgf(saveSgf(once.tree as SavedNode[], once.headers, once.line), 0);
    expect(again.tree).toEqual(once.tree);
    expect(again.line).toEqual(once.line);
  });

  test("handicap, several games, and what cannot be read", () => {
    const two = "(;GM[1]SZ[19]HA[2]AB[pd][dp];W[dd])\n(;SZ[9];B[ee];W[ee];B[aa])";
    const first = loadSgf(two, 0);
    expect([first.count, first.line.side, first.line.setup?.B, first.line.assumed]).toEqual([2, "w", ["Q16", "D4"], ["KM", "RU"]]);
    const second = loadSgf(two, 1);
    expect([second.tree.length, second.problems]).toEqual([2, ["move 2, E5, is illegal (on a stone); the rest is skipped"]]);
    const later = loadSgf("(;SZ[9];B[ee];AW[aa];W[cc])", 0).problems;
    expect(later).toEqual(["stones are set up after move 1; the rest is skipped"]);
    for (const words of [...second.problems, ...later]) expect(Object.keys(de.server).some((known) => fits(known, words))).toBe(true);
    expect(() => loadSgf("(;GM[2])", 0)).toThrow(/not a Go game/);
    expect(() => loadSgf("(;SZ[7])", 0)).toThrow(/size/);
    expect(() => loadSgf("(;SZ[9:13])", 0)).toThrow(/size/);
    expect(loadSgf("(;SZ[9];B[ee]", 0).problems).toHaveLength(1);
  });

  test("without rules, suicide is legal if several black stones are set up, as in kibitz.games.go.io.headers", () => {
    const record = (setup: string) => loadSgf(`(;SZ[9]RE[B+1]${setup}PL[B];B[ba];W[hh];B[ab];W[aa];B[gg])`, 0);
    expect(record("AB[cc][dd]").tree.map(({ captured }) => captured?.B)).toEqual([0, 0, 0, 0, 1, 1]);
    expect(record("AB[cc][dd]").tree[4]!.stones?.[0]).toBe(".");
    for (const setup of ["AB[cc]", ""]) expect(record(setup).problems).toEqual(["move 4, A9, is illegal (suicide); the rest is skipped"]);
  });

  test("a side that moves twice: the other one passes between, also in the record that is written", () => {
    const once = loadSgf("(;SZ[9];B[ee];W[cc];B[gg];B[gc];W[cg]W[ce])", 0);
    expect(once.tree.map(({ move, turn }) => `${move} ${turn}`)).toEqual(["null b", "E5 w", "C7 b", "G3 w", "pass b", "G7 w", "C3 b", "pass w", "C5 b"]);
    expect(loadSgf(saveSgf(once.tree as SavedNode[], once.headers, once.line), 0).tree).toEqual(once.tree);
  });

  test("a handicap in moves, a move in the first node, and what nodes without a move say", () => {
    const old = loadSgf("(;SZ[9]C[Old];B[ee]C[one];B[cc];W[gg])", 0);
    expect([old.line.setup?.B, old.line.side, old.line.rules]).toEqual([["E5", "C7"], "w", "new-zealand"]);
    expect(old.tree.map(({ move, comment }) => [move, comment])).toEqual([[null, "Old\none"], ["G3", ""]]);
    expect(loadSgf("(;SZ[9]B[ee];W[cc])", 0).tree.map(({ move, props }) => [move, props])).toEqual([[null, undefined], ["E5", undefined], ["C7", undefined]]);
    for (const [text, written] of [
      ["(;SZ[9]B[ee])", "SZ[9];B[ee])"],
      ["(;GM[1]SZ[9]KM[5.5]PB[x]C[hi]B[ee]LB[ee:A];W[ec])", "SZ[9]PB[x]KM[5.5];B[ee]LB[ee:A]C[hi];W[ec])"],
      ["(;SZ[9]AB[cc]AW[gg]W[ee];B[ec])", "SZ[9]AB[cc]AW[gg]PL[W];W[ee];B[ec])"],
      ["(;SZ[9]B[cc]LB[cc:A];B[gg]TR[gg];W[ee])", "SZ[9]AB[cc][gg]PL[W]LB[cc:A]TR[gg];W[ee])"],
    ] as const) {
      const { tree, headers, line, problems } = loadSgf(text, 0);
      expect(problems).toEqual([]);
      expect(saveSgf(tree as SavedNode[], headers, line)).toBe(`(;GM[1]FF[4]CA[UTF-8]AP[kibitz]${written}\n`);
    }
    const marked = loadSgf("(;SZ[9];B[ee]LB[ee:a];TR[ee]BM[2];W[cc])", 0).tree[1];
    expect(marked).toMatchObject({ props: { LB: ["ee:a"], TR: ["ee"] }, nags: [4] });
  });

  test.each([
    ["KM[6,5]", 6.5],
    ["KM[650]", 6.5],
    ["KM[65]", 6.5],
    ["KM[3.75]", 7.5],
    ["KM[6目半]", 6.5],
    ["KM[-5.5]", -5.5],
    ["KM[0]", 0],
    ["KM[0]RE[W+3.5]", 6.5],
    ["KM[0]RE[W+3.5]RU[Chinese]", 7.5],
    ["KM[0]RE[B+3.5]HA[2]AB[cc][gg]", 0.5],
    ["", 0],
  ])("the komi of a record as the server reads it: %s", (properties, komi) => {
    expect(loadSgf(`(;SZ[9]${properties})`, 0).line.komi).toBe(komi);
  });

  test.each([
    ["Chinese counting", "chinese"],
    ["日本", "japanese"],
    ["Nihon Ki-in", "japanese"],
    ["NZ", "new-zealand"],
    ["GOE", "ing"],
    ["Area scoring", "chinese"],
  ])("the rules of a record as the server reads them: %s", (named, known) => {
    expect(loadSgf(`(;SZ[9]RU[${named}])`, 0).line.rules).toBe(known);
  });
});
