/** Games for tests: moves are names, and no rule is checked. */

import type { Written } from "../../src/server/api";
import { App, type Game, type Line, type Network, type Node } from "../../src/app/state";
import { add, empty } from "../../src/app/tree";

export const other = (turn: "w" | "b"): "w" | "b" => (turn === "w" ? "b" : "w");

/** The position after a move, as the server writes it. Of chess the FEN has the number of the next move alone. */
export function after(kind: "chess" | "go", from: Pick<Node, "ply" | "turn">, move: string, more: Partial<Written> = {}): Written {
  const ply = from.ply + 1;
  const turn = other(from.turn);
  const shared: Written = { ply, move, san: move, turn, end: null };
  const fen = `8/8/8/8/8/8/8/8 ${turn} - - 0 ${1 + Math.floor(ply / 2)}`;
  return { ...shared, ...(kind === "chess" ? { fen } : { stones: ".".repeat(81) }), ...more };
}

/** "e4 e5 (c5 Nf3) Nf3": a tree of moves; a variation stands after the move that it replaces. */
export function grow(game: Game, text: string): Game {
  const pile: number[] = [];
  let at = game.root;
  for (const word of text.match(/[()]|[^\s()]+/g) ?? []) {
    if (word === "(") {
      pile.push(at);
      at = game.nodes.get(at)!.parent!;
    } else if (word === ")") at = pile.pop()!;
    else at = add(game, at, after(game.kind, game.nodes.get(at)!, word)).id;
  }
  return game;
}

export const chess = (text = ""): Game => grow(empty("chess"), text);
export const go = (text = "", start: Partial<Line> = {}): Game => {
  const game = grow(empty("go", 9), text);
  Object.assign(game.start, start);
  return game;
};

/** The position after a move of the game; the first of that name. */
export function find(game: Game, san: string): Node {
  const found = [...game.nodes.values()].find((node) => node.san === san);
  if (!found) throw new Error(`no move ${san}`);
  return found;
}

/** The tree in words, as `grow` reads it. */
export function words(game: Game): string {
  const line = (first: number): string => {
    const parts: string[] = [];
    for (let at: Node | undefined = game.nodes.get(first); at; ) {
      const node: Node = at;
      const [main, ...others]: number[] = node.children;
      if (main === undefined) break;
      parts.push(game.nodes.get(main)!.san, ...others.map((id) => `(${[game.nodes.get(id)!.san, line(id)].filter(Boolean).join(" ")})`));
      at = game.nodes.get(main);
    }
    return parts.join(" ");
  };
  return line(game.root);
}

export function network(name: string, more: Partial<Network> = {}): Network {
  const known = { name, system: name, title: name, game: "chess", answers: ["white", "moves"], plays: true } as const;
  return { ...known, answers: [...known.answers], methods: ["puct", "top-prob"], ways: [], planes: false, metrics: false, snapshots: 0, from: "package", stamp: "1", problem: null, ...more };
}

/** A page with this game, looked at from its beginning. Nothing is asked unless the test serves it. */
export function page(game = chess(), networks: Network[] = []): App {
  const app = new App();
  app.networks = networks;
  app.network = networks[0]?.name ?? null;
  app.open(game);
  return app;
}
