/** A curve of a run: training and validation over iterations. */

import { UPlot } from "./plotting";
import type uPlot from "uplot";

import { el, inkOf } from "../ui/elements";
import { short } from "./figures";
import { texts } from "../texts";

export interface Points {
  iterations: number[];
  training: (number | null)[];
  validation: (number | null)[];
}

export class Curve {
  readonly element: HTMLElement;
  private readonly place = el("div", { class: "curve" });
  private readonly iteration = el("span", { class: "at" });
  private readonly training = el("span", { class: "of-training" });
  private readonly validation = el("span", { class: "of-validation" });
  private plot: uPlot | null = null;
  private points: Points = { iterations: [], training: [], validation: [] };

  constructor(
    private readonly name: string,
    private readonly format: (value: number) => string,
  ) {
    const legend = el("p", { class: "curve-legend" }, this.training, this.validation, this.iteration);
    this.element = el("section", {}, el("h3", {}, name), legend, this.place);
    this.element.hidden = true;
    new ResizeObserver(() => this.fit()).observe(this.place);
    // A canvas does not follow the page's colours by itself.
    window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.recolour());
    new MutationObserver(() => this.recolour()).observe(document.documentElement, {
      attributeFilter: ["data-theme", "class"],
    });
  }

  draw(points: Points): void {
    this.points = points;
    this.element.hidden = points.iterations.length === 0;
    if (this.element.hidden) return;
    const data: uPlot.AlignedData = [points.iterations, points.training, points.validation];
    if (this.plot) this.plot.setData(data);
    else this.make(data);
    this.say(null);
    this.place.setAttribute("role", "img");
    this.place.setAttribute(
      "aria-label",
      texts.curve.about(this.name, points.iterations.at(-1) ?? 0, this.last(points.training), this.last(points.validation)),
    );
  }

  private last(values: (number | null)[]): string {
    return this.figure(values.filter((each) => each !== null).at(-1));
  }

  private figure(value: number | null | undefined): string {
    return value === null || value === undefined ? "–" : this.format(value);
  }

  /** The figures where one points; else the latest. */
  private say(place: number | null): void {
    const { iterations, training, validation } = this.points;
    const at = (values: (number | null)[]): string => (place === null ? this.last(values) : this.figure(values[place]));
    this.training.textContent = `${texts.curve.training} ${at(training)}`;
    this.validation.textContent = `${texts.curve.validation} ${at(validation)}`;
    const iteration = place === null ? undefined : iterations[place];
    this.iteration.textContent = iteration === undefined ? "" : `${texts.curve.iteration} ${texts.common.number(iteration)}`;
  }

  private fit(): void {
    const { width, height } = this;
    if (!width) return;
    if (this.plot) {
      if (this.plot.width !== width || this.plot.height !== height) this.plot.setSize({ width, height });
    } else if (!this.element.hidden) this.draw(this.points);
  }

  private recolour(): void {
    this.plot?.destroy();
    this.plot = null;
    this.draw(this.points);
  }

  private get width(): number {
    return this.place.clientWidth;
  }

  private get height(): number {
    return this.place.clientHeight;
  }

  private make(data: uPlot.AlignedData): void {
    const { width, height } = this;
    if (!width) return;
    const [text, line, accent, warn] = ["--p-muted", "--p-line", "--p-accent", "--warn"].map((name) => inkOf(this.place, name)) as [string, string, string, string];
    const axis = {
      stroke: text,
      grid: { stroke: line, width: 1 },
      ticks: { stroke: line, width: 1 },
      font: "12px system-ui, sans-serif",
    };
    this.plot = new UPlot(
      {
        width,
        height,
        legend: { show: false },
        padding: [6, 10, 0, 0],
        scales: { x: { time: false } },
        cursor: { y: false, drag: { x: false, y: false } },
        axes: [
          { ...axis, values: (_, ticks) => ticks.map(short), size: 26 },
          { ...axis, values: (_, ticks) => ticks.map((tick) => this.format(tick)), size: 52, space: 24 },
        ],
        series: [
          {},
          { stroke: accent, width: 1.5, points: { show: false }, spanGaps: true },
          {
            stroke: warn,
            width: 2,
            dash: [6, 4],
            points: { show: true, size: 6, fill: warn },
            spanGaps: true,
          },
        ],
        hooks: {
          setCursor: [(plot) => this.say(plot.cursor.left !== undefined && plot.cursor.left >= 0 ? (plot.cursor.idx ?? null) : null)],
        },
      },
      data,
      this.place,
    );
  }
}
