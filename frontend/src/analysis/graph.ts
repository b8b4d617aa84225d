/** The chance over the whole line: White's in chess, Black's in Go. A click opens a position. */

import type uPlot from "uplot";

import { aloneOf, claimant, valueName, whose } from "../app/chance";
import { displayedChance, displayedLead, type Displayed } from "../app/displayed";
import { el, inkOf, percent } from "../ui/elements";
import type { Mistakes } from "./mistakes";
import { firstColumn, named, numberOf } from "../app/naming";
import { scored } from "./opinion";
import type { App } from "../app/state";
import { texts } from "../texts";

/** Where the style sheet gives none, px. */
const HEIGHT = 124;
/** A click so near a mistake's dot opens the position before it, px. */
const NEAR = 9;

/** Points that the graph shows at least, to either side of an even game. */
const FEWEST = 5;

export function mountGraph(host: HTMLElement, app: App, mistakes: Mistakes): void {
  new Graph(host, app, mistakes);
}

/** Black's lead in short: "B+4.3". */
const leadOf = (score: number): string => scored("go", { score, moves: [], san: [] });

const evenly = (_: uPlot, low: number, high: number): [number, number] => {
  const most = Math.max(FEWEST, -low, high);
  return [-most, most];
};

class Graph {
  private readonly caption = el("p", { class: "graph-caption" });
  private readonly place = el("div", { class: "graph-place", role: "img" });
  private readonly note = el("p", { class: "note graph-note" });
  private readonly line = el("div", { class: "graph-cursor" });
  private readonly second = el("select", { "aria-label": texts.graph.compare });
  private readonly secondField = el("div", { class: "graph-second" }, el("span"), this.second);
  private readonly first = el("span", { class: "graph-first" });
  /** Of Go: Black's lead in points instead of the chance. */
  private readonly points = el("button", { type: "button", class: "graph-points", "aria-pressed": "false" }, texts.graph.points);
  private library: typeof uPlot | null = null;
  private plot: uPlot | null = null;
  private made = "";
  private offered = "";

  constructor(
    private readonly host: HTMLElement,
    private readonly app: App,
    private readonly mistakes: Mistakes,
  ) {
    this.place.append(this.note);
    host.replaceChildren(el("div", { class: "graph-head" }, this.first, this.secondField, this.points, this.caption), this.place);
    this.points.addEventListener("click", () => {
      this.points.setAttribute("aria-pressed", String(this.points.ariaPressed !== "true"));
      this.draw();
    });
    this.second.addEventListener("change", () => {
      app.chooseSecond(this.second.value || null);
      this.second.blur();
    });
    for (const event of ["game", "path", "networks", "results", "settings", "tree", "judgements", "checker"] as const) app.on(event, () => this.soon());
    app.on("cursor", () => this.point());
    new ResizeObserver(() => this.fit()).observe(this.place);
    window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.anew());
    new MutationObserver(() => this.anew()).observe(document.documentElement, { attributeFilter: ["data-theme"] });
    this.draw();
  }

  private waiting = false;

  /** Several things may change at once. */
  private soon(): void {
    if (this.waiting) return;
    this.waiting = true;
    queueMicrotask(() => {
      this.waiting = false;
      this.draw();
    });
  }

  /**
   * What is drawn of a position: the chance, or of Go Black's lead where that is asked for. Two networks are compared by
   * what each says without a search.
   */
  private value(network: string | null, id: number): Displayed | null {
    const { app } = this;
    if (!network) return null;
    if (this.leads) {
      const own = app.result(network, id)?.score;
      const alone = typeof own === "number" ? { lead: own, source: "network" as const } : null;
      const found = network === app.network && !app.second ? displayedLead(app, this.mistakes.judging, id) : alone;
      return found && { chance: found.lead, source: found.source };
    }
    if (network === app.network && !app.second) return displayedChance(app, this.mistakes.judging, id);
    return aloneOf(app.game.kind, app.result(network, id));
  }

  /** Whether all is checked, and still some of a game of Go is gray: not all of its moves are searched. */
  private get grays(): boolean {
    const { app } = this;
    const { judging } = this.mistakes;
    return app.game.kind === "go" && app.path.length > 1 && !app.second && judging.possible && app.path.some((id) => this.value(app.network, id)?.source === "network");
  }

  private get leads(): boolean {
    return !this.points.hidden && this.points.ariaPressed === "true";
  }

  private draw(): void {
    const { app } = this;
    this.offer();
    const gives = this.gives(app.network);
    this.points.hidden = app.game.kind === "chess" || !app.named(app.network)?.answers.includes("owners");
    const first = app.path.map((id) => this.value(app.hints ? app.network : null, id));
    const second = app.path.map((id) => this.value(app.hints ? app.second : null, id));
    const some = app.path.length > 1 && app.hints && (gives || this.gives(app.second));
    this.note.textContent = some
      ? ""
      : !app.hints
        ? texts.common.hintsOff
        : !app.network
          ? ""
          : gives
            ? texts.graph.empty
            : texts.graph.noChances(app.network);
    this.note.hidden = some;
    this.place.classList.toggle("empty", !some);
    if (some) {
      const wanted = `${app.game.kind} ${app.network} ${app.second} ${this.leads} ${app.checker.now}`;
      if (wanted !== this.made) this.plot = (this.plot?.destroy(), null);
      this.made = wanted;
      const alone = (place: number): boolean => first[place]?.source === "network";
      const data: uPlot.AlignedData = [
        app.path.map((_, place) => place),
        first.map((each, place) => (alone(place) ? null : (each?.chance ?? null))),
        second.map((each) => each?.chance ?? null),
        // Up to its neighbours, so that the line has no holes.
        first.map((each, place) => (alone(place) || alone(place - 1) || alone(place + 1) ? (each?.chance ?? null) : null)),
      ];
      if (this.plot) this.plot.setData(data);
      else if (this.library) this.make(this.library, data);
      else void this.load();
    }
    this.point();
    this.say(null);
    const known = first.filter((each) => each !== null).length;
    const { judging } = this.mistakes;
    const checked = judging.possible ? texts.graph.checked(judging.done) : "";
    // For tests: words change, numbers do not.
    Object.assign(this.place.dataset, { moves: app.path.length - 1, known, checked: judging.possible ? judging.done : 0 });
    this.place.setAttribute(
      "aria-label",
      texts.graph.about(whose(app.game.kind), app.path.length, `${known}`, checked, this.mistakes.all.length),
    );
  }

  private gives(name: string | null): boolean {
    if (name !== null && name === this.app.network && this.app.checker.now) return true;
    const answers = this.app.named(name)?.answers ?? [];
    return answers.includes("white") || answers.includes("white_better") || answers.includes("owners");
  }

  /** The networks that could be drawn beside the chosen one. */
  private offer(): void {
    const { app } = this;
    const engine = app.second ? "" : app.checker.now && (app.checker.about()?.engine ?? app.checker.now);
    this.first.textContent = `${engine || (app.network ?? "")}${app.second ? ` (${texts.chance.networkOnly})` : ""}`;
    const here = app.networks.filter((each) => each.game === app.game.kind && !each.problem && each.name !== app.network && this.gives(each.name));
    const key = JSON.stringify([here.map(({ name }) => name), app.second]);
    this.secondField.hidden = here.length === 0;
    if (key === this.offered) return;
    this.offered = key;
    this.second.replaceChildren(el("option", { value: "" }, app.second ? texts.graph.noOther : texts.graph.compareWith), ...here.map(({ name }) => el("option", { value: name }, name)));
    this.second.value = app.second ?? "";
    for (const each of [this.secondField, this.secondField.parentElement!]) each.classList.toggle("chosen", app.second !== null);
  }

  /** The cursor's line. Nothing is drawn anew. */
  private point(): void {
    const x = this.plot?.valToPos(this.app.place, "x") ?? 0;
    this.line.style.transform = `translateX(${Math.round(x)}px)`;
    this.line.hidden = !this.plot || this.app.placeOf(this.app.cursor) === undefined;
  }

  /** What is pointed at; else how far the analysis is. */
  private say(place: number | null): void {
    const { app } = this;
    let text = "";
    const id = place === null ? undefined : app.path[place];
    if (id !== undefined && app.game.nodes.has(id)) {
      const chances = [app.network, app.second].flatMap((name) => {
        const value = this.value(name, id);
        if (value === null) return [];
        const alone = value.source === "network" ? ` (${texts.chance.networkOnly})` : "";
        return [this.leads ? leadOf(value.chance) : `${percent(value.chance)}${alone}`];
      });
      text = `${named(app, app.node(id))}${this.mistakes.of(id)?.mark ?? ""} ${chances.join(" / ")}`;
    } else if (app.analyser.busy && app.analyser.done < app.analyser.total && app.path.length > 1) {
      text = texts.graph.ofAll(app.analyser.done, app.analyser.total);
    } else if (app.hints) text = this.mistakes.judging.progress || (this.grays ? texts.graph.gray : "");
    const gray = text === texts.graph.gray;
    this.caption.title = gray ? texts.graph.grayAbout : "";
    this.caption.classList.toggle("gray", gray);
    if (this.caption.textContent !== text) this.caption.textContent = text;
  }

  private fit(): void {
    const width = this.place.clientWidth;
    const { height } = this;
    if (this.plot && width && (this.plot.width !== width || this.plot.height !== height)) {
      this.plot.setSize({ width, height });
      this.point();
    } else if (!this.plot && width) this.draw();
  }

  private get height(): number {
    return this.place.clientHeight || HEIGHT;
  }

  private anew(): void {
    this.plot?.destroy();
    this.plot = null;
    this.draw();
  }

  private clicked(x: number): void {
    const { app, plot } = this;
    if (!plot) return;
    const near = this.mistakes.all
      .map(({ id }) => ({ id, away: Math.abs(plot.valToPos(app.placeOf(id) ?? 0, "x") - x) }))
      .sort((a, b) => a.away - b.away)[0];
    const place = Math.max(0, Math.min(app.path.length - 1, Math.round(plot.posToVal(x, "x"))));
    const gap = plot.valToPos(1, "x") - plot.valToPos(0, "x");
    const parent = near && near.away <= Math.min(NEAR, Math.max(3, gap / 2)) ? app.node(near.id).parent : null;
    if (near && parent !== null) app.say(texts.common.before(named(app, app.node(near.id))));
    app.go(parent ?? app.path[place]!);
  }

  private async load(): Promise<void> {
    this.library = (await import("./plotting")).UPlot;
    this.draw();
  }

  private make(library: typeof uPlot, data: uPlot.AlignedData): void {
    const width = this.place.clientWidth;
    if (!width) return;
    const { app } = this;
    const colour = (name: string): string => inkOf(this.host, name);
    const text = colour("--muted");
    const grid = { stroke: colour("--line"), width: 1 };
    const accent = colour("--accent");
    // What it is a chance of differs between networks; the graph's title says it.
    const label = whose(app.game.kind);
    const axis = { stroke: text, grid, ticks: { show: false }, font: "12px system-ui, sans-serif", labelFont: "12px system-ui, sans-serif" };
    this.plot = new library(
      {
        width,
        height: this.height,
        padding: [8, 14, 0, 0],
        legend: { show: false },
        scales: { x: { time: false, range: (_, low, high) => [low, Math.max(high, low + 1)] }, y: { range: this.leads ? evenly : [0, 1] } },
        cursor: { y: false, drag: { x: false, y: false, setScale: false, click: () => undefined }, points: { size: 7 } },
        axes: [
          { ...axis, size: 22, gap: 4, grid: { show: false }, splits: () => this.ticks().map(([place]) => place), values: () => this.ticks().map(([, number]) => number) },
          {
            ...axis,
            size: 46,
            gap: 4,
            label: this.leads ? texts.graph.points : label,
            labelSize: 16,
            labelGap: 0,
            ...(this.leads
              ? { space: 24, values: (_: uPlot, ticks: number[]) => ticks.map((tick) => leadOf(tick).replace(/[.,]0$/, "")) }
              : { splits: [0, 0.25, 0.5, 0.75, 1], values: (_: uPlot, ticks: number[]) => ticks.map((tick) => (tick % 0.5 ? "" : texts.common.percent(tick))) }),
          },
        ],
        series: [
          {},
          { stroke: accent, width: 1.75, fill: colour("--accent-soft"), fillTo: this.leads ? 0 : 0.5, points: { show: false } },
          { stroke: colour("--warn"), width: 1.5, dash: [5, 4], points: { show: false } },
          { stroke: text, width: 1.25, points: { show: false } },
        ],
        hooks: {
          draw: [(plot) => this.dots(plot)],
          setCursor: [(plot) => this.say(plot.cursor.left !== undefined && plot.cursor.left >= 0 ? (plot.cursor.idx ?? null) : null)],
        },
      },
      data,
      this.place,
    );
    const by = app.second ? app.network : (claimant(app)?.name ?? app.checker.now);
    this.place.title = by ? texts.evalbar.by(valueName(app.game.kind, app.second ? app.named(app.network) : claimant(app)), by) : "";
    this.plot.over.append(this.line);
    this.plot.over.addEventListener("click", (event) => this.clicked(event.offsetX));
  }

  /** Places on the axis with the numbers of their moves: a few round ones. */
  private ticks(): [number, string][] {
    const { app } = this;
    const last = app.path.length - 1;
    const each = app.game.kind === "chess" ? 2 : 1;
    const step = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 5000].find((size) => last / each / size <= 9) ?? last;
    const first = app.path[1];
    const start = first === undefined ? 1 : numberOf(app.game, app.node(first));
    const shift = first === undefined || firstColumn(app.game, app.node(first)) || each === 1 ? 1 : 0;
    const found: [number, string][] = [];
    for (let number = Math.ceil(start / step) * step; (number - start) * each + shift <= last; number += step) {
      found.push([Math.max(1, (number - start) * each + shift), String(number)]);
    }
    return found;
  }

  /** Mistakes, where they happened, and smaller and grey what may be one. */
  private dots(plot: uPlot): void {
    const { ctx } = plot;
    const [, searched, , alone] = plot.data;
    const values = Array.from(searched ?? [], (each, place) => each ?? alone?.[place] ?? null);
    ctx.save();
    // The line drawn last may have been a dashed one.
    ctx.setLineDash([]);
    const dot = (id: number, colour: string, size: number, hollow = false): void => {
      const place = this.app.placeOf(id);
      const value = place === undefined ? null : values[place];
      if (place === undefined || value === null || value === undefined) return;
      ctx.beginPath();
      ctx.arc(plot.valToPos(place, "x", true), plot.valToPos(value, "y", true), size * devicePixelRatio, 0, 2 * Math.PI);
      const [ink, ground] = [inkOf(this.host, colour), inkOf(this.host, "--panel")];
      ctx.fillStyle = hollow ? ground : ink;
      ctx.fill();
      ctx.lineWidth = 1.5 * devicePixelRatio;
      ctx.strokeStyle = hollow ? ink : ground;
      ctx.stroke();
    };
    for (const id of this.mistakes.doubts) dot(id, "--muted", 3);
    // The graver ones lie over the others.
    for (const { id, word } of this.mistakes.all) if (word === "inaccuracy") dot(id, "--inaccuracy", 2.5, true);
    for (const { id, word } of this.mistakes.all) if (word !== "inaccuracy") dot(id, `--${word}`, 4);
    ctx.restore();
  }
}
