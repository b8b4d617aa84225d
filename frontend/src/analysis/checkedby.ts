/** The choice of who judges the moves, and what is wrong with the engine that should. */

import { OWN, type CheckedBy } from "../server/checker";
import { button, Choice, el, write } from "../ui/elements";
import type { App } from "../app/state";
import { fromServer, texts } from "../texts";

/** "Checked by Stockfish 15.1, 100,000 nodes per position". */
export function checkedBy({ engine, nodes, depth }: CheckedBy, kind: App["game"]["kind"]): string {
  const per = nodes === null ? "" : kind === "go" ? texts.checker.visits(nodes) : texts.checker.nodes(nodes);
  return texts.checker.by([engine, per, depth === null ? "" : texts.opinion.depth(depth)].filter(Boolean).join(", "));
}

/** Offers the network's own search and the engines of a game. */
export function offerCheckers(choice: Choice, app: App, kind: App["game"]["kind"]): void {
  const engines = app.programs.of(kind).map(({ name }) => [name, name] as const);
  choice.offer([[OWN, texts.checker.own], ...engines], app.checker.chosen(kind));
  choice.element.hidden = !engines.length;
}

export class CheckerChoice {
  private readonly choice: Choice;
  private readonly problem = el("p", { class: "problem", role: "alert" });
  private readonly again = button(texts.opinion.again, () => this.app.checker.choose(this.app.checker.chosen()));
  /** The choice, and what is wrong with the chosen engine. */
  readonly field: HTMLElement;
  readonly element: HTMLElement;

  constructor(private readonly app: App) {
    this.choice = new Choice(texts.checker.title, (name) => app.checker.choose(name));
    this.field = this.choice.element;
    this.element = el("div", { class: "checker-problem" }, this.problem, this.again);
    for (const event of ["game", "settings", "networks", "programs", "checker"] as const) app.on(event, () => this.draw());
    this.draw();
  }

  private draw(): void {
    const { app } = this;
    const { kind } = app.game;
    const { checker } = app;
    offerCheckers(this.choice, app, kind);
    const about = checker.about();
    this.field.title = about ? checkedBy(about, kind) : texts.checker.about;
    write(this.problem, checker.problem ? texts.checker.failed(fromServer(checker.problem).replace(/\.$/, "")) : "");
    this.element.hidden = !checker.problem || !app.hints;
  }
}
