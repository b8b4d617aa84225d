/** Counting a game of Go that both sides have ended by passing: dead stones to click, and the result. */

import { branch } from "./editing";
import { chains, neighbours } from "./gopoints";
import { el } from "./elements";
import { shown } from "./overlays";
import type { App, Game, Line, Node } from "./state";
import { texts } from "./texts";

/** White's points for handicap stones beside the komi, by rules: as many as there are stones, or one fewer. */
const BONUS: Record<string, number> = { "chinese": 0, "chinese-ogs": 0, "chinese-kgs": 0, "ing": 0, "aga": -1, "bga": -1, "french": -1 };
/** Rules that count territory and prisoners; all others count stones and territory. */
const TERRITORY = new Set(["japanese", "korean"]);
/** A chain is taken for dead at first where the network gives its points to the other side with this probability. */
const DEAD = 0.7;

export interface Count {
  black: number;
  /** With komi, and what handicap stones are worth. */
  white: number;
  /** Of each point: 1 Black's, 0 White's, 0.5 nobody's. */
  owners: number[];
}

/** Counts a position in which these stones are dead. */
export function count(stones: string, dead: ReadonlySet<number>, start: Line, captured: { B: number; W: number }): Count {
  const size = start.size ?? 19;
  const alive = [...stones].map((each, point) => (dead.has(point) ? "." : each));
  const owners = alive.map((each) => (each === "B" ? 1 : each === "W" ? 0 : 0.5));
  for (const { points, borders } of regions(alive, size)) {
    if (borders.size === 1) for (const point of points) owners[point] = borders.has("B") ? 1 : 0;
  }
  const rules = start.rules ?? "chinese";
  const area = !TERRITORY.has(rules);
  const total = (owner: 0 | 1): number => {
    const colour = owner ? "B" : "W";
    const other = owner ? "W" : "B";
    const own = owners.filter((each, point) => each === owner && (area || alive[point] !== colour)).length;
    const prisoners = [...dead].filter((point) => stones[point] === other).length + captured[colour];
    return own + (area ? 0 : prisoners);
  };
  return { black: total(1), white: total(0) + (start.komi ?? 0) + bonus(start, rules), owners };
}

function bonus({ setup, side }: Line, rules: string): number {
  const handicap = setup && setup.B.length > 1 && !setup.W.length && side === "w" ? setup.B.length : 0;
  const less = BONUS[rules];
  return handicap && less !== undefined ? handicap + less : 0;
}

/** Connected empty points, and the colours around them. */
function regions(alive: readonly string[], size: number): { points: number[]; borders: Set<string> }[] {
  const seen = new Set<number>();
  const found: { points: number[]; borders: Set<string> }[] = [];
  alive.forEach((each, start) => {
    if (each !== "." || seen.has(start)) return;
    const region = { points: [start], borders: new Set<string>() };
    seen.add(start);
    for (const point of region.points) {
      for (const next of neighbours(point, size)) {
        if (alive[next] !== ".") region.borders.add(alive[next]!);
        else if (!seen.has(next)) {
          seen.add(next);
          region.points.push(next);
        }
      }
    }
    found.push(region);
  });
  return found;
}

/** The stones that live or die with this one: of its colour, with nothing but empty points between them. */
export function together(stones: string, point: number, size: number): number[] {
  const colour = stones[point];
  const reached = new Set([point]);
  for (const each of reached) {
    for (const next of neighbours(each, size)) if (stones[next] === colour || stones[next] === ".") reached.add(next);
  }
  return [...reached].filter((each) => stones[each] === colour);
}

/** Stones that the network takes for dead. owners: how likely each point is Black's. */
export function takenForDead(stones: string, owners: readonly number[], size: number): Set<number> {
  const dead = new Set<number>();
  for (const chain of new Set(chains(stones, size))) {
    if (!chain) continue;
    const black = chain.stones.reduce((sum, point) => sum + (owners[point] ?? 0.5), 0) / chain.stones.length;
    const others = stones[chain.stones[0]!] === "B" ? 1 - black : black;
    if (others >= DEAD) for (const point of chain.stones) dead.add(point);
  }
  return dead;
}

/** The count, wherever both have passed. */
export class Counter {
  readonly element = el("p", { class: "go-count", role: "status" });
  /** Dead stones of the positions that were counted. */
  private readonly dead = new Map<number, Set<number>>();
  private readonly asked = new Set<number>();
  /** The results that were written here last. */
  private readonly written = new WeakMap<Game, string>();

  constructor(private readonly app: App) {
    app.on("game", () => shown.counts.clear());
    for (const event of ["game", "cursor", "tree", "networks"] as const) app.on(event, () => this.draw());
    this.draw();
  }

  /** Takes a stone and those beside it for dead, or for alive again; false where nothing is counted. */
  use(point: number): boolean {
    const node = this.app.node();
    const dead = this.dead.get(node.id);
    if (!counted(node) || !dead) return false;
    const stones = node.stones ?? "";
    if (stones[point] === ".") return true;
    const all = together(stones, point, this.app.game.start.size ?? 19);
    const dies = !dead.has(point);
    const next = new Set(dead);
    for (const each of all) if (dies) next.add(each);
      else next.delete(each);
    this.dead.set(node.id, next);
    this.draw(true);
    return true;
  }

  /** `said`: by the person, whose word goes into the record in any case. */
  private draw(said = false): void {
    const { app } = this;
    const { game } = app;
    const node = app.node();
    const now = counted(node) ? this.dead.get(node.id) : undefined;
    const before = shown.count;
    if (!counted(node) || !now) {
      this.element.hidden = true;
      shown.count = null;
      if (before) shown.changed();
      if (counted(node)) void this.begin(node);
      return;
    }
    const result = count(node.stones ?? "", now, game.start, node.captured ?? { B: 0, W: 0 });
    this.element.hidden = false;
    const text = inWords(result);
    if (this.element.textContent !== text) this.element.textContent = text;
    shown.count = { node: node.id, owners: result.owners };
    const lead = result.black - result.white;
    const value = lead > 0 ? 1 : lead < 0 ? 0 : 0.5;
    const recounted = shown.counts.get(node.id) !== value;
    shown.counts.set(node.id, value);
    shown.count.lead = lead;
    if (before?.owners.join() !== result.owners.join()) shown.changed();
    if (recounted) app.emit("judgements");
    this.write(result, said);
  }

  /** Asks a network whose the points are. Without one all stones are alive. */
  private async begin(node: Node): Promise<void> {
    const { app } = this;
    if (this.asked.has(node.id)) return;
    const size = app.game.start.size ?? 19;
    const able = app.networks.filter((each) => each.game === "go" && !each.problem && each.answers.includes("owners") && (!each.sizes?.length || each.sizes.includes(size)));
    const network = able.find((each) => each.name === app.network) ?? able[0];
    if (!network && !app.networks.length) return;
    this.asked.add(node.id);
    let dead = new Set<number>();
    try {
      const line = app.line(node.id);
      const at = line.moves.length;
      const found = (owners: readonly number[] | null | undefined): void => void (owners && (dead = takenForDead(node.stones ?? "", owners, size)));
      if (network) await app.api.analyse({ network: network.name, line, from: at, to: at }, (each) => found(each.owners));
    } catch {
      // The person says which are dead.
    }
    this.dead.set(node.id, dead);
    this.draw();
  }

  /** Writes the result of the main line into a record that has none, or one that was written here. */
  private write({ black, white }: Count, said: boolean): void {
    const { app, written } = this;
    const { game } = app;
    const lead = black - white;
    const winner = lead > 0 ? "b" : lead < 0 ? "w" : "draw";
    const text = winner === "draw" ? "0" : `${winner.toUpperCase()}+${Math.abs(lead)}`;
    shown.counted?.(winner, `${wins(lead)}.`);
    const { RE } = game.headers;
    const free = branch(app, app.cursor) === null && (!RE || RE === written.get(game));
    if (!said && !free) return;
    written.set(game, text);
    if (RE === text) return;
    game.headers.RE = text;
    app.retitled();
  }
}

const counted = (node: Node): boolean => node.end === "passes";

const wins = (lead: number): string => (lead === 0 ? texts.gocount.draw : texts.gocount.wins(lead > 0 ? texts.common.black : texts.common.white, Math.abs(lead)));

function inWords({ black, white }: Count): string {
  return texts.gocount.counted(black, white, black === white ? texts.gocount.drawInside : wins(black - white));
}
