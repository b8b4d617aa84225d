/** A curve of a run: training and validation over iterations. */

import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";

import { el } from "./elements";
import { texts } from "./texts";

export interface Points {
  iterations: number[];
  training: (number | null)[];
  validation: (number | null)[];
}

export class Curve {
  readonly element: HTMLElement;
  private readonly place = el("div", { class: "curve" });
  private plot: uPlot | null = null;
  private points: Points = { iterations: [], training: [], validation: [] };

  constructor(
    private readonly name: string,
    private readonly format: (value: number) => string,
  ) {
    this.element = el("section", {}, el("h3", {}, name), this.place);
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
    if (this.plot) {
      this.plot.setData(data);
      this.plot.setLegend({});
    }
    if (!this.plot) this.make(data);
    const last = (values: (number | null)[]): string => {
      const value = values.filter((each) => each !== null).at(-1);
      return value === undefined || value === null ? "unknown" : this.format(value);
    };
    this.place.setAttribute("role", "img");
    this.place.setAttribute(
      "aria-label",
      texts.curve.about(this.name, points.iterations.at(-1) ?? 0, last(points.training), last(points.validation)),
    );
  }

  private fit(): void {
    const width = this.place.clientWidth;
    if (!width) return;
    if (this.plot) {
      if (this.plot.width !== width) this.plot.setSize({ width, height: 180 });
    } else if (!this.element.hidden) this.draw(this.points);
  }

  private recolour(): void {
    this.plot?.destroy();
    this.plot = null;
    this.draw(this.points);
  }

  private make(data: uPlot.AlignedData): void {
    const width = this.place.clientWidth;
    if (!width) return;
    const styles = getComputedStyle(this.place);
    const colour = (name: string, usual: string): string => styles.getPropertyValue(name).trim() || usual;
    const text = colour("--p-muted", "#5c646b");
    const line = colour("--p-line", "#d9d6cf");
    const accent = colour("--p-accent", "#0a5f6a");
    const warn = colour("--warn", "#8a5a00");
    const axis = {
      stroke: text,
      grid: { stroke: line, width: 1 },
      ticks: { stroke: line, width: 1 },
      font: "12px system-ui, sans-serif",
    };
    // Where nothing is pointed at, the legend has the latest figures.
    const latest = (plot: uPlot, series: number): number | null =>
      [...(plot.data[series] ?? [])].filter((each) => each != null).at(-1) ?? null;
    const said =
      (format: (value: number) => string) =>
      (plot: uPlot, found: number | null, series: number, index: number | null): string => {
        const value = index === null ? latest(plot, series) : found;
        return value === null || value === undefined ? "–" : format(value);
      };
    const value = said(this.format);
    this.plot = new uPlot(
      {
        width,
        height: 180,
        scales: { x: { time: false } },
        cursor: { y: false, drag: { x: false, y: false } },
        axes: [
          { ...axis, values: (_, ticks) => ticks.map(short), size: 30 },
          { ...axis, values: (_, ticks) => ticks.map((tick) => this.format(tick)), size: 58 },
        ],
        series: [
          { label: texts.curve.iteration, value: said((at) => texts.common.number(at)) },
          { label: texts.curve.training, stroke: accent, width: 1.5, points: { show: false }, spanGaps: true, value },
          {
            label: texts.curve.validation,
            stroke: warn,
            width: 2,
            dash: [6, 4],
            points: { show: true, size: 6, fill: warn },
            spanGaps: true,
            value,
          },
        ],
      },
      data,
      this.place,
    );
  }
}

function short(value: number): string {
  if (value >= 1e6) return `${+(value / 1e6).toFixed(2)}M`;
  return value >= 1000 ? `${+(value / 1000).toFixed(2)}k` : String(value);
}
