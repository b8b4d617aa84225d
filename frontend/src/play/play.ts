/** The panel of a game against a network or a program: who, how strong, and what goes on. */

import "../ui/fields.css";
import "./play.css";
import { button, Choice, el, seeBoard, type Offered, write } from "../ui/elements";
import { CONTROLS, controlOf } from "./clock";
import { keep, kept } from "../app/storage";
import { KeptForm } from "./playform";
import { halves, SeriesPanel } from "./seriespanel";
import type { Handover } from "../app/handover";
import { goStart, openStart } from "./starting";
import { message } from "../server/asking";
import { Match, type Result, type Strength } from "./match";
import { type About, keyOf, type Player, playerOf } from "../server/programs";
import type { App, Network } from "../app/state";
import { CUSTOM, FULL, isRank, levelOf, levelsOf, LEVELS, offered, PERSON, SINGLE, strength, usualLevel } from "./strengths";
import { judgeOf } from "./teaching";
import { fromServer, lettered, texts } from "../texts";

const HANDICAPS: [string, string][] = [["0", texts.play.noHandicap], ...[2, 3, 4, 5, 6, 7, 8, 9].map((each): [string, string] => [String(each), texts.play.stones(each)])];
const RULES: [string, string][] = [
  ["chinese", texts.play.chinese],
  ["japanese", texts.play.japanese],
  ["korean", texts.play.korean],
  ["aga", "AGA"],
  ["new-zealand", texts.play.newZealand],
  ["tromp-taylor", texts.play.trompTaylor],
];
const usualKomi = (rules: string): string => (rules === "japanese" || rules === "korean" ? "6.5" : rules === "new-zealand" ? "7" : "7.5");

/** opponent: a network that somebody wants to play at once. */
export function mountPlay(host: HTMLElement, app: App, opponent: Handover<string>): void {
  const panel = new PlayPanel(host, app);
  opponent.take((name) => void panel.against(name));
}

class PlayPanel {
  private readonly match: Match;
  /** The opponent that somebody chose; else it is the network that is looked at. */
  private chosen: string | null = null;
  private readonly form = new KeptForm();
  private readonly none = el("p", { class: "note" });
  private readonly opponent: Choice;
  private readonly side: Choice;
  private readonly level: Choice;
  private readonly time: Choice;
  private readonly komi = el("input", { type: "number", min: -150, max: 150, step: 0.5, value: 7.5 });
  private readonly rules: Choice;
  private readonly handicap: Choice;
  private readonly ofGo: HTMLElement;
  /** What was won in games against the same opponent, one after the other. */
  private tally = { opponent: "", games: 0, points: 0 };
  private readonly method: Choice;
  private readonly limit: Choice;
  private readonly amount = el("input", { type: "number", min: 0.1, step: "any", value: 1 });
  private readonly temperature = el("input", { type: "number", min: 0, max: 2, step: 0.1, value: 0 });
  private readonly temperatureField: HTMLElement;
  /** What there is to know of the strength of a program. */
  private readonly strengthNote = el("p", { class: "note" });
  private readonly hints = el("input", { type: "checkbox" });
  private readonly hintsLabel = el("label", { class: "switch" }, this.hints, el("span", {}, texts.play.hints));
  private readonly yields = el("input", { type: "checkbox" });
  private readonly yieldsLabel = el("label", { class: "switch" }, this.yields, el("span", {}, texts.play.yields));
  private readonly paces = el("input", { type: "checkbox" });
  private readonly pacesLabel = el("label", { class: "switch" }, this.paces, el("span", {}, texts.play.paces));
  private readonly teaches = el("input", { type: "checkbox" });
  private readonly teachesLabel = el("label", { class: "switch" }, this.teaches, el("span", {}, texts.play.teaches));
  private readonly advice = el("p", { class: "advice" });
  private readonly state = el("p", { class: "play-state", role: "status" });
  private readonly thinking = el("div", { class: "thinking" });
  private readonly outcome = el("p", { class: "outcome" });
  /** What can be done in a game. */
  private readonly acts = el("div", { class: "buttons" });
  private readonly setup: HTMLElement;
  private readonly advanced: HTMLElement;
  private readonly summary = el("p", { class: "note" });
  private readonly series: SeriesPanel;
  private levels = "";
  /** The opponent whose methods are offered. */
  private offered = "";
  /** Help while one plays: off unless asked for. */
  private hintsWanted = false;
  private readonly amountField: HTMLElement;
  private readonly buttons: Record<
    "fresh" | "here" | "better" | "stands" | "back" | "stop" | "best" | "again" | "accept" | "rematch" | "draw" | "undo" | "retry" | "resign" | "end",
    HTMLButtonElement
  >;

  /** When the opponent began to think, ms; 0 if it does not, or if it has found something. */
  private silentSince = 0;
  private ticking = 0;

  constructor(
    host: HTMLElement,
    private readonly app: App,
  ) {
    this.match = new Match(app, () => this.draw());
    this.opponent = new Choice(texts.play.against, (name) => {
      this.chosen = name;
      this.form.set(this.kind, { opponent: name });
      this.draw();
    });
    this.side = new Choice(texts.play.youPlay, (side) => this.form.set(this.kind, { side }));
    this.side.offer(
      [
        ["w", texts.common.white],
        ["b", texts.common.black],
        ["random", texts.play.random],
      ],
    );
    let kind = "";
    const begins = (): void => {
      if (kind !== app.game.kind) this.recall();
      kind = app.game.kind;
    };
    this.level = new Choice(texts.play.level, (level) => {
      this.form.chooseLevel(this.kind, this.opponent.value, level);
      this.draw();
    });
    this.time = new Choice(texts.play.clock, (control) => {
      keep("local", "clock", control);
      this.draw();
    });
    this.time.offer(CONTROLS, kept("local", "clock") ?? "");
    this.time.element.title = texts.play.clockAbout;
    this.handicap = new Choice(texts.play.handicap, (stones) => {
      this.komi.value = stones === "0" ? usualKomi(this.rules.value) : "0.5";
      this.keepRules();
    });
    this.handicap.offer(HANDICAPS, "0");
    this.rules = new Choice(texts.play.rules, (rules) => {
      if (this.handicap.value === "0") this.komi.value = usualKomi(rules);
      this.keepRules();
    });
    this.rules.offer(RULES, "chinese");
    this.komi.addEventListener("change", () => this.keepRules());
    app.on("game", begins);
    begins();
    this.ofGo = el("div", { class: "fields of-go" }, this.handicap.element, field(texts.play.komi, this.komi), this.rules.element);
    this.method = new Choice(texts.play.method, () => this.draw());
    this.limit = new Choice(texts.play.limit, (unit) => {
      this.amount.value = unit === "nodes" ? "1000" : "1";
    });
    this.limit.offer(
      [
        ["seconds", texts.play.seconds],
        ["nodes", texts.play.positions],
      ],
      "seconds",
    );
    this.amountField = field(texts.play.forAMove, this.amount);
    this.method.element.classList.add("wide");
    this.hints.addEventListener("change", () => {
      this.hintsWanted = this.hints.checked;
      if (this.playing) app.set({ hints: this.hintsWanted });
    });
    this.buttons = {
      fresh: button(texts.play.new, () => void this.begin(true), { class: "primary" }),
      here: button(texts.play.here, () => void this.begin(false)),
      better: button(texts.play.better, () => this.match.takeBack(), { class: "primary" }),
      stands: button(texts.play.goOn, () => this.match.goOn()),
      back: button(texts.play.back, () => this.match.back(), { class: "primary" }),
      stop: button(texts.play.stop, () => this.match.stop()),
      best: button(texts.play.best, () => this.match.playBest()),
      again: button(texts.common.askAgain, () => this.match.again(), { class: "primary" }),
      accept: button(texts.play.accept, () => this.match.accept(), { class: "primary" }),
      rematch: button(texts.play.rematch, () => void this.rematch(), { class: "primary" }),
      draw: button(texts.play.draw, () => this.match.offerDraw()),
      undo: button(texts.play.undo, () => this.match.takeBack()),
      retry: button(texts.play.retry, () => this.match.retry(), { title: texts.play.retryAbout }),
      resign: button(texts.play.resign, () => void this.match.askToResign()),
      end: button(texts.play.end, () => this.match.end(), { title: texts.play.endAbout }),
    };
    this.temperatureField = field(texts.play.temperature, this.temperature);
    this.temperatureField.title = texts.play.temperatureAbout;
    this.advanced = el("div", { class: "fields" }, this.method.element, this.temperatureField, this.limit.element, this.amountField);
    this.setup = el(
      "div",
      {},
      el("div", { class: "fields pairs" }, this.opponent.element, this.level.element, this.side.element, this.time.element),
      this.strengthNote,
      this.ofGo,
      this.advanced,
      el("div", { class: "buttons" }, this.buttons.fresh, this.buttons.here),
    );
    const { better, stands, back, stop, best, again, accept, rematch, draw, undo, retry, resign, end } = this.buttons;
    this.teaches.checked = kept("local", "teaches") === "yes";
    this.teaches.addEventListener("change", () => {
      keep("local", "teaches", this.teaches.checked ? "yes" : null);
      this.match.teaches = this.teaches.checked;
    });
    this.yields.checked = kept("local", "yields") === "yes";
    this.yields.addEventListener("change", () => keep("local", "yields", this.yields.checked ? "yes" : null));
    this.paces.checked = kept("local", "paces") !== "no";
    this.paces.addEventListener("change", () => keep("local", "paces", this.paces.checked ? null : "no"));
    this.series = new SeriesPanel(app, () => this.opponents(), () => this.programs(), () => this.draw());
    this.acts.append(better, stands, back, again, accept, rematch, best, stop, undo, retry, draw, resign, end);
    host.classList.add("panel");
    host.replaceChildren(
      el("h2", {}, texts.play.title),
      this.none,
      this.outcome,
      this.advice,
      this.state,
      this.thinking,
      this.summary,
      this.acts,
      this.setup,
      this.teachesLabel,
      this.yieldsLabel,
      this.pacesLabel,
      this.hintsLabel,
      this.series.element,
    );
    for (const event of ["game", "networks", "programs", "settings", "cursor", "results"] as const)
      app.on(event, () => this.draw());
    void app.programs.find();
    this.draw();
  }

  private get kind(): "chess" | "go" {
    return this.app.game.kind;
  }

  /** The form as it was left, also before a reload. */
  private recall(): void {
    const { opponent, side, handicap, rules, komi } = this.form.of(this.kind);
    if (opponent) this.chosen = opponent;
    // Without a choice the person has the side that begins.
    this.side.value = side ?? (this.kind === "chess" ? "w" : "b");
    if (this.kind === "chess") return;
    if (handicap) this.handicap.value = handicap;
    if (rules) this.rules.value = rules;
    if (komi) this.komi.value = komi;
  }

  private keepRules(): void {
    this.form.set("go", { handicap: this.handicap.value, rules: this.rules.value, komi: this.komi.value });
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

  /** The programs of this game, as choices have them. */
  private programs(): Offered[] {
    const names = this.app.programs.of(this.app.game.kind).map(({ name }) => name);
    return names.map((name) => [keyOf({ name, program: true }), name, texts.play.programs]);
  }

  /** The network that is chosen, undefined for a program. */
  private network(): Network | undefined {
    return this.opponents().find((each) => each.name === this.opponent.value);
  }

  /** What the chosen program can do; null for a network, and until it is known. */
  private aboutProgram(): About | null {
    const { name, program } = playerOf(this.opponent.value);
    return program ? this.app.programs.about(name) : null;
  }

  /** A game against a network of chess, now. */
  async against(name: string): Promise<void> {
    const { app } = this;
    if (app.game.kind !== "chess" && !(await app.fresh("chess"))) return;
    this.chosen = name;
    this.draw();
    if (this.opponent.value === name) await this.begin(true);
  }

  private async begin(fresh: boolean): Promise<void> {
    const key = this.opponent.value;
    const over = this.over();
    if (!key || (fresh && !(await this.fresh()))) return;
    this.count(over);
    const side = this.side.value;
    this.start(playerOf(key), side === "random" ? (Math.random() < 0.5 ? "w" : "b") : side === "b" ? "b" : "w");
  }

  /** An empty board; of Go with the komi, rules and handicap that are chosen. Whether it was opened. */
  private async fresh(): Promise<boolean> {
    const { app } = this;
    if (app.game.kind === "chess") return app.fresh();
    const komi = Math.min(150, Math.max(-150, Math.round(2 * (Number(this.komi.value) || 0)) / 2));
    const size = app.game.start.size ?? 19;
    try {
      return await openStart(app, goStart(size, komi, this.rules.value, Number(this.handicap.value)));
    } catch (error) {
      app.say(message(error), true);
      return false;
    }
  }

  /** The same game again from its beginning, with the other colour. */
  private async rematch(): Promise<void> {
    const { app, match } = this;
    const { opponent, human, strength } = match;
    const control = match.clock?.control ?? null;
    const over = this.over();
    try {
      if (!(await openStart(app, match.beginning()))) return;
    } catch (error) {
      return app.say(message(error), true);
    }
    this.count(over);
    this.start(opponent, human === "w" ? "b" : "w", strength, control);
  }

  /** The game that is over, before another one takes its place; null where none is, or nobody knows who won. */
  private over(): { opponent: string; points: number } | null {
    const { state, result, human, opponent } = this.match;
    return state === "over" && result !== "" ? { opponent: keyOf(opponent), points: pointsOf(result, human) } : null;
  }

  /** Counts a game that is over. */
  private count(game: { opponent: string; points: number } | null): void {
    if (!game) return;
    const { opponent, points } = game;
    if (this.tally.opponent !== opponent) this.tally = { opponent, games: 0, points: 0 };
    this.tally.games += 1;
    this.tally.points += points;
  }

  private start(opponent: Player, human: "w" | "b", strength = this.strength(), control = controlOf(this.time.value)): void {
    const { app } = this;
    // One sees the board from one's own side.
    if (app.game.kind === "chess" && app.flipped !== (human === "b")) app.set({ flipped: human === "b" });
    this.match.yields = this.yields.checked;
    this.match.teaches = this.teaches.checked;
    this.match.paces = this.paces.checked;
    this.match.begin(opponent, human, strength, control);
    seeBoard();
    app.set({ hints: this.hintsWanted });
  }

  private get playing(): boolean {
    return this.match.state !== "none" && this.match.state !== "over";
  }

  private strength(): Strength {
    const level = this.level.value;
    if (level === FULL) return strength({ seconds: this.time.value ? null : 1 });
    const ready = LEVELS[level] ?? SINGLE[level];
    if (ready) return ready.strength;
    if (level === PERSON) return strength({ method: this.imitation(), temperature: 1, seconds: 5 });
    if (isRank(level)) return strength({ temperature: null, seconds: 5, rank: level });
    if (level !== CUSTOM && this.aboutProgram()) return strength({ seconds: this.time.value ? null : 1, rating: Number(level) });
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
    const methods = this.network()?.methods ?? [];
    return methods.includes("human-search") ? "human-search" : "top-prob";
  }

  private offerLevels(): void {
    const { name, program } = playerOf(this.opponent.value);
    const [network, about] = [this.network(), this.aboutProgram()];
    const levels = levelsOf(network, about, this.time.value !== "");
    const names = JSON.stringify(levels.map(([value]) => value));
    const before = this.form.of(this.kind).levels?.[this.opponent.value];
    const usual = levels.some(([value]) => value === before) ? before : usualLevel(network, levels);
    const key = `${this.opponent.value} ${names}`;
    this.level.offer(levels, key === this.levels ? null : usual);
    this.levels = key;
    const unrated = program && about !== null && !about.ratings;
    const imitated = isRank(this.level.value) ? texts.play.ranked : "";
    write(this.strengthNote, about?.problem ? texts.play.noAnswer(about.problem) : unrated ? texts.play.unrated(name) : imitated);
  }

  private draw(): void {
    const { app, match } = this;
    const here = this.opponents();
    const only = app.networks.length === 1 ? app.networks[0] : undefined;
    this.none.textContent = only?.single && !only.plays ? texts.play.cannotPlay(only.name) : app.game.kind === "chess" ? texts.play.noneChess : texts.play.noneGo;
    const players: Offered[] = [...here.map((each) => [each.name, offered(each)] as const), ...this.programs()];
    this.none.hidden = players.length > 0;
    this.opponent.offer(players, players.some(([key]) => key === this.chosen) ? this.chosen : app.network);
    this.offerLevels();
    this.advanced.hidden = this.level.value !== CUSTOM;
    const ways = this.network()?.ways ?? [];
    this.method.element.hidden = this.temperatureField.hidden = ways.length === 0;
    const opponent = this.opponent.value;
    const first = opponent === this.offered ? null : ways[0]?.name;
    this.offered = opponent;
    this.method.offer(ways.map(({ name, title }) => [name, fromServer(title)] as const), first);
    // A method that looks at the position once has no limit.
    this.amountField.hidden = ways.some(({ name, searches }) => name === this.method.value && !searches);
    // In Go a move takes the time it is given.
    this.limit.element.hidden = this.amountField.hidden || app.game.kind === "go";
    this.amountField.firstElementChild!.textContent = app.game.kind === "go" ? texts.play.secondsAMove : texts.play.forAMove;
    const { state, thought } = match;
    const playing = state !== "none";
    this.hints.checked = this.playing ? app.hints : this.hintsWanted;
    // While a game runs, what it was begun with is one line.
    const busy = this.series?.series.running ?? false;
    this.setup.hidden = players.length === 0 || this.playing || busy;
    this.hintsLabel.hidden = busy;
    if (this.series) {
      this.series.element.hidden = this.playing || Boolean(this.network()?.single);
      if (!this.playing) this.series.draw();
    }
    this.ofGo.hidden = app.game.kind !== "go";
    write(this.summary, this.playing ? this.about() : state === "over" ? this.score(match.result) : "");
    const { fresh, better, stands, back, stop, best, again, accept, rematch, draw, undo, retry, resign, end } = this.buttons;
    accept.hidden = !playing || !match.offers || state !== "human";
    this.teachesLabel.hidden = busy || !judgeOf(app, this.playing ? match.name : this.opponent.value);
    if (this.playing) this.teaches.checked = match.teaches;
    better.hidden = stands.hidden = state !== "advised";
    write(this.advice, state === "advised" ? match.advice : "");
    this.yieldsLabel.hidden = this.setup.hidden || app.game.kind === "go";
    // Only with clocks, and against a network that plays like people.
    const asPeople = this.network() !== undefined && ![FULL, CUSTOM].includes(this.level.value) && Boolean(this.network()?.rated || this.network()?.person);
    this.pacesLabel.hidden = this.yieldsLabel.hidden || this.time.value === "" || !asPeople || Boolean(this.network()?.single);
    fresh.classList.toggle("primary", !playing);
    rematch.hidden = state !== "over";
    draw.hidden = !this.playing || app.game.kind !== "chess";
    draw.disabled = !match.mayOffer || match.offers;
    back.hidden = state !== "away";
    stop.hidden = state !== "thinking";
    again.hidden = match.making || (state !== "stopped" && state !== "lost");
    best.hidden = match.making || state !== "stopped" || !thought?.pv?.length;
    undo.hidden = retry.hidden = end.hidden = !playing;
    undo.hidden ||= state === "advised";
    undo.disabled = !match.canTakeBack;
    resign.hidden = !playing || state === "over";
    this.acts.hidden = !playing;
    write(this.outcome, state === "over" ? match.outcome : "");
    write(this.state, said(match));
    Object.assign(this.state.dataset, { state, side: match.human });
    this.drawThinking();
  }

  /** What the opponent has found so far; before that, from the second second on, how long it has been thinking. */
  private drawThinking(): void {
    const { match } = this;
    const silent = match.state === "thinking" && !match.thought;
    if (!silent) window.clearInterval(this.ticking);
    else if (!this.silentSince) this.ticking = window.setInterval(() => this.drawThinking(), 1000);
    this.silentSince = silent ? this.silentSince || performance.now() : 0;
    const seconds = silent ? Math.round((performance.now() - this.silentSince) / 1000) : 0;
    write(this.thinking, seconds > 1 ? `${texts.common.number(seconds)} s` : thinking(match, this.app.hints, this.app.game.kind));
  }

  /** "human, plays like a 1400 player". */
  private about(): string {
    const { name, program } = this.match.opponent;
    const [network, about] = program ? [undefined, this.app.programs.about(name)] : [this.app.named(name), null];
    const levels = levelsOf(network, about, this.match.clock !== null);
    const level = levelOf(this.match.strength, this.match.clock !== null);
    const chosen = levels.find(([value]) => value === level);
    const text = chosen && chosen[0] !== CUSTOM ? chosen[1] : texts.play.customLevel;
    const control = this.match.clock?.control;
    const time = control && CONTROLS.find(([value]) => value === `${control.base}+${control.increment}`)?.[1];
    return [texts.play.about(this.match.title, text), time && `${time}${control!.increment ? texts.play.aMove : ""}`, this.score()].filter(Boolean).join(" · ");
  }

  /** "You 1½ – ½ chessnet": the games before this one against the same opponent, and this one's result; "" for no games. */
  private score(result: Result = ""): string {
    const { title, opponent, human } = this.match;
    const before = this.tally.opponent === keyOf(opponent) ? this.tally : { games: 0, points: 0 };
    const games = before.games + (result ? 1 : 0);
    const points = before.points + pointsOf(result, human);
    return games ? texts.play.score(halves(points), halves(games - points), title) : "";
  }
}

/** Whose turn it is, in words. */
export function said(match: Match): string {
  const colour = match.human === "w" ? texts.common.white : texts.common.black;
  switch (match.state) {
    case "human":
      return `${match.offers ? `${texts.play.offers(match.title)} ` : match.reply ? `${match.reply} ` : ""}${texts.play.yourMove(colour)}`;
    case "checking":
      return texts.play.judged;
    case "advised":
      return texts.play.advised;
    case "thinking":
      return texts.play.thinks(match.title);
    case "stopped":
      // While its move is made, it has not stopped.
      return match.making ? texts.play.thinks(match.title) : texts.play.stopped(match.title);
    case "lost":
      return texts.play.noAnswer(match.problem);
    case "away":
      return texts.play.viewing(colour);
    default:
      return "";
  }
}

const pointsOf = (result: Result, side: "w" | "b"): number => (result === "draw" ? 0.5 : result === side ? 1 : 0);

/** "Depth 4, 1,200 positions, 0.8 s · Nf3 Nc6 Bb5". What it expects of the game is a hint like any other. */
function thinking({ state, thought }: Match, hints: boolean, game: "chess" | "go"): string {
  if ((state !== "thinking" && state !== "stopped") || !thought) return "";
  const parts: string[] = [];
  if (thought.depth) parts.push(texts.play.depth(thought.depth));
  if (thought.nodes) parts.push((game === "go" ? texts.opinion.visits : texts.opinion.positions)(thought.nodes));
  if (thought.seconds) parts.push(`${texts.common.number(thought.seconds, 1)} s`);
  const line = lettered((hints ? (thought.san ?? thought.pv ?? []) : []).slice(0, 10).join(" "));
  return [parts.join(", "), line].filter(Boolean).join(" · ");
}

function field(label: string, input: HTMLInputElement): HTMLLabelElement {
  return el("label", { class: "field" }, el("span", {}, label), input);
}
