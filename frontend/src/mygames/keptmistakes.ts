/**
 * Mistakes that were practiced, as the browser keeps them: the position, the move, and what was better. They can be asked
 * again when their game is not on the board, and after the board was started again. No names are kept.
 */

import type { Exercise } from "../app/handover";
import type { App, Line } from "../app/state";
import { keep, kept } from "../app/storage";
import type { Judgement, Judging } from "../server/judging";
import type { Schedule } from "./schedule";
import { texts } from "../texts";

export interface KeptMistake {
  /** The name of its card in the schedule. */
  card: string;
  /** The moves to the position before it. */
  line: Line;
  move: string;
  /** Who judged the move, and what was found; null before. */
  judge: string;
  judgement: Judgement | null;
}

/** Mistakes that are kept, and their characters. */
export const ROOM = 400;
export const MOST = 1_000_000;
const NAME = "mistakes";

export class KeptMistakes {
  private text: string | null = null;
  private known: readonly KeptMistake[] = [];

  constructor(private readonly schedule: Schedule) {}

  /** Keeps a mistake; one with the same card is replaced. */
  add(mistake: KeptMistake): void {
    const rest = this.all.filter(({ card }) => card !== mistake.card && this.schedule.due(card) !== null);
    const rows = [...rest, mistake].slice(-ROOM);
    let text = JSON.stringify(rows);
    while (text.length > MOST && rows.length > 1) {
      rows.splice(0, Math.ceil(rows.length / 10));
      text = JSON.stringify(rows);
    }
    keep("local", NAME, text);
  }

  /** Forgets one that cannot be shown. */
  drop(card: string): void {
    keep("local", NAME, JSON.stringify(this.all.filter((each) => each.card !== card)));
  }

  /** Those that are due today, the most overdue first, without some cards. kind: of one game alone. */
  due(without: ReadonlySet<string>, kind?: Line["game"]): KeptMistake[] {
    const when = ({ card }: KeptMistake): number => this.schedule.due(card)?.getTime() ?? 0;
    return this.all
      .filter(({ card, line }) => !without.has(card) && this.schedule.isDue(card) && (!kind || line.game === kind))
      .sort((a, b) => when(a) - when(b));
  }

  /** As the browser has them now: another tab may have written. What was read is not read again. */
  private get all(): readonly KeptMistake[] {
    const text = kept("local", NAME);
    if (text !== this.text) {
      this.text = text;
      this.known = parsed(text);
    }
    return this.known;
  }
}

function parsed(text: string | null): KeptMistake[] {
  try {
    const found: unknown = JSON.parse(text ?? "[]");
    return Array.isArray(found) ? found.filter(sound) : [];
  } catch {
    return [];
  }
}

/** A kept mistake as an exercise: its position is opened by itself, and what was found about it is known at once. */
export function exerciseOf(app: App, judging: Judging | null, { card, line, move, judge, judgement }: KeptMistake): Exercise {
  const open = async (): Promise<number> => {
    if (!(await app.mayOpen())) throw new Error(texts.mygames.stays);
    const { ratings: [white = 0, black = 0] = [], headers: known, ...start } = line;
    const whole = { ...start, moves: [...line.moves, move] };
    const headers = { ...known, ...(white ? { WhiteElo: String(white) } : {}), ...(black ? { BlackElo: String(black) } : {}) };
    await app.openLine(whole, headers);
    const last = app.cursor;
    if (judgement && judging?.judge === judge) judging.accept(last, judgement);
    return last;
  };
  return { about: texts.puzzles.earlier, card, open, kept: true };
}

function sound(value: unknown): value is KeptMistake {
  const { card, line, move, judge, judgement } = (value ?? {}) as Record<string, unknown>;
  const { game, moves } = (line ?? {}) as Record<string, unknown>;
  if (typeof card !== "string" || typeof move !== "string" || typeof judge !== "string") return false;
  if ((game !== "chess" && game !== "go") || !Array.isArray(moves) || !moves.every((each) => typeof each === "string")) return false;
  return judgement === null || soundJudgement(judgement);
}

function soundJudgement(value: unknown): boolean {
  const { white, best, line, reason } = (value ?? {}) as Record<string, unknown>;
  const { before, after } = (white ?? {}) as Record<string, unknown>;
  const { move, san } = (best ?? {}) as Record<string, unknown>;
  const name = (each: unknown): boolean => each === null || typeof each === "string";
  const share = (each: unknown): boolean => each === null || typeof each === "number";
  return share(before) && share(after) && name(move) && name(san) && Array.isArray(line) && line.every((each) => typeof each === "string") && soundReason(reason);
}

function soundReason(value: unknown): boolean {
  const { texts: words, lines = [] } = (value ?? {}) as Record<string, unknown>;
  const texted = typeof words === "object" && words !== null && Object.values(words).every((each) => typeof each === "string");
  return value === undefined || value === null || (texted && Array.isArray(lines) && lines.every(soundLine));
}

function soundLine(value: unknown): boolean {
  const { moves, written } = (value ?? {}) as Record<string, unknown>;
  return typeof written === "string" && Array.isArray(moves) && moves.every((each) => typeof each === "string");
}
