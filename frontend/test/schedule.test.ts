/** When mistakes are asked again: grades, order, the limit of new ones, the end of a day, and what the browser kept. */

import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";

import { type Answer, cardOf, midnight, NEW_A_DAY, positionOf, ROOM, Schedule } from "../src/mygames/schedule";

const KEY = "kibitz-schedule";
const ANA = "Muñoz, Ana";

let now: Date;
let schedule: Schedule;

/** Another page that opens at this time. */
const opened = (): Schedule => new Schedule(() => now);
const at = (day: number, hour = 12, minute = 0): Date => new Date(2026, 2, day, hour, minute);
const answer = (position: string, ...answers: Answer[]): void => {
  const grade = schedule.attempt(cardOf(ANA, position));
  for (const each of answers) grade(each);
};
const plan = (positions: string[], player = ANA) => schedule.plan(player, positions, (each) => each);
/** Days until a card is due. */
const wait = (position: string): number => Math.round((schedule.due(cardOf(ANA, position))!.getTime() - midnight(now).getTime()) / 86_400_000);
const many = (count: number, name = "p"): string[] => Array.from({ length: count }, (_, each) => `${name}${each}`);

beforeEach(() => {
  now = at(2);
  schedule = opened();
});
afterEach(() => vi.unstubAllEnvs());

describe("the schedule", () => {
  test("the better the answer, the longer the wait", () => {
    answer("good", "first");
    answer("hard", "later");
    answer("again", "failed");
    expect(wait("again")).toBe(1);
    expect(wait("hard")).toBeGreaterThan(wait("again"));
    expect(wait("good")).toBeGreaterThan(wait("hard"));
  });

  test("waits grow with each right answer, and a failure shortens them", () => {
    const waits: number[] = [];
    for (let round = 0; round < 4; round += 1) {
      answer("p", "first");
      waits.push(wait("p"));
      now = midnight(now, waits.at(-1));
    }
    expect(waits).toEqual([...waits].sort((a, b) => a - b));
    expect(new Set(waits).size).toBe(4);
    answer("p", "failed");
    expect(wait("p")).toBeLessThan(waits.at(-1)! / 2);
  });

  test("the last answer of an attempt counts, and only once", () => {
    answer("twice", "failed", "later");
    answer("once", "later");
    expect(wait("twice")).toBe(wait("once"));
    expect(schedule.due(cardOf(ANA, "never"))).toBeNull();
  });

  test("a clock that was set back is no error", () => {
    answer("p", "first");
    const before = wait("p");
    now = at(1);
    answer("p", "first");
    expect(wait("p")).toBeGreaterThanOrEqual(before);
  });
});

describe("today", () => {
  test("the most overdue first, then new ones in their order", () => {
    answer("late", "failed"); // due on the 3rd
    now = at(4);
    answer("later", "failed"); // due on the 5th
    answer("known", "first");
    now = at(5);
    expect(plan(["new", "known", "later", "newer", "late"])).toMatchObject({ due: ["late", "later"], fresh: ["new", "newer"] });
  });

  test("a day ends at midnight in local time", () => {
    now = at(2, 23, 59);
    answer("p", "failed");
    expect(plan(["p"])).toEqual({ due: [], fresh: [], next: 1 });
    expect(schedule.isDue(cardOf(ANA, "p"))).toBe(false);
    now = at(3, 0, 0);
    expect(plan(["p"])).toEqual({ due: ["p"], fresh: [], next: null });
    expect(schedule.isDue(cardOf(ANA, "p"))).toBe(true);
  });

  test("days of 23 and 25 hours are days", () => {
    for (const [month, day] of [[2, 28], [9, 24]] as const) {
      vi.stubEnv("TZ", "Europe/Berlin");
      now = new Date(2026, month, day, 23, 30);
      // The clocks change in the night after the next midnight.
      const hours = (midnight(now, 2).getTime() - midnight(now, 1).getTime()) / 3_600_000;
      expect(hours).toBe(month === 2 ? 23 : 25);
      answer(`p${month}`, "failed");
      expect(plan([`p${month}`]).next).toBe(1);
      now = new Date(2026, month, day + 1, 0, 0);
      expect(plan([`p${month}`]).due).toEqual([`p${month}`]);
      now = new Date(2026, month, day, 12);
      answer(`q${month}`, "later");
      expect(Number.isInteger(plan([`q${month}`]).next)).toBe(true);
    }
  });

  test("at most ten new ones a day, for each player", () => {
    const all = many(25);
    expect(plan(all).fresh).toEqual(all.slice(0, NEW_A_DAY));
    for (const each of all.slice(0, 4)) answer(each, "first");
    expect(plan(all).fresh).toEqual(all.slice(4, 10));
    for (const each of all.slice(4, 12)) answer(each, "first");
    expect(plan(all)).toEqual({ due: [], fresh: [], next: 1 });
    expect(plan(all, "Bo").fresh).toHaveLength(NEW_A_DAY);
    now = at(3, 0, 0);
    expect(plan(all).fresh).toEqual(all.slice(12, 22));
  });

  test("without due ones the next one is named, and it is the earliest", () => {
    expect(plan(["a"]).next).toBeNull();
    answer("a", "first");
    const good = plan(["a"]).next;
    answer("b", "later");
    expect(plan(["a", "b"]).next).toBe(wait("b"));
    expect(good).toBe(wait("a"));
    expect(wait("b")).toBeLessThan(good!);
  });

  test("the same position of two games is one card, and so is a name in other letters", () => {
    expect(plan(["a", "b", "a"]).fresh).toEqual(["a", "b"]);
    expect(cardOf(" muñoz, ana", "a")).toBe(cardOf(ANA, "a"));
    expect(cardOf(ANA, "a")).not.toBe(cardOf(ANA, "b"));
    expect(cardOf("Bo", "a")).not.toBe(cardOf(ANA, "a"));
    const fen = "8/8/8/8/8/8/8/K6k w - - ";
    expect(positionOf({ fen: `${fen}0 1` })).toBe(positionOf({ fen: `${fen}12 50` }));
    expect(positionOf({ fen: `${fen}0 1` })).not.toBe(positionOf({ fen: `${fen.replace(" w ", " b ")}0 1` }));
    expect(positionOf({ stones: "B..W", turn: "b" })).not.toBe(positionOf({ stones: "B..W", turn: "w" }));
  });
});

describe("what is kept", () => {
  test("a reload and another tab find the same cards, without the player's name", () => {
    const other = opened();
    answer("a", "failed");
    now = at(3);
    expect(opened().plan(ANA, ["b", "a"], (each) => each)).toEqual({ due: ["a"], fresh: ["b"], next: null });
    other.attempt(cardOf(ANA, "b"))("first");
    expect(plan(["a", "b"])).toMatchObject({ due: ["a"], fresh: [] });
    expect(localStorage.getItem(KEY)).not.toMatch(/ana/i);
  });

  test("damaged cards are left out, and the sound ones stay", () => {
    answer("a", "first");
    answer("b", "first");
    const rows = JSON.parse(localStorage.getItem(KEY)!) as unknown[][];
    const [sound, row] = [rows[0]!, rows[1]!];
    const altered = (place: number, value: unknown): unknown[] => row.toSpliced(place, 1, value);
    const damaged = [null, 7, "x", [], row.slice(0, 5), altered(0, 3), altered(0, ""), altered(1, "soon"), altered(1, null), altered(1, 1e300), altered(1, 0), altered(2, -1), altered(4, 0), altered(5, 0), altered(5, 11), altered(6, 0.5), altered(7, null)];
    for (const each of damaged) {
      localStorage.setItem(KEY, JSON.stringify([sound, each]));
      schedule = opened();
      expect(plan(["a", "b"]).fresh, JSON.stringify(each)).toEqual(["b"]);
      answer("b", "failed");
      expect(wait("b")).toBe(1);
    }
    localStorage.setItem(KEY, JSON.stringify(rows));
    expect(plan(["a", "b"]).fresh).toEqual([]);
  });

  test.each(["", "{", "null", "7", '{"a": 1}', "[[]]"])("a schedule that is %j is empty", (text) => {
    localStorage.setItem(KEY, text);
    expect(plan(["a"]).fresh).toEqual(["a"]);
    answer("a", "first");
    expect(opened().plan(ANA, ["a"], (each) => each).fresh).toEqual([]);
  });

  test("the cards that were answered longest ago make room", () => {
    const one = (name: string): unknown[] => {
      answer("a", "first");
      return JSON.parse(localStorage.getItem(KEY)!)[0].toSpliced(0, 1, cardOf(ANA, name));
    };
    const row = one("x");
    localStorage.setItem(KEY, JSON.stringify(many(ROOM).map((name, each) => row.toSpliced(0, 1, cardOf(ANA, name)).toSpliced(2, 2, 1000 - (each === 5 ? 1 : 0), 1))));
    answer("new", "first");
    const cards = JSON.parse(localStorage.getItem(KEY)!) as unknown[][];
    expect(cards).toHaveLength(ROOM);
    expect(schedule.due(cardOf(ANA, "p5"))).toBeNull();
    for (const kept of ["p4", "p6", "new"]) expect(schedule.due(cardOf(ANA, kept))).not.toBeNull();
  });

  test("a browser that keeps nothing has a schedule until the page is closed", () => {
    vi.spyOn(localStorage, "setItem").mockImplementation(() => {
      throw new Error("full");
    });
    answer("a", "failed");
    expect(plan(["a"])).toEqual({ due: [], fresh: [], next: 1 });
    expect(opened().plan(ANA, ["a"], (each) => each).fresh).toEqual(["a"]);
  });
});
