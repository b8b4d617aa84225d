/** Who judges the moves: the chosen network's own search, or an engine of this machine. The choice is kept in the browser. */

import { keep, kept } from "../app/storage";
import type { App } from "../app/state";

type Kind = App["game"]["kind"];

/** The engine that judged, as it calls itself, and its limits. */
export interface CheckedBy {
  engine: string;
  nodes: number | null;
  depth: number | null;
}

/** The choice of the network's own search. */
export const OWN = "";

const ABOUTS = "checkers";
const item = (kind: Kind): string => `checked-by-${kind}`;

export class Checker {
  /** What engines have said of themselves in this tab, and why some failed, by their names. */
  private readonly abouts: Map<string, CheckedBy>;
  private readonly problems = new Map<string, string>();

  constructor(private readonly app: App) {
    this.abouts = new Map(list(kept("session", ABOUTS)) as [string, CheckedBy][]);
  }

  /** The engine that somebody chose, else the one of the command line; "" for the network's own search. */
  chosen(kind = this.app.game.kind): string {
    const first = this.app.programs.checkedBy[kind] ?? OWN;
    const [at, name] = list(kept("local", item(kind))).filter((each) => typeof each === "string");
    // A new command line comes before an old choice.
    const wanted = at === first || !this.app.programs.known ? (name ?? first) : first;
    return this.app.programs.known && !this.app.programs.of(kind).some((each) => each.name === wanted) ? OWN : wanted;
  }

  /** Whether the programs must be known first: one of them was chosen, or may be. */
  get waits(): boolean {
    return !this.app.programs.known && !this.app.programs.tried && this.chosen() !== OWN;
  }

  /** The engine that judges now: the chosen one, unless it has failed. */
  get now(): string {
    const name = this.app.programs.known ? this.chosen() : OWN;
    return this.problems.has(name) ? OWN : name;
  }

  /** What names who judges: a network, or the engine in its place, whichever network is chosen. */
  key(weights: string): string {
    return this.now ? `\n${this.now}` : weights;
  }

  /** All such names of some networks. */
  keys(weights: readonly string[]): string[] {
    const engines = (this.app.programs.known ?? []).map(({ name }) => name);
    return [...weights, ...engines.map((name) => `\n${name}`)];
  }

  choose(name: string, kind = this.app.game.kind): void {
    keep("local", item(kind), JSON.stringify([this.app.programs.checkedBy[kind] ?? OWN, name]));
    this.problems.delete(name);
    this.app.emit("checker");
  }

  /** What an engine has said of itself; null before. */
  about(name = this.now): CheckedBy | null {
    return this.abouts.get(name) ?? null;
  }

  learn(name: string, about: CheckedBy): void {
    if (JSON.stringify(this.abouts.get(name)) === JSON.stringify(about)) return;
    this.abouts.set(name, about);
    keep("session", ABOUTS, JSON.stringify([...this.abouts]));
    this.app.emit("checker");
  }

  /** Why the chosen engine does not judge; "" if it does. */
  get problem(): string {
    return this.problems.get(this.chosen()) ?? "";
  }

  /** The engine cannot judge: the network's own search goes on, until the engine is chosen again. */
  fail(name: string, problem: string): void {
    this.problems.set(name, problem);
    this.app.emit("checker");
  }
}

/** A list as it was kept; an empty one where the storage has something else. */
function list(text: string | null): unknown[] {
  try {
    const found: unknown = JSON.parse(text ?? "[]");
    return Array.isArray(found) ? found : [];
  } catch {
    return [];
  }
}
