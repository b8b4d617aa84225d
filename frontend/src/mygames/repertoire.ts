/** A player's openings: the moves of each position, what is asked today, what opponents are likely to answer, and what the browser keeps of it. */

import type { Judgement } from "../server/judging";
import type { ByRating } from "../server/api";
import { digest } from "../app/remembered";
import { keep, kept } from "../app/storage";
import { movesAt } from "../analysis/ratings";
import { type Plan, positionOf, type Schedule } from "./schedule";

export type Side = "white" | "black";

export interface PlayedMove {
  move: string;
  san: string;
  games: number;
  /** The player's result, 0..1; null if no game has one. */
  score: number | null;
  /** The position after it, without the numbers of moves; "" if no game went on. */
  to: string;
}

export interface Position {
  side: Side;
  /** Whether the player is to move. */
  own: boolean;
  fen: string;
  /** The most frequent moves to it. */
  line: string[];
  games: number;
  opening: { eco: string; name: string } | null;
  /** The most frequent first. */
  played: PlayedMove[];
}

/** A recent game that left the repertoire. */
export interface LeftAt {
  game: number;
  ply: number;
  side: Side;
  san: string;
  usual: string;
  usual_games: number;
  /** The name of the opening before it; null for none. */
  opening: string | null;
  /** The moves before it, as they are written. */
  before: string[];
  line: string[];
  date: string;
  opponent: string;
  opponent_rating: number | null;
}

/** An opening of one's games with a color. */
export interface PlayedOpening {
  side: Side;
  eco: string;
  name: string;
  games: number;
  /** The player's result, 0..1; null if no game has one. */
  score: number | null;
  /** The most frequent moves to its first position. */
  line: string[];
}

/** What the server says of a player's openings. */
export interface Openings {
  player: string;
  games: number;
  rating: number | null;
  positions: Position[];
  recent: number;
  left: LeftAt[];
  /** The most frequent first. */
  openings: PlayedOpening[];
}

/** A likely answer: how often players of the rating choose it by the network, and in how many of one's own games it came. */
export interface Reply {
  move: string;
  san: string;
  p: number | null;
  games: number;
  /** Both together, 0..1. */
  weight: number;
}

/** A usual move that loses much, and what is better. */
export interface Flaw {
  loss: number;
  best: { move: string; san: string };
}

/** What a tried move is: the usual one, another own one, the better one, a usual one that loses much, or none of these. */
export type Tried = "usual" | "also" | "better" | "flawed" | "other";

/** A move belongs to the repertoire from this number of games on. */
export const LEAST = 2;
/** A usual move loses much from here on, by the search. */
export const MUCH = 0.1;
/** The network's opinion counts as much as this number of games. */
const PRIOR = 10;
/** Answers that are shown. */
const SHOWN = 4;
const ROOM = 600;
const NAME = "openings";
const [LOWEST, HIGHEST, STEP, USUAL_RATING] = [800, 2800, 100, 1500];

export class Repertoire {
  private readonly known: Map<string, Position>;
  /** The name in the schedule: the browser keeps it, and it names nobody. */
  readonly owner: string;

  constructor(
    readonly positions: readonly Position[],
    owner: string,
    readonly rated: number | null,
    readonly games: number,
    /** Where recent games left it; none of one that the browser has kept. */
    readonly left: readonly LeftAt[] = [],
    readonly recent = 0,
    readonly openings: readonly PlayedOpening[] = [],
  ) {
    this.owner = owner;
    // Of two that differ in a capture in passing alone, the more frequent one, which comes first, stands for both.
    this.known = new Map([...positions].reverse().map((each) => [key(each.side, each.fen, 3), each]));
    for (const each of positions) this.known.set(key(each.side, each.fen, 4), each);
  }

  static of({ player, positions, rating, games, left, recent, openings }: Openings): Repertoire {
    return new Repertoire(positions, ownerOf(player), rating, games, left, recent, openings);
  }

  /** The rating whose answers are expected: the player's, in hundreds. */
  get rating(): number {
    return Math.min(HIGHEST, Math.max(LOWEST, STEP * Math.round((this.rated ?? USUAL_RATING) / STEP)));
  }

  at(side: Side, fen: string): Position | undefined {
    return this.known.get(key(side, fen, 4)) ?? this.known.get(key(side, fen, 3));
  }

  /** The moves to a position as they are written; [] where one of them is not known. */
  before({ side, line }: Position): string[] {
    const sans: string[] = [];
    let at = this.positions.find((each) => each.side === side && !each.line.length);
    for (const move of line) {
      const played = at?.played.find((each) => each.move === move);
      if (!played) return [];
      sans.push(played.san);
      at = played.to ? this.at(side, played.to) : undefined;
    }
    return sans;
  }

  /** The positions in which a move is asked, the most frequent first. */
  asked(side: Side | "both"): Position[] {
    return this.positions.filter((each) => usual(each) && (side === "both" || each.side === side));
  }

  /** What is asked today: nothing that only a rejected move leads to. rejects: whether a position's usual move is rejected. */
  plan(schedule: Schedule, side: Side | "both", rejects: (position: Position) => boolean = () => false): Plan<Position> {
    return schedule.plan(this.owner, this.reached(this.asked(side), rejects), cardPosition);
  }

  /** Those of some positions that games reach without a usual move that is rejected. */
  reached(some: readonly Position[], rejects: (position: Position) => boolean): Position[] {
    const next = (position: Position, every: boolean): Position[] => {
      const without = !every && position.own && rejects(position) ? usual(position) : undefined;
      return position.played.flatMap((each) => (each !== without && each.to && this.at(position.side, each.to)) || []);
    };
    const led = new Set(this.positions.flatMap((each) => next(each, true)));
    const found = new Set(this.positions.filter((each) => !each.line.length || !led.has(each)));
    // A set gives what is added while it is gone through, too.
    for (const each of found) for (const after of next(each, false)) found.add(after);
    return some.filter((each) => found.has(each));
  }
}

/** The name of a card's position: the same one with the other color is another card by its side to move. */
export const cardPosition = (position: Pick<Position, "fen">): string => positionOf(position);

const ownerOf = (player: string): string => `${NAME} ${digest(player.trim().toLowerCase())}`;

const key = (side: Side, fen: string, parts: 3 | 4): string => `${side} ${fen.split(" ").slice(0, parts).join(" ")}`;

/** The player's usual move in a position; none where no move was played often enough, or two were played equally often. */
export function usual({ own, played }: Position): PlayedMove | undefined {
  const [first, second] = own ? played : [];
  return first && first.games >= LEAST && first.games !== second?.games ? first : undefined;
}

/** The usual move as one that loses much; null where it does not. */
export function flawOf(position: Position, judged: Pick<Judgement, "loss" | "best"> | undefined): Flaw | null {
  const move = usual(position)?.move;
  if (!judged || judged.loss < MUCH || !judged.best.move || judged.best.move === move) return null;
  return { loss: judged.loss, best: judged.best };
}

/** What a tried move is. */
export function tried(position: Position, move: string, flaw: Flaw | null): Tried {
  if (flaw?.best.move === move) return "better";
  const known = position.played.find((each) => each.move === move);
  if (known && known === usual(position)) return flaw ? "flawed" : "usual";
  return known && known.games >= LEAST ? "also" : "other";
}

/** The likely answers in a position, the likeliest first: the network's at a rating, and those of the own games. */
export function replies(position: Position | undefined, found: ByRating | null, rating: number): Reply[] {
  const network = found ? movesAt(found, rating) : [];
  const games = position?.played ?? [];
  const all = games.reduce((sum, each) => sum + each.games, 0);
  const sans = new Map([...network, ...games].map(({ move, san }) => [move, san]));
  const prior = network.length ? PRIOR : 0;
  const made = [...sans].map(([move, san]): Reply => {
    const p = network.find((each) => each.move === move)?.p ?? null;
    const count = games.find((each) => each.move === move)?.games ?? 0;
    return { move, san, p, games: count, weight: all + prior ? (count + prior * (p ?? 0)) / (all + prior) : 0 };
  });
  return made.sort((a, b) => b.weight - a.weight);
}

/** The answers that are worth showing. */
export const shownReplies = (all: readonly Reply[]): Reply[] => all.filter(({ weight }) => weight >= 0.02).slice(0, SHOWN);

/** One of some answers, by its weight. `chance`: 0..1. */
export function draw(all: readonly Reply[], chance: number): Reply | undefined {
  const sum = all.reduce((total, { weight }) => total + weight, 0);
  let rest = chance * sum;
  return all.find(({ weight }) => (rest -= weight) < 0) ?? all.at(-1);
}

/** Keeps a repertoire in the browser, without names: after the board was started again it can be practiced. */
export function keepOpenings({ positions, owner, rated, games }: Repertoire): void {
  keep("local", NAME, JSON.stringify({ owner, rated, games, positions: positions.slice(0, ROOM) }));
}

/** The repertoire that the browser has kept; null where it has none, or something else. */
export function keptOpenings(): Repertoire | null {
  try {
    const found: unknown = JSON.parse(kept("local", NAME) ?? "null");
    const { owner, rated, games, positions } = (found ?? {}) as Record<string, unknown>;
    if (typeof owner !== "string" || typeof games !== "number" || !Array.isArray(positions) || !positions.every(sound)) return null;
    return new Repertoire(positions, owner, typeof rated === "number" ? rated : null, games);
  } catch {
    return null;
  }
}

function sound(value: unknown): value is Position {
  const { side, own, fen, line, games, played, opening } = (value ?? {}) as Record<string, unknown>;
  const { eco, name } = (opening ?? {}) as Record<string, unknown>;
  return (
    (opening === null || (typeof eco === "string" && typeof name === "string")) &&
    (side === "white" || side === "black") &&
    typeof own === "boolean" &&
    typeof fen === "string" &&
    typeof games === "number" &&
    Array.isArray(line) &&
    line.every((each) => typeof each === "string") &&
    Array.isArray(played) &&
    played.every(soundMove)
  );
}

function soundMove(each: Partial<PlayedMove> | null): boolean {
  const named = typeof each?.move === "string" && typeof each.san === "string" && typeof each.to === "string";
  return named && typeof each.games === "number" && (each.score === null || typeof each.score === "number");
}
