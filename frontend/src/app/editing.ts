/** Changes of the tree that a person makes: deleting, promoting, comments, glyphs, drawings. All can be taken back. */

import { named } from "./naming";
import type { App, Game, Node } from "./state";
import { texts } from "../texts";
import { ancestry, attach, detach } from "./tree";

/** The signs of a move, of which it has one: number and text. */
export const GLYPHS: readonly [number, string, string][] = [
  [3, "!!", texts.editing.brilliant],
  [1, "!", texts.editing.good],
  [5, "!?", texts.editing.interesting],
  [6, "?!", texts.editing.dubious],
  [2, "?", texts.editing.mistake],
  [4, "??", texts.editing.blunder],
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
    texts.editing.deleting(named(app, node)),
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
  if (head !== null) reorder(app, texts.editing.promoting, [head]);
}

/** Makes the line to a position the main one, from a position on, or from the start. */
export function makeMain(app: App, id: number, from = app.game.root, joined = false): void {
  const line = ancestry(app.game, id);
  const heads = line.slice(line.indexOf(from) + 1).filter((each) => app.node(app.node(each).parent!).children[0] !== each);
  if (heads.length) reorder(app, texts.editing.main, heads, joined);
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
  if (app.node(id).comment !== text) tell(app, id, texts.editing.comment, { comment: text });
}

/** Gives a move this sign in place of another; takes it away where it has it. */
export function toggleGlyph(app: App, id: number, nag: number): void {
  const { nags } = app.node(id);
  const others = nags.filter((each) => !OF_MOVES.has(each));
  tell(app, id, texts.editing.sign, { nags: nags.includes(nag) ? others : [nag, ...others] });
}

export function draw(app: App, id: number, shapes: string[]): void {
  if (JSON.stringify(app.node(id).shapes ?? []) !== JSON.stringify(shapes)) tell(app, id, texts.editing.drawing, { shapes });
}

/** Sets the properties of an SGF that are kept as they are: marks and labels among them. */
export function relabelled(app: App, id: number, props: Record<string, string[]>): void {
  const node = app.game.nodes.get(id);
  if (!node) return;
  // Territory stays as it is by then: dead stones are marked, and unmarked, without the history.
  const set = (wanted: Record<string, string[]>) => () => {
    const { TB, TW } = node.props ?? {};
    const { TB: _, TW: __, ...others } = wanted;
    const all = { ...others, ...(TB && { TB }), ...(TW && { TW }) };
    delete node.props;
    if (Object.keys(all).length) node.props = all;
  };
  app.alter(texts.editing.mark, set(props), set(node.props ?? {}));
}

/** Puts another start and other moves in place of a game's. `same`: it is still the same game, and keeps its names and its file. */
export function replaceGame(app: App, words: string, next: Game, same = false): void {
  const { game } = app;
  const parts = ({ start, nodes, root, headers, key, file, saved }: Game): Partial<Game> =>
    same ? { start, nodes, root } : { start, nodes, root, headers, key, file, saved };
  const before = parts(game);
  const after = parts(next);
  const set = (what: Partial<Game>) => () => void Object.assign(game, what);
  app.alter(words, set(after), set(before), next.root);
}
