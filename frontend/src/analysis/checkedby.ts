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
  private readonly who = el("p", { class: "note checked-by" });
  private readonly problem = el("p", { class: "problem", role: "alert" });
  private readonly again = button(texts.opinion.again, () => this.app.checker.choose(this.app.checker.chosen()));
  readonly element: HTMLElement;

  constructor(private readonly app: App) {
    this.choice = new Choice(texts.checker.title, (name) => app.checker.choose(name));
    this.choice.element.title = texts.checker.about;
    this.element = el("section", { class: "checker" }, this.choice.element, this.who, this.problem, this.again);
    for (const event of ["game", "settings", "networks", "programs", "checker"] as const) app.on(event, () => this.draw());
    this.draw();
  }

  private draw(): void {
    const { app } = this;
    const { kind } = app.game;
    const { checker } = app;
    this.element.hidden = !app.hints || !app.programs.of(kind).length;
    offerCheckers(this.choice, app, kind);
    const about = checker.about();
    write(this.who, checker.now && about ? checkedBy(about, kind) : "");
    write(this.problem, checker.problem ? texts.checker.failed(fromServer(checker.problem).replace(/\.$/, "")) : "");
    this.again.hidden = !checker.problem;
  }
}
