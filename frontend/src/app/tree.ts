/** A game as a tree of positions. */

import type { Loaded, Written } from "../server/api";
import { History } from "./history";
import type { Game, Line, Node } from "./state";

/** The start of a game of chess. */
export const START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

/** Node numbers are never used twice, so that an answer for one game is never taken for another's. */
let numbered = 0;

/** An empty board. Known without the server, so that there is one at once. */
export function empty(kind: "chess" | "go", size = 19): Game {
  const root = node(null, kind === "chess" ? { ...BARE, turn: "w", fen: START, check: false, dests: opening() } : vacant(size));
  const start: Line =
    kind === "chess"
      ? { game: "chess", moves: [] }
      : { game: "go", size, komi: 7.5, rules: "chinese", setup: { B: [], W: [] }, side: "b", moves: [] };
  return whole(kind, {}, start, new Map([[root.id, root]]), root.id);
}

/** A random name for a game. crypto.randomUUID needs https, which the board on a phone does not have. */
export function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** A game that nobody has changed yet. */
export function whole(kind: Game["kind"], headers: Game["headers"], start: Line, nodes: Game["nodes"], root: number): Game {
  return { kind, headers, start, nodes, root, key: newKey(), changed: false, revision: 0, history: new History() };
}

/** Whether there is anything in a game that would be missed: moves, words, drawings, or a start of its own. */
export function worth(game: Game): boolean {
  const { comment, nags, shapes, props, ...root } = game.nodes.get(game.root)!;
  const { fen, setup } = game.start;
  const said = Boolean(comment || nags.length || shapes?.length || Object.keys(props ?? {}).length);
  return root.children.length > 0 || said || Boolean(fen || setup?.B.length || setup?.W.length);
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
  return whole(from.game, from.headers, { ...from.line, moves: [] }, nodes, root);
}

/** Nodes that were kept, under numbers of their own. */
export function numberedAnew(kept: Node[]): { nodes: Map<number, Node>; of: Map<number, number> } {
  const of = new Map(kept.map(({ id }) => [id, (numbered += 1)]));
  const own = (id: number): number => of.get(id) ?? 0;
  const made = kept.map((each) => ({
    ...each,
    id: own(each.id),
    parent: each.parent === null ? null : own(each.parent),
    children: each.children.map(own),
  }));
  return { nodes: new Map(made.map((each) => [each.id, each])), of };
}

/** Adds a move below a position, as its last variation. */
export function add(game: Game, parent: number, written: Written): Node {
  const made = node(parent, written);
  game.nodes.set(made.id, made);
  // A list of its own: changes that are taken back and made again hold the one before.
  const above = game.nodes.get(parent);
  if (above) above.children = [...above.children, made.id];
  return made;
}

/** Takes a position out, and all that comes after it; these positions, it first. */
export function detach(game: Game, id: number): Node[] {
  const top = game.nodes.get(id);
  const parent = top && top.parent !== null ? game.nodes.get(top.parent) : undefined;
  if (!top || !parent) return [];
  parent.children = parent.children.filter((each) => each !== id);
  const taken: Node[] = [];
  const pile = [top];
  for (let at = pile.pop(); at; at = pile.pop()) {
    taken.push(at);
    game.nodes.delete(at.id);
    pile.push(...at.children.flatMap((child) => game.nodes.get(child) ?? []));
  }
  return taken;
}

/** Puts positions that were taken out back, as that child of their parent. */
export function attach(game: Game, nodes: Node[], at: number): void {
  const top = nodes[0];
  const parent = top && top.parent !== null ? game.nodes.get(top.parent) : undefined;
  if (!top || !parent) return;
  for (const each of nodes) game.nodes.set(each.id, each);
  parent.children = parent.children.toSpliced(at, 0, top.id);
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

/** A position as the server takes it for writing. */
type WrittenNode = Pick<Node, "id" | "parent" | "move"> & Partial<Node>;

/** The tree as the server takes it for writing: a parent before its children, the main one first. */
export function written(game: Game): WrittenNode[] {
  const found: WrittenNode[] = [];
  const pile = [game.root];
  for (let id = pile.pop(); id !== undefined; id = pile.pop()) {
    const at = game.nodes.get(id)!;
    const { parent, move, comment, nags, commands, shapes, props } = at;
    const first = id === game.root ? { fen: at.fen, stones: at.stones, turn: at.turn } : {};
    found.push({ id, parent, move, comment, nags, commands, shapes, props, ...first });
    pile.push(...[...at.children].reverse());
  }
  return found;
}
