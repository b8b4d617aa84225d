/**
 * When a mistake is asked again, until it is known: spaced repetition with FSRS. The browser keeps a card for each position
 * and player, without names and moves, so a new analysis of the same games finds the same cards.
 */

import { type Card, createEmptyCard, fsrs, Rating, State } from "ts-fsrs";

import { digest } from "../app/remembered";
import type { Node } from "../app/state";
import { keep, kept } from "../app/storage";

/** The first try was right; a later one, or one with a hint; none was. */
export type Answer = "first" | "later" | "failed";

/** What somebody practices today, and in how many days the next one comes; null if none waits for a later day. */
export interface Plan<T> {
  due: T[];
  fresh: T[];
  next: number | null;
}

/** New ones of a player on a day. */
export const NEW_A_DAY = 10;
/** Cards that are kept; one takes some 100 characters. */
export const ROOM = 2000;
const NAME = "schedule";
const DAY = 86_400_000;
/** The latest time of a Date. */
const LATEST = 8.64e15;
const GRADES = { first: Rating.Good, later: Rating.Hard, failed: Rating.Again } as const;
/** Intervals of whole days: a mistake comes back tomorrow at the earliest, from the beginning of that day. */
const SCHEDULER = fsrs({ enable_short_term: false, enable_fuzz: false });

/** A card as it is kept. Times are in ms. */
interface Entry {
  due: number;
  last: number;
  first: number;
  stability: number;
  difficulty: number;
  reps: number;
  lapses: number;
}

export class Schedule {
  private text: string | null = null;
  private cards = new Map<string, Entry>();
  /** Whether the browser keeps nothing: then the page does, until it is closed. */
  private alone = false;

  constructor(private readonly clock: () => Date = () => new Date()) {}

  /** Begins to answer a card. A later answer of the same attempt replaces the earlier one. */
  attempt(key: string): (answer: Answer) => void {
    const before = this.read().get(key);
    return (answer) => this.write(key, graded(before, answer, this.clock()));
  }

  /** When a card is due; null if it was never answered. */
  due(key: string): Date | null {
    const entry = this.read().get(key);
    return entry ? new Date(entry.due) : null;
  }

  /** Whether a card is due before the end of this day. */
  isDue(key: string): boolean {
    const due = this.due(key);
    return due !== null && due < midnight(this.clock(), 1);
  }

  /** The due ones, the most overdue first, and the new ones of today, in the order of the items. Each card comes once. */
  plan<T>(player: string, items: readonly T[], position: (item: T) => string): Plan<T> {
    const now = this.clock();
    const [today, tomorrow] = [midnight(now).getTime(), midnight(now, 1).getTime()];
    const cards = this.read();
    const own = cardOf(player, "").split(" ")[0]!;
    const begun = [...cards].filter(([key, { first }]) => key.startsWith(`${own} `) && first >= today && first < tomorrow).length;
    const unique = new Map<string, T>();
    for (const item of items) {
      const key = cardOf(player, position(item));
      if (!unique.has(key)) unique.set(key, item);
    }
    const known = [...unique].flatMap(([key, item]) => (cards.has(key) ? [{ item, due: cards.get(key)!.due }] : []));
    const unseen = [...unique].filter(([key]) => !cards.has(key)).map(([, item]) => item);
    const fresh = unseen.slice(0, Math.max(0, NEW_A_DAY - begun));
    const waiting = known.filter(({ due }) => due >= tomorrow).map(({ due }) => daysFrom(today, due));
    if (unseen.length && !fresh.length) waiting.push(1);
    return {
      due: known.filter(({ due }) => due < tomorrow).sort((a, b) => a.due - b.due).map(({ item }) => item),
      fresh,
      next: waiting.length ? Math.min(...waiting) : null,
    };
  }

  /** The cards as the browser has them now: another tab may have written. */
  private read(): Map<string, Entry> {
    const text = this.alone ? this.text : kept("local", NAME);
    if (text === this.text) return this.cards;
    this.text = text;
    this.cards = parsed(text);
    return this.cards;
  }

  private write(key: string, entry: Entry): void {
    const cards = this.read();
    cards.set(key, entry);
    const oldest = [...cards].sort(([, a], [, b]) => a.last - b.last);
    for (const [each] of oldest.slice(0, Math.max(0, cards.size - ROOM))) cards.delete(each);
    this.text = JSON.stringify([...cards].map(([name, { due, last, first, stability, difficulty, reps, lapses }]) => [name, due, last, first, stability, difficulty, reps, lapses]));
    keep("local", NAME, this.text);
    this.alone = kept("local", NAME) !== this.text;
  }
}

/** The schedule that all panels of the page share. */
export const schedule = new Schedule();

/** The name of a card: short, and without the player's name. */
export function cardOf(player: string, position: string): string {
  return `${digest(player.trim().toLowerCase())} ${digest(position)}`;
}

/** A position without the numbers of its moves: the same position of another game is the same. */
export function positionOf({ fen, stones, turn }: Partial<Pick<Node, "fen" | "stones" | "turn">>): string {
  return fen ? fen.split(" ").slice(0, 4).join(" ") : `${stones} ${turn}`;
}

/** The beginning of a day in local time, so many days after this one. */
export function midnight(now: Date, days = 0): Date {
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() + days);
}

/** Days from the beginning of a day to that of another; a day of 23 or 25 hours is one. */
function daysFrom(today: number, time: number): number {
  return Math.round((midnight(new Date(time)).getTime() - today) / DAY);
}

function graded(before: Entry | undefined, answer: Answer, clock: Date): Entry {
  // A clock that was set back is no reason to forget.
  const now = new Date(Math.max(clock.getTime(), before?.last ?? 0));
  const { card } = SCHEDULER.next(before ? whole(before) : createEmptyCard(now), now, GRADES[answer]);
  const { scheduled_days: days, stability, difficulty, reps, lapses } = card;
  return { due: midnight(now, days).getTime(), last: now.getTime(), first: before?.first ?? now.getTime(), stability, difficulty, reps, lapses };
}

function whole({ due, last, stability, difficulty, reps, lapses }: Entry): Card {
  return { due: new Date(due), last_review: new Date(last), stability, difficulty, reps, lapses, state: State.Review, elapsed_days: 0, scheduled_days: 0, learning_steps: 0 };
}

/** The cards of a text. What is damaged is left out. */
function parsed(text: string | null): Map<string, Entry> {
  try {
    const rows: unknown = JSON.parse(text ?? "[]");
    return new Map(Array.isArray(rows) ? rows.flatMap(entryOf).slice(0, ROOM) : []);
  } catch {
    return new Map();
  }
}

function entryOf(row: unknown): [string, Entry][] {
  if (!Array.isArray(row) || row.length !== 8) return [];
  const [key, ...numbers] = row as [unknown, ...unknown[]];
  if (typeof key !== "string" || !/^\w+ \w+$/.test(key)) return [];
  if (!numbers.every((each) => typeof each === "number" && Number.isFinite(each) && each >= 0)) return [];
  const [due, last, first, stability, difficulty, reps, lapses] = numbers as [number, number, number, number, number, number, number];
  const sound = first <= last && last <= due && due <= LATEST && stability > 0 && difficulty >= 1 && difficulty <= 10 && Number.isInteger(reps) && Number.isInteger(lapses);
  return sound ? [[key, { due, last, first, stability, difficulty, reps, lapses }]] : [];
}
