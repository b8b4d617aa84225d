import { beforeEach, describe, expect, test, vi } from "vitest";

import { Clock, controlOf, CONTROLS, face, faces, leftAfter, shownAs } from "../src/play/clock";
import { clockOf, evaluated, shortTime, timeOf } from "../src/app/notes";
import type { App } from "../src/app/state";
import { add } from "../src/app/tree";
import { after, chess, find, go, page } from "./support/games";

test("controls as PGN has them", () => {
  expect([controlOf("300+3"), controlOf("60+0")]).toEqual([{ base: 300, increment: 3 }, { base: 60, increment: 0 }]);
  expect(["", "300", "+3", "5 min"].map(controlOf)).toEqual([null, null, null, null]);
  for (const [value] of CONTROLS) expect(value === "" || controlOf(value) !== null).toBe(true);
});

test("what a clock shows", () => {
  expect([300, 299.2, 3723, 60, 20, 19.99, 9.44, 0, -3].map(face)).toEqual(["5:00", "4:59", "1:02:03", "1:00", "0:20", "0:19.9", "0:09.4", "0:00.0", "0:00.0"]);
  // As the same time stands in the list of moves.
  expect(face(283.6)).toBe(shortTime("0:04:43.6"));
  expect(shownAs(19, true)).toEqual({ text: "0:19.0", runs: true, low: true });
  expect(shownAs(20, false)).toEqual({ text: "0:20", runs: false, low: false });
});

describe("a game with clocks", () => {
  let app: App;
  let clock: Clock;

  /** The side to move thinks so long and moves. */
  function move(name: string, seconds: number): boolean {
    vi.advanceTimersByTime(1000 * seconds);
    const made = add(app.game, app.cursor, after(app.game.kind, app.node(), name));
    app.go(made.id);
    const inTime = clock.moved(made.id);
    if (inTime) clock.begin(made.id);
    return inTime;
  }

  beforeEach(() => {
    vi.useFakeTimers();
    return () => vi.useRealTimers();
  });

  function begin(game: ReturnType<typeof chess>, control = { base: 300, increment: 3 }): void {
    app = page(game);
    clock = new Clock(control, app, app.cursor);
    clock.begin(app.cursor);
  }

  test("each side's first move is free; then its time runs, and a move adds the increment", () => {
    begin(chess());
    expect(move("e4", 100)).toBe(true);
    expect(move("e5", 50)).toBe(true);
    expect([clock.at(app.cursor, "w"), clock.at(app.cursor, "b")]).toEqual([300, 300]);
    expect(find(app.game, "e4").commands).toEqual({ clk: "0:05:00.0" });
    vi.advanceTimersByTime(10_000);
    expect(clock.now(app.cursor)).toBe(290);
    move("Nf3", 0.5);
    expect(find(app.game, "Nf3").commands).toEqual({ clk: "0:04:52.5" });
    move("Nc6", 20);
    expect([clock.at(app.cursor, "w"), clock.at(app.cursor, "b")]).toEqual([292.5, 283]);
    // A position that was left has the time of then.
    expect(clock.at(find(app.game, "e5").id, "w")).toBe(300);
  });

  test("a move after the time is over does not count", () => {
    begin(chess());
    move("e4", 0);
    move("e5", 0);
    expect(move("Nf3", 300)).toBe(false);
    expect(find(app.game, "Nf3").commands).toBeUndefined();
  });

  test("of Go the time of each side is in the SGF's own properties", () => {
    begin(go());
    move("E5", 0);
    move("C3", 0);
    move("G7", 12.25);
    expect(find(app.game, "G7").props).toEqual({ BL: ["290.8"] });
    expect(find(app.game, "C3").props).toEqual({ WL: ["300.0"] });
    expect(leftAfter(app.game, find(app.game, "G7"))).toBe(290.8);
    expect([clockOf(app, "b"), clockOf(app, "w")]).toEqual(["4:50", "5:00"]);
  });

  test("a network gets a share of its time, and never all of it", () => {
    begin(chess());
    expect(clock.budget(app.cursor)).toBeCloseTo(300 / 30 + 2.1 - 0.05);
    move("e4", 0);
    move("e5", 0);
    vi.advanceTimersByTime(299_000);
    expect(clock.budget(app.cursor)).toBeCloseTo(0.4 - 0.05);
    vi.advanceTimersByTime(5000);
    expect(clock.budget(app.cursor)).toBe(0.05);
  });

  test("who shows clocks is told that they have changed", () => {
    let told = 0;
    faces.on(() => (told += 1));
    faces.show((side) => (side === "w" ? shownAs(5, true) : null));
    expect([told, faces.side("w")?.text, faces.side("b")]).toEqual([1, "0:05.0", null]);
    faces.show(null);
    expect([told, faces.side("w")]).toEqual([2, null]);
  });
});

describe("what a record says beside words", () => {
  test("times", () => {
    expect(["0:05:03", "1:02:03.5", "5:03", "0:00:07", "12:5:9"].map(shortTime)).toEqual(["5:03", "1:02:03", "5:03", "0:07", "12:05:09"]);
    expect([undefined, "", "soon", "5"].map(shortTime)).toEqual(["", "", "", ""]);
  });

  test("the time left stands before the time taken", () => {
    const game = chess("e4 e5 Nf3");
    Object.assign(find(game, "e4"), { commands: { clk: "0:05:03", emt: "0:00:02" } });
    Object.assign(find(game, "e5"), { commands: { emt: "0:00:07" } });
    expect(timeOf(find(game, "e4"))?.text).toBe("5:03");
    expect(timeOf(find(game, "e5"))?.text).toBe("0:07");
    expect(timeOf(find(game, "Nf3"))).toBeNull();
  });

  test("the clock of a side is that after its last move", () => {
    const app = page(chess("e4 e5 Nf3 Nc6"));
    for (const [san, clk] of [["e4", "0:05:03"], ["e5", "0:05:01"], ["Nf3", "0:04:58"]]) Object.assign(find(app.game, san!), { commands: { clk } });
    app.go(find(app.game, "Nc6").id);
    expect([clockOf(app, "w"), clockOf(app, "b")]).toEqual(["4:58", "5:01"]);
    expect(clockOf(app, "w", find(app.game, "e5").id)).toBe("5:03");
    expect(clockOf(app, "w", app.game.root)).toBe("");
  });

  test("evaluations", () => {
    const said = (text: string): string => evaluated({ ...find(chess("e4"), "e4"), commands: { eval: text } });
    expect(said("0.38")).toContain("+0.38");
    expect(said("-1.2,20")).toContain("−1.2");
    expect(said("0.0")).toMatch(/(^|[^+−])0\.0/);
    expect(said("#-3")).toContain("-3");
    expect([said("good"), said(""), evaluated(find(chess("e4"), "e4"))]).toEqual(["", "", ""]);
  });
});
