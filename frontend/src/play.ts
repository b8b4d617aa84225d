/** The panel of a game against a network: who, how strong, and what goes on. */

import { button, Choice, el } from "./elements";
import { leads } from "./chance";
import { Match, type Strength } from "./match";
import type { App, Network } from "./state";

export function mountPlay(host: HTMLElement, app: App): void {
  new PlayPanel(host, app);
}

class PlayPanel {
  private readonly match: Match;
  /** The opponent that somebody chose; else it is the network that is looked at. */
  private chosen: string | null = null;
  private readonly none = el("p", { class: "note" });
  private readonly opponent: Choice;
  private readonly side: Choice;
  private readonly method: Choice;
  private readonly limit: Choice;
  private readonly amount = el("input", { type: "number", min: 0.1, step: "any", value: 1 });
  private readonly temperature = el("input", { type: "number", min: 0, max: 2, step: 0.1, value: 0 });
  private readonly hints = el("input", { type: "checkbox" });
  private readonly state = el("p", { class: "play-state", role: "status" });
  private readonly thinking = el("div", { class: "thinking" });
  private readonly outcome = el("p", { class: "outcome" });
  private readonly setup: HTMLElement;
  private readonly amountField: HTMLElement;
  private readonly buttons: Record<
    "fresh" | "here" | "back" | "stop" | "best" | "again" | "undo" | "retry" | "resign" | "end",
    HTMLButtonElement
  >;

  constructor(
    host: HTMLElement,
    private readonly app: App,
  ) {
    this.match = new Match(app, () => this.draw());
    this.opponent = new Choice("Against", (name) => {
      this.chosen = name;
      this.draw();
    });
    this.side = new Choice("You play", () => undefined);
    this.side.offer(
      [
        ["w", "White"],
        ["b", "Black"],
        ["random", "either, by lot"],
      ],
      "w",
    );
    this.method = new Choice("How it chooses", () => this.draw());
    this.limit = new Choice("Limit", (unit) => {
      this.amount.value = unit === "nodes" ? "1000" : "1";
    });
    this.limit.offer(
      [
        ["seconds", "seconds"],
        ["nodes", "positions"],
      ],
      "seconds",
    );
    this.amountField = field("For a move", this.amount);
    this.method.element.classList.add("wide");
    this.hints.addEventListener("change", () => app.set({ hints: this.hints.checked }));
    this.buttons = {
      fresh: button("New game", () => void this.begin(true), { class: "primary" }),
      here: button("Play from here", () => void this.begin(false)),
      back: button("Back to the game", () => this.match.back(), { class: "primary" }),
      stop: button("Stop", () => this.match.stop()),
      best: button("Play its best so far", () => this.match.playBest()),
      again: button("Ask again", () => this.match.again(), { class: "primary" }),
      undo: button("Take back", () => this.match.takeBack()),
      retry: button("Retry", () => this.match.retry(), { title: "The same game again, from where it began" }),
      resign: button("Resign", () => this.match.resign()),
      end: button("End", () => this.match.end(), { title: "Go on alone; the moves stay" }),
    };
    const temperature = field("Temperature", this.temperature);
    temperature.title = "0: always its best; the higher, the more variety";
    this.setup = el(
      "div",
      {},
      el(
        "div",
        { class: "fields" },
        this.opponent.element,
        this.side.element,
        this.method.element,
        temperature,
        this.limit.element,
        this.amountField,
      ),
      el("div", { class: "buttons" }, this.buttons.fresh, this.buttons.here),
    );
    const { back, stop, best, again, undo, retry, resign, end } = this.buttons;
    host.classList.add("panel");
    host.replaceChildren(
      el("h2", {}, "Play against a network"),
      this.none,
      this.outcome,
      this.state,
      this.thinking,
      el("div", { class: "buttons" }, back, again, best, stop, undo, retry, resign, end),
      this.setup,
      el("label", { class: "switch" }, this.hints, el("span", {}, "Hints: show what the network thinks")),
    );
    for (const event of ["game", "networks", "settings", "cursor", "results"] as const)
      app.on(event, () => this.draw());
    this.draw();
  }

  private opponents(): Network[] {
    const { kind, start } = this.app.game;
    return this.app.networks.filter(
      (each) =>
        each.game === kind &&
        each.plays &&
        (kind === "chess" || !each.sizes?.length || each.sizes.includes(start.size ?? 19)),
    );
  }

  private async begin(fresh: boolean): Promise<void> {
    const { app } = this;
    const network = this.opponents().find((each) => each.name === this.opponent.value);
    if (!network) return;
    if (fresh && !(await app.fresh())) return;
    const side = this.side.value;
    const human = side === "random" ? (Math.random() < 0.5 ? "w" : "b") : side === "b" ? "b" : "w";
    // One sees the board from one's own side.
    if (app.game.kind === "chess" && app.flipped !== (human === "b")) app.set({ flipped: human === "b" });
    this.match.begin(network.name, human, this.strength());
  }

  private strength(): Strength {
    const method = this.method.value || null;
    const amount = Math.max(0.1, Number(this.amount.value) || 1);
    const byNodes = this.limit.value === "nodes" && this.app.game.kind === "chess";
    return {
      method,
      temperature: Math.min(2, Math.max(0, Number(this.temperature.value) || 0)),
      nodes: byNodes ? Math.min(1e7, Math.max(1, Math.round(amount))) : null,
      seconds: byNodes ? null : Math.min(600, amount),
    };
  }

  private draw(): void {
    const { app, match } = this;
    const here = this.opponents();
    const game = app.game.kind === "chess" ? "chess" : "Go";
    this.none.textContent = `No network here can play ${game}${game === "Go" ? " on this board" : ""}.`;
    this.none.hidden = here.length > 0;
    this.setup.hidden = here.length === 0;
    this.opponent.offer(
      here.map((each) => [each.name, each.name] as const),
      here.some((each) => each.name === this.chosen) ? this.chosen : app.network,
    );
    const ways = here.find((each) => each.name === this.opponent.value)?.ways ?? [];
    this.method.offer(ways.map(({ name, title }) => [name, `${name}: ${title}`] as const));
    // A method that looks at the position once has no limit.
    this.amountField.hidden = ways.some(({ name, searches }) => name === this.method.value && !searches);
    // In Go a move takes the time it is given.
    this.limit.element.hidden = this.amountField.hidden || app.game.kind === "go";
    this.amountField.firstElementChild!.textContent = app.game.kind === "go" ? "Seconds a move" : "For a move";
    this.hints.checked = app.hints;

    const { state, thought } = match;
    const playing = state !== "none";
    const { fresh, back, stop, best, again, undo, retry, resign, end } = this.buttons;
    fresh.classList.toggle("primary", !playing || state === "over");
    back.hidden = state !== "away";
    stop.hidden = state !== "thinking";
    again.hidden = state !== "stopped" && state !== "lost";
    best.hidden = state !== "stopped" || !thought?.pv?.length;
    undo.hidden = retry.hidden = end.hidden = !playing;
    undo.disabled = !match.canTakeBack;
    resign.hidden = !playing || state === "over";
    write(this.outcome, state === "over" ? this.ended() : "");
    write(this.state, this.said());
    write(this.thinking, thinking(match, app.hints));
  }

  private said(): string {
    const { match } = this;
    const colour = match.human === "w" ? "White" : "Black";
    switch (match.state) {
      case "human":
        return `Your move. You have ${colour}.`;
      case "thinking":
        return `${match.network} thinks …`;
      case "stopped":
        return `${match.network} was stopped.`;
      case "lost":
        return `No answer: ${match.problem}`;
      case "away":
        return `You look at another position. You have ${colour}.`;
      default:
        return "";
    }
  }

  /** How it ended; of Go by passes, what the network makes of the board. */
  private ended(): string {
    const { app, match } = this;
    const node = app.node();
    const score = node.end === "passes" ? app.result(match.network, node.id)?.score : null;
    return score === null || score === undefined
      ? match.outcome
      : `${match.outcome} As ${match.network} counts: ${leads(score)}.`;
  }
}

/** "Depth 4, 1,200 positions, 0.8 s · Nf3 Nc6 Bb5". What it expects of the game is a hint like any other. */
function thinking({ state, thought }: Match, hints: boolean): string {
  if ((state !== "thinking" && state !== "stopped") || !thought) return "";
  const parts: string[] = [];
  if (thought.depth) parts.push(`Depth ${thought.depth}`);
  if (thought.nodes) parts.push(`${thought.nodes.toLocaleString("en")} positions`);
  if (thought.seconds) parts.push(`${thought.seconds.toFixed(1)} s`);
  const line = (hints ? (thought.san ?? thought.pv ?? []) : []).slice(0, 10).join(" ");
  return [parts.join(", "), line].filter(Boolean).join(" · ");
}

function field(label: string, input: HTMLInputElement): HTMLLabelElement {
  return el("label", { class: "field" }, el("span", {}, label), input);
}

function write(element: HTMLElement, text: string): void {
  if (element.textContent !== text) element.textContent = text;
  element.hidden = !text;
}
