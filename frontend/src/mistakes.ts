/** Where the chosen network thinks that much was lost. */

import { chanceOf } from "./chance";
import type { App, Node } from "./state";

export interface Mistake {
  /** The position after the mistake. */
  id: number;
  /** Of the chance of the one who moved, 0..1. */
  lost: number;
  mark: "?!" | "?" | "??";
  word: string;
}

const GRADES: readonly [number, Mistake["mark"], string][] = [
  [0.3, "??", "blunder"],
  [0.2, "?", "mistake"],
  [0.1, "?!", "inaccuracy"],
];

/** What the one who moved had lost after it: their chance before, less their chance after; null where not known. */
export function lostBy(app: App, node: Node, network = app.network): number | null {
  if (node.parent === null || !network) return null;
  const before = chanceOf(app.game.kind, app.result(network, node.parent));
  const after = chanceOf(app.game.kind, app.result(network, node.id));
  if (before === null || after === null) return null;
  const mover = app.node(node.parent).turn;
  const told = app.game.kind === "chess" ? "w" : "b";
  return mover === told ? before - after : after - before;
}

/** The mistakes of the line that is shown, kept up to date. Others listen to the app after this. */
export class Mistakes {
  private found = new Map<number, Mistake>();
  private network: string | null = null;

  constructor(private readonly app: App) {
    app.on("game", () => this.found.clear());
    for (const event of ["path", "results", "networks"] as const) app.on(event, () => this.find());
  }

  of(id: number): Mistake | undefined {
    return this.app.hints ? this.found.get(id) : undefined;
  }

  /** Of the line, in its order. */
  get all(): Mistake[] {
    return this.app.path.map((id) => this.of(id)).filter((each) => each !== undefined);
  }

  private find(): void {
    const { app } = this;
    if (this.network !== app.network) this.found.clear();
    this.network = app.network;
    for (const id of app.path) {
      const lost = lostBy(app, app.node(id));
      const grade = lost === null ? undefined : GRADES.find(([least]) => lost >= least);
      if (grade && lost !== null) this.found.set(id, { id, lost, mark: grade[1], word: grade[2] });
      else this.found.delete(id);
    }
  }
}
