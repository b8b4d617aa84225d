/** A game as a tree of positions. */

import type { Loaded, Written } from "./api";
import type { Game, Line, Node } from "./state";

const START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

/** Node numbers are never used twice, so that an answer for one game is never taken for another's. */
let numbered = 0;

/** An empty board. Known without the server, so that there is one at once. */
export function empty(kind: "chess" | "go", size = 19): Game {
  const root = node(null, kind === "chess" ? { ...BARE, turn: "w", fen: START, check: false, dests: opening() } : vacant(size));
  const start: Line =
    kind === "chess"
      ? { game: "chess", moves: [] }
      : { game: "go", size, komi: 7.5, rules: "chinese", setup: { B: [], W: [] }, side: "b", moves: [] };
  return { kind, headers: {}, start, nodes: new Map([[root.id, root]]), root: root.id };
}

const BARE = { ply: 0, move: null, san: "", end: null };

function vacant(size: number): Written {
  const points = size * size;
  return { ...BARE, turn: "b", stones: ".".repeat(points), legal: "1".repeat(points), captured: { B: 0, W: 0 } };
}

/** White's first moves. */
function opening(): Record<string, string[]> {
  const dests: Record<string, string[]> = { b1: ["a3", "c3"], g1: ["f3", "h3"] };
  for (const file of "abcdefgh") dests[`${file}2`] = [`${file}3`, `${file}4`];
  return dests;
}

function node(parent: number | null, from: Written): Node {
  numbered += 1;
  return { ...from, id: numbered, parent, children: [], comment: from.comment ?? "", nags: from.nags ?? [] };
}

/** A game that the server has read. */
export function loaded(from: Loaded): Game {
  const nodes = new Map<number, Node>();
  const own = new Map<number, Node>();
  let root = 0;
  for (const written of from.tree) {
    const parent = written.parent === null || written.parent === undefined ? null : own.get(written.parent);
    const made = node(parent?.id ?? null, written);
    if (parent) parent.children.push(made.id);
    else root = made.id;
    nodes.set(made.id, made);
    own.set(written.id ?? 0, made);
  }
  return { kind: from.game, headers: from.headers, start: { ...from.line, moves: [] }, nodes, root };
}

/** Adds a move below a position, as its last variation. */
export function add(game: Game, parent: number, written: Written): Node {
  const made = node(parent, written);
  game.nodes.set(made.id, made);
  game.nodes.get(parent)?.children.push(made.id);
  return made;
}

/** Takes a position out, and all that comes after it. */
export function prune(game: Game, id: number): void {
  const top = game.nodes.get(id);
  if (!top || top.parent === null) return;
  const parent = game.nodes.get(top.parent);
  if (parent) parent.children = parent.children.filter((each) => each !== id);
  const pile = [id];
  for (let at = pile.pop(); at !== undefined; at = pile.pop()) {
    pile.push(...(game.nodes.get(at)?.children ?? []));
    game.nodes.delete(at);
  }
}

/** The numbers of all positions from the root to this one. */
export function ancestry(game: Game, id: number): number[] {
  const found: number[] = [];
  for (let at: number | null = id; at !== null; at = game.nodes.get(at)?.parent ?? null) found.push(at);
  return found.reverse();
}

/** From the root to this position, and on by main moves to the end. */
export function through(game: Game, id: number): number[] {
  const found = ancestry(game, id);
  for (let at = game.nodes.get(id)?.children[0]; at !== undefined; at = game.nodes.get(at)?.children[0]) found.push(at);
  return found;
}

/** The tree as the server takes it for writing: a parent before its children, the main one first. */
export function written(game: Game): unknown[] {
  const found: unknown[] = [];
  const pile = [game.root];
  for (let id = pile.pop(); id !== undefined; id = pile.pop()) {
    const at = game.nodes.get(id)!;
    const { parent, move, comment, nags } = at;
    const first = id === game.root ? { fen: at.fen, stones: at.stones, turn: at.turn } : {};
    found.push({ id, parent, move, comment, nags, ...first });
    pile.push(...[...at.children].reverse());
  }
  return found;
}
