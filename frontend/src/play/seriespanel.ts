/** The part of the Play tab where two networks, or programs, play each other. */

import { button, Choice, el, type Offered, write } from "../ui/elements";
import type { Strength } from "./match";
import { playerOf } from "../server/programs";
import { called, type Contestant, Series } from "./series";
import type { App, Network } from "../app/state";
import { likeRatings } from "./strengths";
import { texts } from "../texts";

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
  private readonly players: [Choice, Choice];
  /** What each of them, where it is a program with such a setting, plays like. */
  private readonly levels: [Choice, Choice];
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
    private readonly programs: () => Offered[],
    changed: () => void,
  ) {
    this.series = new Series(app, () => {
      this.draw();
      changed();
    });
    const draw = (): void => this.draw();
    this.players = [new Choice(texts.seriespanel.firstPlayer, draw), new Choice(texts.seriespanel.secondPlayer, draw)];
    this.levels = [new Choice(texts.seriespanel.firstLevel, draw), new Choice(texts.seriespanel.secondLevel, draw)];
    this.move = new Choice(texts.seriespanel.each, () => undefined);
    const games = el("label", { class: "field" }, el("span", {}, texts.seriespanel.games), this.games);
    this.fields = el("div", { class: "fields pairs" }, ...[...this.players, ...this.levels].map(({ element }) => element), this.move.element, games);
    this.go = button(texts.seriespanel.start, () => void this.begin(), { class: "primary" });
    this.halt = button(texts.seriespanel.stop, () => this.series.stop());
    this.on = button(texts.seriespanel.goOn, () => void this.series.goOn(), { class: "primary" });
    const buttons = el("div", { class: "buttons" }, this.go, this.halt, this.on);
    this.element = el("details", { class: "series" }, el("summary", {}, texts.seriespanel.title), this.fields, this.score, this.said, buttons);
    this.element.addEventListener("toggle", draw);
    this.draw();
  }

  private async begin(): Promise<void> {
    const { app } = this;
    const strength = MOVES.find(([value]) => value === this.move.value)?.[2] ?? NOTHING;
    const games = Math.min(1000, Math.max(1, Math.round(Number(this.games.value) || 1)));
    // A game of moves that are there already is left as it is.
    await this.series.begin({ players: [this.contestant(0), this.contestant(1)], strength, games });
    if (this.series.state === "over") app.say(texts.seriespanel.over(this.counted()));
  }

  private contestant(place: 0 | 1): Contestant {
    return { ...playerOf(this.players[place].value), rating: Number(this.levels[place].value) || null };
  }

  /** "chessnet 2½ – 1½ human". */
  private counted(): string {
    const { plan, points } = this.series;
    return plan ? `${called(plan.players[0])} ${halves(points[0])} – ${halves(points[1])} ${called(plan.players[1])}` : "";
  }

  draw(): void {
    const { series } = this;
    const here = this.opponents();
    const names: Offered[] = [...here.map((each) => [each.name, each.name] as const), ...this.programs()];
    const [first, second] = this.players;
    this.element.hidden = names.length === 0;
    first.offer(names, first.value || this.app.network);
    second.offer(names, second.value || names.find(([key]) => key !== first.value)?.[0]);
    this.levels.forEach((level, place) => {
      const { name, program } = playerOf(this.players[place as 0 | 1].value);
      // A program is started only for somebody who looks.
      const levels = program && this.element.open ? likeRatings(this.app.programs.about(name)) : [];
      level.element.hidden = levels.length === 0;
      level.offer([["", texts.play.full], ...levels]);
    });
    const go = this.app.game.kind === "go";
    // Programs search always.
    const able = here.some((each) => each.methods.includes("top-prob")) && !this.players.some(({ value }) => playerOf(value).program);
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
