/** The count of a game of Go that both sides have ended by passing: dead stones to click, and the result. */

import type { Counted } from "../server/api";
import { branch } from "../app/editing";
import { button, el } from "../ui/elements";
import { neighbours, pointName, pointOf } from "../board/gopoints";
import { type Count, shown } from "../board/overlays";
import type { App, Game, Node } from "../app/state";
import { texts } from "../texts";
import { markedDead, territory } from "./marked";

/** The stones that live or die with this one: of its colour, dead or alive as it is, with nothing but empty points between them. */
export function together(stones: string, point: number, size: number, dead: ReadonlySet<number> = new Set()): number[] {
  const colour = stones[point];
  const reached = new Set([point]);
  for (const each of reached) {
    for (const next of neighbours(each, size)) if (stones[next] === "." || (stones[next] === colour && dead.has(next) === dead.has(point))) reached.add(next);
  }
  return [...reached].filter((each) => stones[each] === colour);
}

/** The border that a counted position leaves open: how many empty points count for nobody because of it, and the point of its gap; of several borders, that of the largest region. */
export interface Gap {
  points: number;
  at: number;
}

/**
 * Finds the gap in the border. `stones`: ".", "B", "W" for each point. A region of empty points that both sides touch is open if one of its points lacks a stone of one side
 * beside it: a move can still make territory there. Other neutral points are those of every finished game. The rule is that of `games.go.endings.final.open_border`.
 */
export function gapOf(stones: string, { dead, seki }: Pick<Counted, "dead" | "seki">, size: number): Gap | null {
  const off = new Set(dead.map((name) => pointOf(name, size)));
  const alive = Array.from(stones, (stone, at) => (off.has(at) ? "." : stone));
  const shared = new Set(seki.map((name) => pointOf(name, size)));
  const seen = new Set<number>();
  const gaps: Gap[] = [];
  for (let start = 0; start < alive.length; start += 1) {
    if (alive[start] !== "." || seen.has(start)) continue;
    const region = new Set([start]);
    for (const each of region) for (const next of neighbours(each, size)) if (alive[next] === ".") region.add(next);
    for (const each of region) seen.add(each);
    const all = [...region];
    const [black, white] = ["B", "W"].map((stone) => distances(all.filter((each) => neighbours(each, size).some((next) => alive[next] === stone)), region, size));
    const apart = (each: number): number => black!.get(each)! ** 2 + white!.get(each)! ** 2;
    const oneSided = all.filter((each) => apart(each) !== 0);
    if (!oneSided.length || !black!.size || !white!.size || all.some((each) => neighbours(each, size).some((next) => shared.has(next)))) continue;
    gaps.push({ points: all.length, at: oneSided.reduce((best, each) => (apart(each) < apart(best) ? each : best)) });
  }
  const [largest] = gaps.sort((a, b) => b.points - a.points);
  return largest ? { points: gaps.reduce((sum, each) => sum + each.points, 0), at: largest.at } : null;
}

/** How many steps over the points of a region each of them is away from the nearest of some points. */
function distances(from: readonly number[], region: ReadonlySet<number>, size: number): Map<number, number> {
  const found = new Map(from.map((each) => [each, 0]));
  for (const [each, steps] of found) for (const next of neighbours(each, size)) if (region.has(next) && !found.has(next)) found.set(next, steps + 1);
  return found;
}

/** The count, wherever both have passed. */
export class Counter {
  private readonly words = el("span", { role: "status" });
  private readonly again = button(texts.gocount.again, () => this.estimate());
  readonly element = el("p", { class: "go-count" }, this.words, " ", this.again);
  /** The counts of positions, by the server: the page itself counts nothing. */
  private readonly known = new Map<number, Counted>();
  /** The last question about each position, with the dead stones until it is answered. An answer to an earlier one is dropped. */
  private readonly asked = new Map<number, { dead: string[] | undefined }>();
  /** By position, the stones that the last click on a stone changed: another click on one of them takes all of it back. */
  private readonly clicked = new Map<number, Map<number, number[]>>();
  /** The results that were written here last. */
  private readonly written = new WeakMap<Game, string>();

  constructor(private readonly app: App) {
    app.on("game", () => {
      shown.counts.clear();
      this.known.clear();
      this.asked.clear();
      this.clicked.clear();
    });
    for (const event of ["game", "cursor", "tree"] as const) app.on(event, () => this.draw());
    this.draw();
  }

  /** Takes a stone and those beside it for dead, or for alive again; false where nothing is counted. */
  use(point: number): boolean {
    const node = this.app.node();
    const now = this.known.get(node.id);
    if (!counted(node) || !now) return false;
    const stones = node.stones ?? "";
    if (stones[point] === ".") return true;
    const size = this.size;
    const dead = new Set((this.asked.get(node.id)?.dead ?? now.dead).map((name) => pointOf(name, size)!));
    const clicked = this.clicked.get(node.id) ?? new Map<number, number[]>();
    this.clicked.set(node.id, clicked);
    const before = clicked.get(point);
    const group = before?.filter((each) => clicked.get(each) === before) ?? together(stones, point, size, dead);
    const dies = !dead.has(point);
    for (const each of group) {
      if (dies) dead.add(each);
      else dead.delete(each);
      clicked.set(each, group);
    }
    void this.ask(node, [...dead].map((each) => pointName(each, size)), true);
    return true;
  }

  /** Takes back all that a person or the record says about dead stones. */
  private estimate(): void {
    const node = this.app.node();
    if (!counted(node)) return;
    this.clicked.delete(node.id);
    void this.ask(node, undefined, true);
  }

  private get size(): number {
    return this.app.game.start.size ?? 19;
  }

  private draw(): void {
    const { app } = this;
    const node = app.node();
    const result = counted(node) ? this.known.get(node.id) : undefined;
    const before = shown.count;
    // What a record says of dead stones counts on the graph and in saved files before anybody looks at the end.
    const end = app.node(app.path.at(-1)!);
    if (counted(end) && end !== node && !this.asked.has(end.id) && markedDead(end, this.size)) void this.ask(end, markedDead(end, this.size));
    if (!result) {
      this.element.hidden = true;
      shown.count = null;
      if (before) shown.changed();
      if (counted(node) && !this.asked.has(node.id)) void this.ask(node, markedDead(node, this.size));
      return;
    }
    this.element.hidden = false;
    const gap = gapOf(node.stones ?? "", result, this.size);
    const marked = Boolean(markedDead(node, this.size));
    this.again.hidden = !marked;
    const estimated = result.dead.length && !marked ? ` ${texts.gocount.estimated(result.dead.length)}` : "";
    const text = inWords(result) + estimated + (gap ? ` ${texts.gocount.open(gap.points, pointName(gap.at, this.size))}` : "");
    if (this.words.textContent !== text) this.words.textContent = text;
    const { winner, lead } = outcome(result);
    shown.count = { node: node.id, owners: result.owners, dead: result.dead };
    if (before?.owners.join() !== result.owners.join() || before.dead.join() !== result.dead.join()) shown.changed();
    shown.counted?.(winner, `${wins(lead)}.`);
    // The result of a game is that of its last position.
    const { RE } = app.game.headers;
    if (!node.children.length && branch(app, node.id) === null && (!RE || RE === this.written.get(app.game))) this.write(result);
  }

  /** Has the server count a position. `dead`: the dead stones, as the person or the record says; without it the server finds them. `marked`: whether the person has just marked some, or without `dead` has taken all marks back. */
  private async ask(node: Node, dead?: string[], marked = false): Promise<void> {
    const { app } = this;
    const { game } = app;
    const question = { dead };
    const late = (): boolean => app.game !== game || this.asked.get(node.id) !== question;
    this.asked.set(node.id, question);
    try {
      const found = await app.api.count(app.line(node.id), dead);
      if (late()) return;
      question.dead = undefined;
      this.known.set(node.id, found);
      if (marked && game.nodes.has(node.id)) {
        const { TB, TW, ...others } = node.props ?? {};
        delete node.props;
        const props = dead ? { ...others, ...territory(node.stones ?? "", found, this.size) } : others;
        if (Object.keys(props).length) node.props = props;
        // A person's word goes into the record in any case, unless the game goes on since.
        if (!shown.resign) this.write(found, true);
        else app.retitled();
      }
      this.draw();
      this.learn(node.id, found);
    } catch (error) {
      if (late()) return;
      this.asked.delete(node.id);
      app.say(error instanceof Error ? error.message : String(error));
    }
  }

  /** The count is the value of a position from now on, wherever the game is looked at. */
  private learn(id: number, result: Counted): void {
    if (same(shown.counts.get(id), result)) return;
    const { winner, lead } = outcome(result);
    shown.counts.set(id, { black: { b: 1, w: 0, draw: 0.5 }[winner], score: lead, owners: result.owners, dead: result.dead });
    this.app.emit("judgements");
  }

  /** Writes a result into the record. `marked`: whether dead stones in it have changed too. */
  private write(result: Counted, marked = false): void {
    const { game } = this.app;
    const { winner, lead } = outcome(result);
    const text = winner === "draw" ? "0" : `${winner.toUpperCase()}+${Math.abs(lead)}`;
    this.written.set(game, text);
    if (game.headers.RE === text && !marked) return;
    game.headers.RE = text;
    this.app.retitled();
  }
}

function outcome({ black, white }: Counted): { winner: "b" | "w" | "draw"; lead: number } {
  const lead = black - white;
  return { winner: lead > 0 ? "b" : lead < 0 ? "w" : "draw", lead };
}

/** Whether a position was counted so before. */
const same = (before: Count | undefined, { black, white, dead }: Counted): boolean => before?.score === black - white && before.dead.join() === dead.join();

const counted = (node: Node): boolean => node.end === "passes";

const wins = (lead: number): string => (lead === 0 ? texts.gocount.draw : texts.gocount.wins(lead > 0 ? texts.common.black : texts.common.white, Math.abs(lead)));

function inWords({ black, white }: Counted): string {
  return texts.gocount.counted(black, white, black === white ? texts.gocount.drawInside : wins(black - white));
}
