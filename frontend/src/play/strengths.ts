/** The levels that are offered of an opponent. */

import { imitates, type Strength } from "./match";
import { SHORT_SEARCH } from "../server/api";
import type { About } from "../server/programs";
import type { Network } from "../app/state";
import { texts } from "../texts";

export const FULL = "full";
export const CUSTOM = "custom";
/** Of a network of one person. */
export const PERSON = "person";
/** Ratings that can be imitated; by programs beyond those of people. */
const RATINGS = Array.from({ length: 17 }, (_, at) => 800 + 100 * at);
/** Between the ratings that are offered of programs, which play less like people. */
const STEP_OF_PROGRAMS = 200;
const BEYOND = [2600, 2800, 3000];
const USUAL_RATING = "1400";
/** Ranks that a network of Go with rank inputs can imitate. */
const RANKS = ["15k", "10k", "5k", "1k", "1d", "3d", "5d", "7d", "9d"];
/** For networks that know no ratings: the likeliest moves with some variety, then more and more positions a move. */
export const LEVELS: Record<string, { text: string; strength: Strength }> = {
  easy: { text: texts.play.easy, strength: strength({ method: "top-prob", temperature: 0.7 }) },
  medium: { text: texts.play.medium, strength: strength({ nodes: 100 }) },
  hard: { text: texts.play.hard, strength: strength({ nodes: 1000 }) },
};

/** Of networks on a page without a server: one evaluation a move, or a short search. */
export const SINGLE: Record<string, { text: string; strength: Strength }> = {
  best: { text: texts.play.bestMoves, strength: strength({ method: "top-prob" }) },
  varied: { text: texts.play.varied, strength: strength({ method: "top-prob", temperature: 0.5 }) },
  ahead: { text: texts.play.ahead, strength: strength({ method: SHORT_SEARCH }) },
};

export function strength(known: Partial<Strength>): Strength {
  return { method: null, temperature: 0, nodes: null, seconds: null, rating: null, ...known };
}

type Level = [value: string, text: string];

const like = (rating: number): Level => [String(rating), texts.play.like(rating)];
const likeRank = (rank: string): Level => [rank, texts.play.likeRank(rank)];

/** Whether a level is a rank, "5k". */
export const isRank = (level: string): boolean => RANKS.includes(level);

/** The ratings that a program can play like; none where it has no such setting, or it is not known yet. */
export function likeRatings(about: About | null): Level[] {
  const [least, most] = about?.ratings ?? [Infinity, -Infinity];
  return [...RATINGS, ...BEYOND].filter((each) => each % STEP_OF_PROGRAMS === 0 && least <= each && each <= most).map(like);
}

/** A network as the list of opponents names it. */
export const offered = ({ name, unfinished }: Network): string => (unfinished ? texts.play.unfinished(name) : name);

/** The levels of an opponent: value and text. about: of a program. */
export function levelsOf(network: Network | undefined, about: About | null, timed: boolean): Level[] {
  const ends: Level[] = [
    [FULL, timed ? texts.play.full : texts.play.fullSecond],
    [CUSTOM, texts.play.custom],
  ];
  if (network?.single) {
    const people: Level[] = network.person ? [[PERSON, texts.play.person]] : network.rated ? RATINGS.map(like) : [];
    const ranks = network.ranked ? RANKS.map(likeRank) : [];
    // Without moves of its own it has only the best one; ratings are varied already.
    const names = ["best", ...(people.length || !network.answers.includes("moves") ? [] : ["varied"]), ...(network.methods.includes(SHORT_SEARCH) ? ["ahead"] : [])];
    return [...people, ...ranks, ...names.map((name): Level => [name, SINGLE[name]!.text])];
  }
  if (network?.person) return [[PERSON, texts.play.person], ...ends];
  if (network?.rated) return [...RATINGS.map(like), ...ends];
  if (network?.ranked) return [...RANKS.map(likeRank), ...["medium", "hard"].map((name): Level => [name, LEVELS[name]!.text]), ...ends];
  const easy = network?.methods.includes("top-prob") && network.methods.length > 1;
  return [...(easy ? Object.entries(LEVELS).map(([name, { text }]): Level => [name, text]) : []), ...likeRatings(about), ...ends];
}

/** The level that a strength is: the form may show another one by now. */
export function levelOf(known: Strength, timed: boolean): string {
  if (known.rating) return String(known.rating);
  if (known.rank) return known.rank;
  const same = (other: Strength): boolean => JSON.stringify(other) === JSON.stringify(known);
  const ready = [...Object.entries(LEVELS), ...Object.entries(SINGLE)].find(([, level]) => same(level.strength));
  if (ready) return ready[0];
  if (imitates(known)) return PERSON;
  return same(strength({ seconds: timed ? null : 1 })) ? FULL : CUSTOM;
}

/** The level that an opponent has at first. */
export function usualLevel(network: Network | undefined, levels: Level[]): string {
  if (network?.person) return PERSON;
  if (levels.some(([value]) => value === USUAL_RATING)) return USUAL_RATING;
  return network?.single ? "best" : FULL;
}
