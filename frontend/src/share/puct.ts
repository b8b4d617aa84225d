/** A small search: the network's likely moves are followed where values and chances promise most. PUCT, as kibitz.play.puct. */

import type { Line } from "../app/state";

/** Less than a second a move, as it is promised. */
const LONGEST = { visits: 400, milliseconds: 850, batch: 4 };

/** What a move is asked for. rating, rank: of the player to play like, 0 and none for nobody. nodes: visits of a search in place of the usual time. */
export interface Thought {
  line: Line;
  temperature: number;
  rating: number;
  rank?: string;
  searches: boolean;
  nodes: number | null;
}

/** The limits of a move that has taken some time already, ms. */
export function limitsOf({ nodes }: Thought, spent: number, signal: AbortSignal | undefined): Limits {
  return nodes ? { ...LONGEST, visits: nodes, milliseconds: Infinity, signal } : { ...LONGEST, milliseconds: LONGEST.milliseconds - spent, signal };
}

/** What the network says of a position: the value for the side to move, −1..1, and the moves with their chances, which add up to 1. */
export interface Look<M> {
  value: number;
  moves: readonly { move: M; prior: number }[];
}

/** The rules of a game, and its network. P: a position, which is never changed. M: a move. */
export interface SearchRules<P, M> {
  after(at: P, move: M): P;
  /** The value for the side to move where the game is over, else null. */
  over(at: P): number | null;
  /** A move that wins at once; null if there is none. */
  wins(at: P): M | null;
  /** A position without moves ends the game with its value. */
  look(positions: readonly P[]): Promise<Look<M>[]>;
}

export interface Limits {
  /** Positions that are visited at most. */
  visits: number;
  /** Milliseconds that a search takes at most. The first evaluation is always waited for, however little is left. */
  milliseconds: number;
  /** Positions that the network evaluates at once. */
  batch: number;
  signal?: AbortSignal | undefined;
  /** Milliseconds of a clock. */
  now?: () => number;
}

export interface Found<M> {
  move: M;
  /** For the side to move, −1..1. */
  value: number;
  visits: number;
  /** Positions that the network evaluated. */
  evaluated: number;
  milliseconds: number;
}

/** Exploration, and what a move without a visit is worth less than its position, at the root and below it. */
const [EXPLORATION, ROOT_REDUCTION, REDUCTION] = [1, 0.1, 0.2];
/** A visit that has no value yet counts as this many losses. */
const PENDING = 0.2;

class Node<P, M> {
  visits = 0;
  pending = 0;
  total = 0;
  value = 0;
  /** What the game ends with for the side to move if both play their best, where that is known. */
  proven: number | null = null;
  children: Node<P, M>[] | null = null;
  private place: P | undefined;

  constructor(
    readonly parent: Node<P, M> | null,
    readonly move: M | null,
    readonly prior: number,
    place?: P,
  ) {
    this.place = place;
  }

  at(rules: SearchRules<P, M>): P {
    return (this.place ??= rules.after(this.parent!.at(rules), this.move!));
  }
}

/** The best move of a position in which the game is not over; null if there is no move. */
export async function search<P, M>(start: P, rules: SearchRules<P, M>, limits: Limits): Promise<Found<M> | null> {
  const now = limits.now ?? (() => performance.now());
  const began = now();
  const root = new Node<P, M>(null, null, 1, start);
  let evaluated = 0;
  // Milliseconds for a position, at worst.
  let longest = 0;
  /** Positions that there is time for. */
  const room = (): number => (limits.milliseconds - now() + began) / Math.max(longest, 1e-3);
  const stopped = (): boolean =>
    root.visits > 0 &&
    (Boolean(limits.signal?.aborted) || root.proven !== null || root.visits >= limits.visits || root.children!.length < 2 || room() < 1 || decided(root, limits, now() - began));
  while (!stopped()) {
    const leaves: Node<P, M>[] = [];
    const most = root.visits ? Math.min(limits.batch, limits.visits - root.visits, Math.floor(room())) : 1;
    for (let tries = 0; tries < most && root.proven === null; tries += 1) {
      const leaf = followed(root);
      if (leaf.pending) break;
      if (settle(leaf, rules)) backUp(leaf, leaf.proven!);
      else {
        for (let node: Node<P, M> | null = leaf; node; node = node.parent) node.pending += 1;
        leaves.push(leaf);
      }
    }
    if (!leaves.length) continue;
    const before = now();
    const looks = await rules.look(leaves.map((leaf) => leaf.at(rules)));
    longest = Math.max(longest, (now() - before) / leaves.length);
    evaluated += leaves.length;
    for (const [at, leaf] of leaves.entries()) {
      const { value, moves } = looks[at]!;
      leaf.value = value;
      if (!moves.length) leaf.proven = value;
      leaf.children = moves.map(({ move, prior }) => new Node<P, M>(leaf, move, prior));
      for (let node: Node<P, M> | null = leaf; node; node = node.parent) node.pending -= 1;
      backUp(leaf, value);
    }
  }
  const visits = { visits: root.visits, evaluated, milliseconds: now() - began };
  const winning = root.children ? null : rules.wins(start);
  if (winning !== null) return { move: winning, value: 1, ...visits };
  const best = bestOf(root.children ?? []);
  return best && { move: best.move!, value: best.visits ? worth(best) : root.value, ...visits };
}

/** Whether the value of a leaf is known without the network; it is noted in the leaf. */
function settle<P, M>(leaf: Node<P, M>, rules: SearchRules<P, M>): boolean {
  if (leaf.proven !== null) return true;
  const at = leaf.at(rules);
  leaf.proven = leaf.parent ? rules.over(at) : null;
  if (leaf.proven === null && rules.wins(at) !== null) leaf.proven = 1;
  return leaf.proven !== null;
}

/** What the move that leads to a visited node is worth for the one who plays it. */
const worth = <P, M>(child: Node<P, M>): number => (child.proven !== null ? -child.proven : -child.total / child.visits);

/** From the root to a node that has no moves yet. */
function followed<P, M>(root: Node<P, M>): Node<P, M> {
  let node = root;
  while (node.children?.length && node.proven === null) node = picked(node, node === root);
  return node;
}

function picked<P, M>(node: Node<P, M>, atRoot: boolean): Node<P, M> {
  const children = node.children!;
  const explore = EXPLORATION * Math.sqrt(Math.max(1, node.visits + node.pending));
  const seen = children.reduce((sum, child) => sum + (child.visits ? child.prior : 0), 0);
  const unseen = node.value - (atRoot ? ROOT_REDUCTION : REDUCTION) * Math.sqrt(seen);
  let [best, most] = [children[0]!, -Infinity];
  for (const child of children) {
    const losses = PENDING * child.pending;
    const value = child.proven !== null ? -child.proven : child.visits ? (-child.total - losses) / (child.visits + losses) : unseen - losses * (1 + unseen);
    const score = (child.proven === 1 ? -10 : value) + (explore * child.prior) / (1 + child.visits + child.pending);
    if (score > most) [best, most] = [child, score];
  }
  return best;
}

/** Adds a visit to a node and to all before it, and what it proves for them. */
function backUp<P, M>(leaf: Node<P, M>, found: number): void {
  let value = found;
  for (let node: Node<P, M> | null = leaf; node; node = node.parent) {
    const { children } = node;
    if (node.proven === null && children?.length) {
      if (children.some((child) => child.proven === -1)) node.proven = 1;
      else if (children.every((child) => child.proven !== null)) node.proven = Math.max(...children.map((child) => -child.proven!));
      if (node.proven !== null) value = node.proven;
    }
    node.visits += 1;
    node.total += value;
    value = -value;
  }
}

/** A win that is proven, else the move with most visits that does not lose; of moves without visits, the likeliest. */
function bestOf<P, M>(children: readonly Node<P, M>[]): Node<P, M> | null {
  const rank = (child: Node<P, M>): [number, number, number] => [child.proven === -1 ? 1 : child.proven === 1 ? -1 : 0, child.visits, child.prior];
  const better = (a: Node<P, M>, b: Node<P, M>): boolean => {
    const [x, y] = [rank(a), rank(b)];
    const at = x.findIndex((value, place) => value !== y[place]);
    return at >= 0 && x[at]! > y[at]!;
  };
  return children.reduce<Node<P, M> | null>((best, child) => (best === null || better(child, best) ? child : best), null);
}

/** Whether what is left of the search cannot change its move. */
function decided<P, M>(root: Node<P, M>, limits: Limits, spent: number): boolean {
  const [first = 0, second = 0] = root.children!.map(({ visits }) => visits).sort((a, b) => b - a);
  const left = Math.min(limits.visits - root.visits, root.visits > 4 ? ((limits.milliseconds - spent) / spent) * root.visits : Infinity);
  return first - second > left;
}
