/** The panel of a game against a network: who, how strong, and what goes on. */

import { button, Choice, el } from "./elements";
import { leads } from "./chance";
import { Match, type Strength } from "./match";
import type { App, Network } from "./state";

const FULL = "full";
const CUSTOM = "custom";
/** Ratings that can be imitated. */
const RATINGS = [800, 1000, 1200, 1400, 1600, 1800, 2000, 2200, 2400];
const USUAL_RATING = "1400";
/** For networks that know no ratings: the likeliest moves with some variety, then more and more positions a move. */
const LEVELS: Record<string, { text: string; strength: Strength }> = {
  easy: { text: "Easy: no search", strength: strength({ method: "top-prob", temperature: 0.7 }) },
  medium: { text: "Medium: 100 positions a move", strength: strength({ nodes: 100 }) },
  hard: { text: "Hard: 1,000 positions a move", strength: strength({ nodes: 1000 }) },
};

function strength(known: Partial<Strength>): Strength {
  return { method: null, temperature: 0, nodes: null, seconds: null, rating: null, ...known };
}

/** The levels of an opponent: value and text. */
function levelsOf(network: Network | undefined): [string, string][] {
  const ends: [string, string][] = [
    [FULL, "Full strength: 1 second a move"],
    [CUSTOM, "Custom …"],
  ];
  if (network?.rated) return [...RATINGS.map((each): [string, string] => [String(each), `Plays like a ${each} player`]), ...ends];
  const easy = network?.methods.includes("top-prob") && network.methods.length > 1;
  return [...(easy ? Object.entries(LEVELS).map(([name, { text }]): [string, string] => [name, text]) : []), ...ends];
}

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
  private readonly level: Choice;
  private readonly method: Choice;
  private readonly limit: Choice;
  private readonly amount = el("input", { type: "number", min: 0.1, step: "any", value: 1 });
  private readonly temperature = el("input", { type: "number", min: 0, max: 2, step: 0.1, value: 0 });
  private readonly hints = el("input", { type: "checkbox" });
  private readonly yields = el("input", { type: "checkbox" });
  private readonly yieldsLabel = el("label", { class: "switch" }, this.yields, el("span", {}, "It may resign or offer a draw"));
  private readonly state = el("p", { class: "play-state", role: "status" });
  private readonly thinking = el("div", { class: "thinking" });
  private readonly outcome = el("p", { class: "outcome" });
  private readonly setup: HTMLElement;
  private readonly advanced: HTMLElement;
  private readonly summary = el("p", { class: "note" });
  private levels = "";
  /** The opponent whose methods are offered. */
  private offered = "";
  /** Help while one plays: off unless asked for. */
  private hintsWanted = false;
  private readonly amountField: HTMLElement;
  private readonly buttons: Record<
    "fresh" | "here" | "back" | "stop" | "best" | "again" | "accept" | "undo" | "retry" | "resign" | "end",
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
        ["random", "Random"],
      ],
      "w",
    );
    this.level = new Choice("Level", () => this.draw());
    this.level.element.classList.add("wide");
    this.method = new Choice("Method", () => this.draw());
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
    this.hints.addEventListener("change", () => {
      this.hintsWanted = this.hints.checked;
      if (this.playing) app.set({ hints: this.hintsWanted });
    });
    this.buttons = {
      fresh: button("New game", () => void this.begin(true), { class: "primary" }),
      here: button("Play from here", () => void this.begin(false)),
      back: button("Back to the game", () => this.match.back(), { class: "primary" }),
      stop: button("Stop", () => this.match.stop()),
      best: button("Play its best move so far", () => this.match.playBest()),
      again: button("Ask again", () => this.match.again(), { class: "primary" }),
      accept: button("Accept the draw", () => this.match.accept(), { class: "primary" }),
      undo: button("Take back", () => this.match.takeBack()),
      retry: button("Retry", () => this.match.retry(), { title: "The same game again, from where it began" }),
      resign: button("Resign", () => this.match.resign()),
      end: button("End", () => this.match.end(), { title: "Leave the game; its moves stay" }),
    };
    const temperature = field("Temperature", this.temperature);
    temperature.title = "0: always its best; the higher, the more variety";
    this.advanced = el("div", { class: "fields" }, this.method.element, temperature, this.limit.element, this.amountField);
    this.setup = el(
      "div",
      {},
      el("div", { class: "fields" }, this.opponent.element, this.side.element, this.level.element),
      this.advanced,
      el("div", { class: "buttons" }, this.buttons.fresh, this.buttons.here),
    );
    const { back, stop, best, again, accept, undo, retry, resign, end } = this.buttons;
    host.classList.add("panel");
    host.replaceChildren(
      el("h2", {}, "Play against a network"),
      this.none,
      this.outcome,
      this.state,
      this.thinking,
      this.summary,
      el("div", { class: "buttons" }, back, again, accept, best, stop, undo, retry, resign, end),
      this.setup,
      this.yieldsLabel,
      el("label", { class: "switch" }, this.hints, el("span", {}, "Hints: show what the network thinks while I play")),
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
    this.match.yields = this.yields.checked;
    this.match.begin(network.name, human, this.strength());
    app.set({ hints: this.hintsWanted });
  }

  private get playing(): boolean {
    return this.match.state !== "none" && this.match.state !== "over";
  }

  private strength(): Strength {
    const level = this.level.value;
    if (level === FULL) return strength({ seconds: 1 });
    if (LEVELS[level]) return LEVELS[level].strength;
    if (level !== CUSTOM) return strength({ method: this.imitation(), temperature: 1, seconds: 5, rating: Number(level) });
    const method = this.method.value || null;
    const amount = Math.max(0.1, Number(this.amount.value) || 1);
    const byNodes = this.limit.value === "nodes" && this.app.game.kind === "chess";
    return {
      method,
      temperature: Math.min(2, Math.max(0, Number(this.temperature.value) || 0)),
      nodes: byNodes ? Math.min(1e7, Math.max(1, Math.round(amount))) : null,
      seconds: byNodes ? null : Math.min(600, amount),
      rating: null,
    };
  }

  /** How a network plays like a person: with a short look ahead where it has that, so that no mate in one is missed. */
  private imitation(): string {
    const methods = this.opponents().find((each) => each.name === this.opponent.value)?.methods ?? [];
    return methods.includes("human-search") ? "human-search" : "top-prob";
  }

  private offerLevels(network: Network | undefined): void {
    const levels = levelsOf(network);
    const key = JSON.stringify(levels);
    const usual = network?.rated ? USUAL_RATING : FULL;
    this.level.offer(levels, key === this.levels ? null : usual);
    this.levels = key;
  }

  private draw(): void {
    const { app, match } = this;
    const here = this.opponents();
    const game = app.game.kind === "chess" ? "chess" : "Go";
    this.none.textContent = `No network here can play ${game}${game === "Go" ? " on this board" : ""}.`;
    this.none.hidden = here.length > 0;
    this.opponent.offer(
      here.map((each) => [each.name, each.name] as const),
      here.some((each) => each.name === this.chosen) ? this.chosen : app.network,
    );
    this.offerLevels(here.find((each) => each.name === this.opponent.value));
    this.advanced.hidden = this.level.value !== CUSTOM;
    const ways = here.find((each) => each.name === this.opponent.value)?.ways ?? [];
    const opponent = this.opponent.value;
    const first = opponent === this.offered ? null : ways[0]?.name;
    this.offered = opponent;
    this.method.offer(ways.map(({ name, title }) => [name, `${name}: ${title}`] as const), first);
    // A method that looks at the position once has no limit.
    this.amountField.hidden = ways.some(({ name, searches }) => name === this.method.value && !searches);
    // In Go a move takes the time it is given.
    this.limit.element.hidden = this.amountField.hidden || app.game.kind === "go";
    this.amountField.firstElementChild!.textContent = app.game.kind === "go" ? "Seconds a move" : "For a move";
    const { state, thought } = match;
    const playing = state !== "none";
    this.hints.checked = this.playing ? app.hints : this.hintsWanted;
    // While a game runs, what it was begun with is one line.
    this.setup.hidden = here.length === 0 || this.playing;
    write(this.summary, this.playing ? this.about() : "");
    const { fresh, back, stop, best, again, accept, undo, retry, resign, end } = this.buttons;
    accept.hidden = !playing || !match.offers || state !== "human";
    this.yieldsLabel.hidden = this.setup.hidden || app.game.kind === "go";
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

  /** "human, plays like a 1400 player". */
  private about(): string {
    const chosen = levelsOf(this.app.named(this.match.network)).find(([value]) => value === this.level.value);
    const text = chosen && chosen[0] !== CUSTOM ? chosen[1] : "custom level";
    return `${this.match.network}: ${text.charAt(0).toLowerCase()}${text.slice(1)}`;
  }

  private said(): string {
    const { match } = this;
    const colour = match.human === "w" ? "White" : "Black";
    switch (match.state) {
      case "human":
        return `${match.offers ? `${match.network} offers a draw. ` : ""}Your move. You play ${colour}.`;
      case "thinking":
        return `${match.network} is thinking …`;
      case "stopped":
        return `${match.network} was stopped.`;
      case "lost":
        return `No answer: ${match.problem}`;
      case "away":
        return `You are viewing an earlier position. You play ${colour}.`;
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
