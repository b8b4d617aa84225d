/** What the server says of somebody's own games. The report is what `kibitz analyze --player --json` prints. */

import type { CheckedBy } from "../server/checker";
import { texts } from "../texts";

/** A figure with its 95% interval, which is null where there are too few games. */
export interface Figure {
  value: number | null;
  low: number | null;
  high: number | null;
  n: number;
}

export interface Part {
  label: string;
  /** Of an opening: its name, and the player's color. */
  name?: string;
  side?: "white" | "black" | "";
  moves: number;
  games: number;
  score?: Figure;
  loss: Figure;
  usual_loss?: Figure;
  difference?: Figure;
  marks: Record<"inaccuracies" | "mistakes" | "blunders", number>;
}

interface Mistake {
  game: number;
  ply: number;
  side: "white" | "black";
  mark: string;
  loss: number;
  opponent: string;
  date: string;
  phase: string;
  /** A sentence on why the move was bad, by language, if that is proven. */
  reason: { why: Record<string, string> } | null;
}

export interface ChessWorst extends Mistake {
  move_number: number;
  san: string;
  opponent_rating: number | null;
  time_left: number | null;
  /** The position before the move. */
  fen: string;
}

export interface GoWorst extends Mistake {
  vertex: string;
  opponent_rank: string | null;
  /** The position before the move: rows from the top, with X, O and a dot. */
  stones: string[];
}

export type Worst = ChessWorst | GoWorst;

export const DIVISIONS = {
  by_phase: texts.myanswers.phase,
  by_piece: texts.myanswers.piece,
  by_time_left: texts.myanswers.time,
  by_side: texts.myanswers.side,
  by_result: texts.myanswers.result,
  by_opening: texts.myanswers.opening,
} as const;
export const GO_DIVISIONS = {
  by_phase: texts.myanswers.phase,
  by_area: texts.mygo.area,
  by_kind: texts.mygo.kind,
  by_side: texts.myanswers.side,
  by_result: texts.myanswers.result,
  by_board: texts.mygo.board,
} as const;
export type Division = keyof typeof DIVISIONS | keyof typeof GO_DIVISIONS;

interface AnyReport extends Omit<Part, "label">, Partial<Record<Exclude<Division, "by_opening">, Record<string, Part>>> {
  name: string;
  won: number;
  drawn: number;
  lost: number;
  /** The engine that judged the moves; absent if the network did. */
  checked_by?: CheckedBy;
  /** Some games had only the quick analysis, so nothing is compared with other players. */
  provisional?: boolean;
  /** The mean accuracy of a game. */
  accuracy?: Figure;
}

export interface GoReport extends AnyReport {
  rank: string | null;
  /** How often the most likely move of players of the rank was played, and how often such players play it. */
  first_choice: Figure;
  usual_first_choice: Figure;
  /** What changed since the last month; null where the dates do not show it. */
  lately: Lately | null;
  worst: GoWorst[];
}

/** The loss since a day and before it. */
export interface Change {
  loss: Figure & { games: number };
  earlier_loss: Figure & { games: number };
  change: Figure;
}

export interface Lately extends Change {
  since: string;
  changed: (Change & { label: string })[];
}

export interface Report extends AnyReport {
  rating: number | null;
  by_opening: Part[];
  stands_out: { label: string; difference: Figure }[];
  worst: ChessWorst[];
  /** The rating that the moves look like, with its 90% interval; absent for networks that cannot estimate it. */
  strength?: { games: number; scale: string | null; rating: { value: number; low: number; high: number; games: number } | null };
}

/** A report as the server gives it; until the first game is analyzed it has nothing. */
export interface GivenReport {
  revision: number;
  report: Report | GoReport | Record<"none", never>;
  game: "chess" | "go";
  stage: Stage | "";
}

/** Work in the background. */
export interface Task {
  state: "running" | "done" | "stopped" | "failed";
  error: string;
  player: string;
  games: number;
}

export type Stage = "quick" | "thorough";

export interface AnalysisTask extends Task {
  game: "chess" | "go";
  /** Which of the opened games it is of. */
  opened: number;
  done: number;
  left_out: number;
  /** Games of the player that there are. */
  of: number;
  network: string;
  /** The engine that judges; "" for the network's own search. */
  checked_by?: string;
  /** The quick stage is the only one. */
  quick: boolean;
  /** The thorough stage follows the quick one; `done`, `left_out` and `seconds` are of the stage. */
  stage: Stage;
  begun: boolean;
  seconds?: number;
}

export interface TrainingTask extends Task {
  run: string;
  number?: number;
  name?: string;
  iteration?: number;
  iterations?: number;
  per_second?: number | null;
  left?: number | null;
  note?: string;
  kept?: string;
}

/** The games of an account on a site. */
export interface DownloadTask extends Task {
  account: string;
  site: string;
  /** Games of earlier downloads, new ones, and how many are to come; 0 where that is not known. */
  kept: number;
  new: number;
  expected: number;
}

/** What a person has to allow before kibitz contacts a site. */
export interface Asking {
  account: string;
  site: string;
  host: string;
}

export interface MyGames {
  /** Files and stores that the board was given. */
  given: string[];
  /** Games from which a network can learn. */
  least: number;
  /** Games that are analysed where nothing else is chosen. */
  most: number;
  games: { opened: number; game: "chess" | "go"; name: string; games: number; variants: number; players: { name: string; games: number }[] } | null;
  /** Seconds that a game of the opened kind took in each stage on this machine; none of a stage that did not run. */
  pace: Partial<Record<Stage, number>>;
  /** The same if an engine judges. */
  engine_pace: Partial<Record<Stage, number>>;
  /** Counts the reports. */
  revision: number;
  analysis: AnalysisTask | null;
  training: TrainingTask | null;
  download: DownloadTask | null;
  /** Games of the openings that are read, while they are. */
  reading?: { done: number; total: number } | null;
  /** Only in the answer to a download that is not allowed yet. */
  ask?: Asking;
}

/** Seconds that an analysis of so many games takes: the thorough stage comes after the quick one. NaN if it is not known. */
export function estimate(games: number, { quick = NaN, thorough = NaN }: Partial<Record<Stage, number>>): Record<Stage, number> {
  return { quick: games * quick, thorough: games * (quick + thorough) };
}
