/** The count of a game of Go that both sides have ended by passing: dead stones to click, and the result. */

import type { Counted } from "../server/api";
import { branch } from "../app/editing";
import { el } from "../ui/elements";
import { neighbours, pointName, pointOf } from "../board/gopoints";
import { shown } from "../board/overlays";
import type { App, Game, Node } from "../app/state";
import { texts } from "../texts";

/** The stones that live or die with this one: of its colour, with nothing but empty points between them. */
export function together(stones: string, point: number, size: number): number[] {
  const colour = stones[point];
  const reached = new Set([point]);
  for (const each of reached) {
    for (const next of neighbours(each, size)) if (stones[next] === colour || stones[next] === ".") reached.add(next);
  }
  return [...reached].filter((each) => stones[each] === colour);
}

/** The count, wherever both have passed. */
export class Counter {
  readonly element = el("p", { class: "go-count", role: "status" });
  /** The counts of positions, by the server: the page itself counts nothing. */
  private readonly known = new Map<number, Counted>();
  /** The last question about each position, with the dead stones until it is answered. An answer to an earlier one is dropped. */
  private readonly asked = new Map<number, { dead: string[] | undefined }>();
  /** The results that were written here last. */
  private readonly written = new WeakMap<Game, string>();

  constructor(private readonly app: App) {
    app.on("game", () => {
      shown.counts.clear();
      this.known.clear();
      this.asked.clear();
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
    const dies = !dead.has(point);
    for (const each of together(stones, point, size)) if (dies) dead.add(each);
      else dead.delete(each);
    void this.ask(node, [...dead].map((each) => pointName(each, size)));
    return true;
  }

  private get size(): number {
    return this.app.game.start.size ?? 19;
  }

  private draw(): void {
    const { app } = this;
    const node = app.node();
    const result = counted(node) ? this.known.get(node.id) : undefined;
    const before = shown.count;
    if (!result) {
      this.element.hidden = true;
      shown.count = null;
      if (before) shown.changed();
      if (counted(node) && !this.asked.has(node.id)) void this.ask(node);
      return;
    }
    this.element.hidden = false;
    const text = inWords(result);
    if (this.element.textContent !== text) this.element.textContent = text;
    const { winner, lead } = outcome(result);
    shown.count = { node: node.id, owners: result.owners, lead };
    const value = { b: 1, w: 0, draw: 0.5 }[winner];
    const recounted = shown.counts.get(node.id) !== value;
    shown.counts.set(node.id, value);
    if (before?.owners.join() !== result.owners.join()) shown.changed();
    if (recounted) app.emit("judgements");
    shown.counted?.(winner, `${wins(lead)}.`);
    // The result of a game is that of its last position.
    const { RE } = app.game.headers;
    if (!node.children.length && branch(app, node.id) === null && (!RE || RE === this.written.get(app.game))) this.write(result);
  }

  /** Has the server count a position. `dead`: the dead stones, as the person says; without it the server finds them. */
  private async ask(node: Node, dead?: string[]): Promise<void> {
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
      // A person's word goes into the record in any case, unless the game goes on since.
      if (dead && game.nodes.has(node.id) && !shown.resign) this.write(found);
      this.draw();
    } catch (error) {
      if (late()) return;
      this.asked.delete(node.id);
      app.say(error instanceof Error ? error.message : String(error));
    }
  }

  /** Writes a result into the record. */
  private write(result: Counted): void {
    const { game } = this.app;
    const { winner, lead } = outcome(result);
    const text = winner === "draw" ? "0" : `${winner.toUpperCase()}+${Math.abs(lead)}`;
    this.written.set(game, text);
    if (game.headers.RE === text) return;
    game.headers.RE = text;
    this.app.retitled();
  }
}

function outcome({ black, white }: Counted): { winner: "b" | "w" | "draw"; lead: number } {
  const lead = black - white;
  return { winner: lead > 0 ? "b" : lead < 0 ? "w" : "draw", lead };
}

const counted = (node: Node): boolean => node.end === "passes";

const wins = (lead: number): string => (lead === 0 ? texts.gocount.draw : texts.gocount.wins(lead > 0 ? texts.common.black : texts.common.white, Math.abs(lead)));

function inWords({ black, white }: Counted): string {
  return texts.gocount.counted(black, white, black === white ? texts.gocount.drawInside : wins(black - white));
}
