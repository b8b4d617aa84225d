/** Tools for a board of Go: stones that are set up, labels and marks. A click on a point uses the tool in hand. */

import "./goediting.css";

import { message } from "../server/asking";
import { relabelled, replaceGame } from "../app/editing";
import { along, button, el } from "../ui/elements";
import { pointsOf } from "./gomarks";
import { pointName } from "./gopoints";
import type { App, Line } from "../app/state";
import { texts } from "../texts";
import { loaded, written } from "../app/tree";

const TOOLS = [
  ["play", texts.goediting.play, texts.goediting.playAbout],
  ["B", "●", texts.goediting.blackStone],
  ["W", "○", texts.goediting.whiteStone],
  ["erase", texts.goediting.erase, texts.goediting.eraseAbout],
  ["letter", "A", texts.goediting.letter],
  ["number", "1", texts.goediting.number],
  ["TR", "△", texts.goediting.triangle],
  ["SQ", "□", texts.goediting.square],
  ["CR", "◯", texts.goediting.circle],
  ["MA", "✕", texts.goediting.cross],
] as const;

type Tool = (typeof TOOLS)[number][0];
const MARKS = ["TR", "SQ", "CR", "MA"];

export class GoTools {
  readonly element = el("div", { class: "go-tools", role: "radiogroup", "aria-label": texts.goediting.tools, hidden: true });
  private tool: Tool = "play";
  private readonly side = button("", () => void this.turn(), { class: "side" });
  private busy: Promise<unknown> = Promise.resolve();

  constructor(private readonly app: App) {
    for (const [tool, text, label] of TOOLS) {
      this.element.append(button(text, () => this.pick(tool), { role: "radio", "aria-label": label, title: label, "data-tool": tool }));
    }
    this.element.addEventListener("keydown", (event) => along(event, this.element));
    this.pick("play");
    for (const event of ["game", "cursor", "tree"] as const) app.on(event, () => this.draw());
  }

  /** The button for the side to move, where stones are set up. */
  get sideButton(): HTMLButtonElement {
    return this.side;
  }

  get open(): boolean {
    return !this.element.hidden;
  }

  toggle(open = !this.open): void {
    this.element.hidden = !open;
    document.getElementById("main")?.classList.toggle("editing", open);
    this.pick("play");
    if (open) this.element.querySelector("button")?.focus();
  }

  /** Uses the tool on a point; false where moves are played. */
  use(point: number): boolean {
    const { tool } = this;
    if (this.element.hidden || tool === "play") return false;
    if (tool === "B" || tool === "W") this.stone(point, tool);
    else if (tool !== "erase") this.mark(point, tool);
    else if (this.marked(point)) this.mark(point, null);
    else this.stone(point, null);
    return true;
  }

  private pick(tool: Tool): void {
    this.tool = tool;
    for (const each of this.element.querySelectorAll("button")) {
      const mine = each.dataset.tool === tool;
      each.setAttribute("aria-checked", String(mine));
      each.tabIndex = mine ? 0 : -1;
    }
    this.draw();
  }

  private draw(): void {
    const { game, cursor } = this.app;
    if (game.kind !== "go" && this.open) this.toggle(false);
    this.side.hidden = !this.open || cursor !== game.root;
    this.side.textContent = game.start.side === "w" ? texts.goediting.whiteFirst : texts.goediting.blackFirst;
    this.side.title = texts.goediting.changeFirst;
  }

  private size(): number {
    return this.app.game.start.size ?? 19;
  }

  // Stones

  /** Sets up a stone, or takes one away where it stands already; at the start of the game alone. */
  private stone(point: number, colour: "B" | "W" | null): void {
    const { app } = this;
    if (app.cursor !== app.game.root) {
      app.say(texts.goediting.goFirst, true);
      return;
    }
    const name = pointName(point, this.size());
    const words = colour ? texts.goediting.stoneAt(name) : texts.goediting.taking(name);
    void this.change(words, (line) => {
      const { B = [], W = [] } = line.setup ?? {};
      const there = colour && line.setup?.[colour].includes(name);
      const setup = { B: B.filter((each) => each !== name), W: W.filter((each) => each !== name) };
      if (colour && !there) setup[colour].push(name);
      return { ...line, setup };
    });
  }

  private turn(): Promise<void> {
    return this.change(texts.goediting.who, (line) => ({ ...line, side: line.side === "w" ? "b" : "w" }));
  }

  /** Another start of the same game: the server replays its moves, and refuses where one becomes illegal. */
  private change(words: string, made: (line: Line) => Line): Promise<void> {
    const done = this.busy.then(() => this.changeNow(words, made));
    this.busy = done;
    return done;
  }

  private async changeNow(words: string, made: (line: Line) => Line): Promise<void> {
    const { app } = this;
    const { game } = app;
    const { revision } = game;
    const line = made({ ...game.start, moves: [] });
    try {
      const [root, ...moves] = written(game) as Record<string, unknown>[];
      const tree = [{ ...root, stones: undefined, turn: undefined }, ...moves];
      const text = await app.api.save({ tree, headers: game.headers, game: "go", line });
      const next = loaded(await app.api.load(text));
      if (game !== app.game) return;
      // Something else was changed meanwhile: that stays.
      if (game.revision !== revision) return this.changeNow(words, made);
      // What the record did not say is still only assumed.
      next.start = { ...next.start, assumed: game.start.assumed ?? next.start.assumed ?? [] };
      replaceGame(app, words, next, true);
    } catch (error) {
      app.say(texts.goediting.cannot(message(error)), true);
    }
  }

  // Marks

  private marked(point: number): boolean {
    const props = this.app.node().props ?? {};
    const size = this.size();
    const labelled = (props.LB ?? []).some((label) => pointsOf([label.slice(0, 2)], size).includes(point));
    return labelled || MARKS.some((name) => pointsOf(props[name] ?? [], size).includes(point));
  }

  /** Gives a point this mark in place of another; takes it away where it has it. */
  private mark(point: number, tool: Tool | null): void {
    const size = this.size();
    const sgf = (each: number): string => String.fromCharCode(97 + (each % size), 97 + Math.floor(each / size));
    const before = this.app.node().props ?? {};
    const props: Record<string, string[]> = { ...before };
    const has = tool !== null && pointsOf(before[tool] ?? [], size).includes(point);
    for (const name of MARKS) {
      const points = pointsOf(before[name] ?? [], size).filter((each) => each !== point);
      if (points.length) props[name] = points.map(sgf);
      else delete props[name];
    }
    const labels = (before.LB ?? []).filter((label) => label.slice(0, 2) !== sgf(point));
    const own = (before.LB ?? []).find((label) => label.slice(0, 2) === sgf(point))?.slice(3);
    if (tool === "letter" || tool === "number") {
      const kind = tool === "letter" ? /^[A-Za-z]$/ : /^\d+$/;
      if (!own || !kind.test(own)) labels.push(`${sgf(point)}:${free(tool, labels)}`);
    } else if (tool && !has) props[tool] = [...(props[tool] ?? []), sgf(point)];
    if (labels.length) props.LB = labels;
    else delete props.LB;
    relabelled(this.app, this.app.cursor, props);
  }
}

/** The first letter or number that no label has. */
function free(kind: "letter" | "number", labels: readonly string[]): string {
  const used = new Set(labels.map((label) => label.slice(3)));
  const names = kind === "letter" ? [..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"] : Array.from({ length: 361 }, (_, i) => String(i + 1));
  return names.find((name) => !used.has(name)) ?? "?";
}
