/** Changes of the tree that a person makes: deleting, promoting, comments, glyphs, drawings. All can be taken back. */

import { named } from "./naming";
import type { App, Node } from "./state";
import { ancestry, attach, detach } from "./tree";

/** The signs of a move, of which it has one: number and text. */
export const GLYPHS: readonly [number, string, string][] = [
  [3, "!!", "brilliant move"],
  [1, "!", "good move"],
  [5, "!?", "interesting move"],
  [6, "?!", "dubious move"],
  [2, "?", "mistake"],
  [4, "??", "blunder"],
];
const OF_MOVES = new Set(GLYPHS.map(([nag]) => nag));

/** Takes a position and all after it out of the game. */
export function removeFrom(app: App, id: number): void {
  const { game } = app;
  const node = game.nodes.get(id);
  const parent = node && node.parent !== null ? game.nodes.get(node.parent) : undefined;
  if (!node || !parent) return;
  const at = parent.children.indexOf(id);
  const inside = ancestry(game, app.cursor).includes(id);
  let nodes: Node[] = [];
  app.alter(
    `deleting ${named(app, node)}`,
    () => (nodes = detach(game, id)),
    () => attach(game, nodes, at),
    inside ? parent.id : app.cursor,
  );
}

/** The position at which this line leaves the one above it; null in the main line. */
export function branch(app: App, id: number): number | null {
  for (let at = app.game.nodes.get(id); at && at.parent !== null; at = app.game.nodes.get(at.parent)) {
    if (app.game.nodes.get(at.parent)!.children[0] !== at.id) return at.id;
  }
  return null;
}

/** Makes the variation the first choice where it begins. */
export function promote(app: App, id: number): void {
  const head = branch(app, id);
  if (head !== null) reorder(app, "promoting the variation", [head]);
}

/** Makes the line to a position the main one, from a position on, or from the start. */
export function makeMain(app: App, id: number, from = app.game.root, joined = false): void {
  const line = ancestry(app.game, id);
  const heads = line.slice(line.indexOf(from) + 1).filter((each) => app.node(app.node(each).parent!).children[0] !== each);
  if (heads.length) reorder(app, "making the main line", heads, joined);
}

/** Sets positions before their siblings. */
function reorder(app: App, words: string, heads: number[], joined = false): void {
  const { game } = app;
  const changed = heads.map((head) => {
    const parent = app.node(app.node(head).parent!);
    const before = parent.children;
    return { parent, before, after: [head, ...before.filter((each) => each !== head)] };
  });
  const set = (which: "before" | "after") => (): void => {
    for (const each of changed) if (game.nodes.has(each.parent.id)) each.parent.children = each[which];
  };
  app.alter(words, set("after"), set("before"), app.cursor, joined);
}

type Told = Partial<Pick<Node, "comment" | "nags" | "shapes" | "commands">>;

/** Sets what is said of a position. */
function tell(app: App, id: number, words: string, told: Told): void {
  const node = app.game.nodes.get(id);
  if (!node) return;
  const before: Told = Object.fromEntries(Object.keys(told).map((name) => [name, node[name as keyof Told]]));
  const set = (what: Told) => () => void Object.assign(node, what);
  app.alter(words, set(told), set(before));
}

export function comment(app: App, id: number, text: string): void {
  if (app.node(id).comment !== text) tell(app, id, "the comment", { comment: text });
}

/** Gives a move this sign in place of another; takes it away where it has it. */
export function toggleGlyph(app: App, id: number, nag: number): void {
  const { nags } = app.node(id);
  const others = nags.filter((each) => !OF_MOVES.has(each));
  tell(app, id, "the sign", { nags: nags.includes(nag) ? others : [nag, ...others] });
}

export function draw(app: App, id: number, shapes: string[]): void {
  if (JSON.stringify(app.node(id).shapes ?? []) !== JSON.stringify(shapes)) tell(app, id, "the drawing", { shapes });
}
