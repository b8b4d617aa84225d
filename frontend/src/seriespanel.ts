/** The part of the Play tab where two networks play each other. */

import { button, Choice, el } from "./elements";
import type { Strength } from "./match";
import { Series } from "./series";
import type { App, Network } from "./state";
import { texts } from "./texts";

const NOTHING: Strength = { method: null, temperature: 0, nodes: null, seconds: null, rating: null };

/** What each move may take: value, text and strength. */
const MOVES: readonly [string, string, Strength][] = [
  ["quick", texts.seriespanel.quick, { ...NOTHING, method: "top-prob", temperature: 0.3, seconds: 1 }],
  ["nodes", texts.seriespanel.nodes, { ...NOTHING, nodes: 100 }],
  ["short", texts.seriespanel.short, { ...NOTHING, seconds: 0.3 }],
  ["second", texts.seriespanel.second, { ...NOTHING, seconds: 1 }],
];

export class SeriesPanel {
  readonly element: HTMLDetailsElement;
  readonly series: Series;
  private readonly first: Choice;
  private readonly second: Choice;
  private readonly move: Choice;
  private readonly games = el("input", { type: "number", min: 1, max: 1000, step: 1, value: 10 });
  private readonly fields: HTMLElement;
  private readonly score = el("p", { class: "series-score" });
  private readonly said = el("p", { class: "note", role: "status" });
  private readonly go: HTMLButtonElement;
  private readonly halt: HTMLButtonElement;
  private readonly on: HTMLButtonElement;

  constructor(
    private readonly app: App,
    private readonly opponents: () => Network[],
    changed: () => void,
  ) {
    this.series = new Series(app, () => {
      this.draw();
      changed();
    });
    this.first = new Choice(texts.seriespanel.firstNetwork, () => undefined);
    this.second = new Choice(texts.seriespanel.secondNetwork, () => undefined);
    this.move = new Choice(texts.seriespanel.each, () => undefined);
    const games = el("label", { class: "field" }, el("span", {}, texts.seriespanel.games), this.games);
    this.fields = el("div", { class: "fields" }, this.first.element, this.second.element, this.move.element, games);
    this.go = button(texts.seriespanel.start, () => void this.begin(), { class: "primary" });
    this.halt = button(texts.seriespanel.stop, () => this.series.stop());
    this.on = button(texts.seriespanel.goOn, () => void this.series.goOn(), { class: "primary" });
    const buttons = el("div", { class: "buttons" }, this.go, this.halt, this.on);
    this.element = el("details", { class: "series" }, el("summary", {}, texts.seriespanel.title), this.fields, this.score, this.said, buttons);
    this.draw();
  }

  private async begin(): Promise<void> {
    const { app } = this;
    const strength = MOVES.find(([value]) => value === this.move.value)?.[2] ?? NOTHING;
    const games = Math.min(1000, Math.max(1, Math.round(Number(this.games.value) || 1)));
    // A game of moves that are there already is left as it is.
    await this.series.begin({ networks: [this.first.value, this.second.value], strength, games });
    if (this.series.state === "over") app.say(texts.seriespanel.over(this.counted()));
  }

  /** "chessnet 2½ – 1½ human". */
  private counted(): string {
    const { plan, points } = this.series;
    return plan ? `${plan.networks[0]} ${halves(points[0])} – ${halves(points[1])} ${plan.networks[1]}` : "";
  }

  draw(): void {
    const { series } = this;
    const here = this.opponents();
    const names = here.map((each) => [each.name, each.name] as const);
    this.element.hidden = here.length === 0;
    this.first.offer(names, this.first.value || this.app.network);
    this.second.offer(names, this.second.value || here.find((each) => each.name !== this.first.value)?.name);
    const go = this.app.game.kind === "go";
    const able = here.some((each) => each.methods.includes("top-prob"));
    this.move.offer(MOVES.filter(([value]) => (value !== "nodes" || !go) && (value !== "quick" || able)).map(([value, text]) => [value, text] as const));
    const { plan, games, state } = series;
    this.fields.hidden = this.go.hidden = series.running;
    this.halt.hidden = !series.running;
    const more = plan !== null && games < plan.games && (state === "stopped" || state === "lost");
    this.on.hidden = !more;
    this.go.classList.toggle("primary", !more);
    write(this.score, plan ? this.counted() : "");
    write(this.said, this.words());
  }

  private words(): string {
    const { state, plan, games, last, problem } = this.series;
    if (!plan) return "";
    const before = last ? ` ${texts.seriespanel.last(games, last)}` : "";
    if (state === "playing") return `${texts.seriespanel.playing(Math.min(games + 1, plan.games), plan.games)}${before}`;
    const done = texts.seriespanel.played(games, plan.games);
    if (state === "lost") return `${done} ${texts.play.noAnswer(problem)}`;
    return `${state === "stopped" ? `${texts.seriespanel.stopped} ` : ""}${done}${before}`;
  }
}

/** "1½". */
export function halves(points: number): string {
  const whole = Math.floor(points);
  return points === whole ? String(whole) : `${whole || ""}½`;
}

function write(element: HTMLElement, text: string): void {
  if (element.textContent !== text) element.textContent = text;
  element.hidden = !text;
}
