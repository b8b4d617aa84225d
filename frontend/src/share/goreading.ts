/**
 * What answers for both sides to move say of a position of Go, steady from move to move. The numbers are those of
 * kibitz.play.go.ownership, which says where they come from.
 */

import { GRID, POINTS } from "./gorules";

/** White's points from the start, how it is counted, and handicap stones, which the owners count as Black's points. */
export interface Terms {
  komi: number;
  territory: boolean;
  stones: number;
}

/** A network's answer for one position: value and lead of the side to move, owners as Black's chances. */
export interface Said {
  policy: number[];
  value: number;
  owners: number[];
  lead: number;
  spread: number;
}

/** Black's chance and lead; owners of the board's points, row by row; the moves' chances, where they are named. */
export interface Read {
  black: number;
  lead: number;
  owners: number[];
  policy: number[] | null;
}

const ODDS = [-1.479, 0.273, 0.476, -0.743, -0.08, -0.036, 0.534, 1.942];
const LEAD = [0.926, 0.143, 2.007];
const OWN_PART = 0.3;
const [OPEN, SETTLED] = [
  [4, 12],
  [18, 40],
] as const;
const [OPEN_POWER, STRETCH, EVEN_KOMI] = [8, 0.85, 7];
const [OF_ROOT, OF_TURN, OF_OPEN] = [8.69, 0.126, -1.214];
const SURE = 1 - 1e-6;
const MOST_KOMI = 63.5;
const LOGISTIC = Math.PI / Math.sqrt(3);

const total = (values: readonly number[]): number => values.reduce((sum, each) => sum + each, 0);
const dot = (weights: readonly number[], values: readonly number[]): number => total(weights.map((weight, at) => weight * values[at]!));
const clip = (value: number, low: number, high: number): number => Math.min(high, Math.max(low, value));

export function readResults(said: Said, other: Said, points: readonly number[], size: number, black: boolean, { komi, territory, stones }: Terms): Read {
  const log = ({ value }: Said): number => 2 * Math.atanh(clip(value, -SURE, SURE));
  const [own, theirs] = [log(said), log(other)];
  const odds = (own - theirs) / 2;
  const area = size ** 2;
  const means = points.map((point) => (said.owners[point]! + other.owners[point]!) / 2);
  const open = total(means.map((p) => 4 * p * (1 - p))) / area;
  const spread = Math.log(Math.max((said.spread + other.spread) / 2, 1));
  const entropy = -total(said.policy.map((p) => p * Math.log(Math.max(p, 1e-9))));
  const even = 1 - Math.tanh(odds / 2) ** 2;
  const value = Math.tanh((odds + dot(ODDS, [1, (own + theirs) / 2, open, open ** 2, spread, entropy, Math.abs(odds), even])) / 2);
  const sign = black ? 1 : -1;
  let lead = (said.lead - other.lead) / 2 + dot(LEAD, [1, (said.lead + other.lead) / 2, open]);
  const given = clip(Math.round(2 * komi), -127, 127) / 2;
  const board = total(means.map((p) => 2 * p - 1)) - stones;
  const balance = clip(board, 0, EVEN_KOMI);
  const ahead = (board - balance) * (1 + STRETCH * open);
  const owned = ahead + balance - given + (territory ? 0 : stones);
  const turn = sign * total(points.map((point) => said.owners[point]! - other.owners[point]!));
  const move = ((OF_ROOT * Math.sqrt(open) + OF_OPEN * open) * size) / GRID + OF_TURN * turn;
  const swing = Math.abs(turn) + STRETCH * open * Math.max(Math.abs(turn) - EVEN_KOMI, 0);
  const large = ((Math.max(Math.abs(ahead), Math.abs(owned) - EVEN_KOMI) - swing) * POINTS) / area;
  const part = open ** OPEN_POWER;
  const [first, over] = [0, 1].map((at) => part * OPEN[at]! + (1 - part) * SETTLED[at]!);
  const share = clip((large - first!) / over!, 0, 1);
  lead += share * (sign * owned + move - lead);
  // points of a komi that the network's input clips
  const lost = sign * (komi - clip(komi, -MOST_KOMI, MOST_KOMI));
  lead -= lost;
  const chance = lost ? Math.tanh(Math.atanh(clip(value, -SURE, SURE)) - ((lost / Math.max(said.spread, 1)) * LOGISTIC) / 2) : value;
  const owners = points.map((point) => ((1 + OWN_PART) * said.owners[point]! + (1 - OWN_PART) * other.owners[point]!) / 2);
  return { black: (1 + sign * chance) / 2, lead: sign * lead, owners, policy: said.policy };
}

const TERRITORY_PART = 0.4;
const MOVE_WORTH = 0.02;

/** Of a network that says nothing but owners: the lead is what they add up to, without the handicap stones where territory is counted. */
export function readOwners(own: ArrayLike<number>, their: ArrayLike<number>, points: readonly number[], black: boolean, { komi, territory, stones }: Terms): Read {
  const sign = black ? 1 : -1;
  const owners = points.map((point) => {
    const mean = (own[point]! + their[point]!) / 2;
    const half = (own[point]! - their[point]!) / 2;
    const usual = (sign * MOVE_WORTH * 4 * mean * (1 - mean)) / 2;
    return clip(mean + TERRITORY_PART * half + (1 - TERRITORY_PART) * usual, 0, 1);
  });
  const lead = total(owners.map((p) => 2 * p - 1)) - komi - (territory ? stones : 0);
  const spread = Math.max(1, Math.sqrt(2 * total(owners.map((p) => 4 * p * (1 - p)))));
  return { black: 1 / (1 + Math.exp(-clip((lead / spread) * LOGISTIC, -50, 50))), lead, owners, policy: null };
}
