/** A training run: its curves, live, and one position as its snapshots see it. */

import "../ui/fields.css";
import "./training.css";
import type { Snapshot } from "../server/api";
import { message } from "../server/asking";
import { runName, usualRun, withoutMetrics } from "../app/choosing";
import { lossWords } from "./figures";
import { Curve, type Points } from "./curve";
import { Choice, el, write } from "../ui/elements";
import { Snapshots } from "./snapshots";
import type { App } from "../app/state";
import { texts } from "../texts";

export function mountTraining(host: HTMLElement, app: App): void {
  new TrainingPanel(host, app);
}

/** A row of metrics.jsonl, as far as it is looked at here. */
interface Row {
  kind?: string;
  stage?: string;
  iteration?: number;
  loss?: number;
  accuracy?: number;
  samples_per_second?: number;
}

/** Between two questions about a run that goes on, ms; without an answer it grows up to the longest. */
const PERIOD = 2000;
const LONGEST = 30_000;
/** Between two questions which runs there are, ms. */
const LOOKS = 5000;

/** How a training of a game is begun. */
const COMMANDS = {
  chess: "kibitz import games.pgn --into my.store\nkibitz train human my.store",
  go: "kibitz import games.sgf --into my.store\nkibitz train gohuman my.store",
};

class TrainingPanel {
  private readonly commands = el("pre", {});
  private readonly reason = el("p", {});
  private readonly none = el(
    "div",
    { class: "note" },
    this.reason,
    this.commands,
  );
  private readonly run: Choice;
  private readonly stage: Choice;
  private readonly state = el("p", { class: "note", role: "status" });
  private readonly loss = new Curve(texts.training.loss, lossWords);
  private readonly accuracy = new Curve(texts.training.accuracy, (value) => texts.training.share(value));
  private readonly snapshots: Snapshots;
  private rows: Row[] = [];
  private finished = false;
  private stopped = false;
  private shown = "";
  /** Whether somebody has picked the run that is shown. */
  private picked = false;
  private timer = 0;
  private looking = 0;
  private looked = -Infinity;
  private period = PERIOD;
  private asking = false;
  private known: Snapshot[] = [];
  /** Goes on to a stage that begins, unless an earlier one was chosen. */
  private follows = true;
  /** The weights of the run that is shown when it was chosen: those of a run that was finished do not change. */
  private weights = "";

  constructor(
    private readonly host: HTMLElement,
    private readonly app: App,
  ) {
    this.run = new Choice(texts.training.run, () => {
      this.picked = true;
      this.choose();
    });
    this.stage = new Choice(texts.training.stage, () => {
      const { selectedIndex, options } = this.stage.select;
      this.follows = selectedIndex === options.length - 1;
      this.draw();
    });
    this.snapshots = new Snapshots(app);
    const choices = el("div", { class: "fields" }, this.run.element, this.stage.element);
    host.classList.add("panel", "training");
    host.replaceChildren(
      el("h2", { class: "training-title" }, texts.training.title),
      this.none,
      choices,
      this.state,
      el("div", { class: "curves" }, this.loss.element, this.accuracy.element),
      this.snapshots.element,
    );
    for (const event of ["networks", "game"] as const) app.on(event, () => this.offer());
    new IntersectionObserver((seen) => seen.some((each) => each.isIntersecting) && this.wake()).observe(host);
    document.addEventListener("visibilitychange", () => this.wake());
    this.offer();
  }

  private get visible(): boolean {
    return this.host.offsetParent !== null && document.visibilityState === "visible";
  }

  private offer(): void {
    const runs = [...this.app.networks, ...this.app.steps].filter((each) => each.metrics);
    this.none.hidden = runs.length > 0;
    write(this.reason, withoutMetrics(this.app.networks));
    write(this.commands, COMMANDS[this.app.game.kind]);
    this.run.element.parentElement!.hidden = runs.length === 0;
    const usual = usualRun(runs, this.picked ? this.shown : "", this.app.network, this.app.game.kind);
    this.run.offer(
      runs.map((each) => [each.name, runName(each)] as const),
      usual || null,
    );
    const anew = this.finished && this.app.weights(this.shown) !== this.weights;
    if (this.run.value !== this.shown || anew) this.choose();
  }

  private choose(): void {
    this.shown = this.run.value;
    this.follows = true;
    this.rows = [];
    this.known = [];
    this.finished = this.stopped = false;
    this.stage.element.hidden = true;
    this.snapshots.offer("", []);
    this.draw();
    this.wake();
  }

  /** Asks now, if the panel is seen and there may be something new. */
  private wake(): void {
    if (!this.visible) return;
    this.lookForRuns();
    if (!this.shown || this.finished || this.asking) return;
    window.clearTimeout(this.timer);
    void this.ask();
  }

  /** Asks now and then which runs there are, as long as the panel is seen: one may begin at any time. */
  private lookForRuns(): void {
    window.clearTimeout(this.looking);
    this.looking = window.setTimeout(() => this.wake(), LOOKS);
    const now = performance.now();
    if (now - this.looked < LOOKS) return;
    this.looked = now;
    void this.app.findNetworks().catch(() => undefined);
  }

  private async ask(): Promise<void> {
    const run = this.shown;
    this.asking = true;
    try {
      const { rows, total, finished, stopped } = await this.app.api.metrics(run, this.rows.length);
      const snapshots: Snapshot[] = rows.length || finished || !this.known.length ? await this.app.api.snapshots(run) : this.known;
      this.period = PERIOD;
      if (run === this.shown) {
        // A run that was begun anew has fewer rows than were seen.
        const anew = total < this.rows.length;
        this.rows = anew ? [] : [...this.rows, ...(rows as Row[])];
        this.finished = finished && !anew;
        this.weights = this.app.weights(run);
        this.stopped = stopped;
        this.known = snapshots;
        this.draw();
        this.snapshots.offer(run, snapshots);
      }
    } catch (error) {
      this.period = Math.min(LONGEST, 2 * this.period);
      if (run === this.shown) this.state.textContent = texts.training.again(message(error));
    }
    this.asking = false;
    if (run !== this.shown) this.wake();
    else if (!this.finished) this.timer = window.setTimeout(() => this.wake(), this.period);
  }

  private draw(): void {
    const stages = [...new Set(this.rows.flatMap((row) => (row.stage ? [row.stage] : [])))];
    const before = this.stage.value;
    const followed = this.follows || !stages.includes(before);
    this.stage.offer(
      stages.map((each) => [each, each] as const),
      followed ? (stages.at(-1) ?? "") : before,
    );
    this.stage.element.hidden = stages.length < 2;
    const rows = this.rows.filter((row) => row.stage === this.stage.value);
    this.loss.draw(points(rows, "loss"));
    this.accuracy.draw(points(rows, "accuracy"));
    this.state.textContent = this.said(rows);
  }

  private said(rows: Row[]): string {
    const last = rows.filter((row) => row.iteration !== undefined).at(-1);
    if (!this.shown) return "";
    if (!last) return this.finished ? texts.training.noFigures : texts.training.notYet;
    const done = last.iteration!;
    if (this.finished) return texts.training.finished(done);
    if (this.stopped) return texts.training.stopped(done);
    const speed = rows.filter((row) => row.samples_per_second).at(-1)?.samples_per_second;
    return texts.training.live(done, speed ? texts.mygames.speed(Math.round(speed)) : "");
  }
}

/** The figures of a stage in the order of its iterations, one entry each. */
function points(rows: Row[], figure: "loss" | "accuracy"): Points {
  const found = new Map<number, { training: number | null; validation: number | null }>();
  for (const row of rows) {
    const value = row[figure];
    if (row.iteration === undefined || typeof value !== "number" || !Number.isFinite(value)) continue;
    const at = found.get(row.iteration) ?? { training: null, validation: null };
    at[row.kind === "validation" ? "validation" : "training"] = value;
    found.set(row.iteration, at);
  }
  const sorted = [...found].sort(([a], [b]) => a - b);
  return {
    iterations: sorted.map(([iteration]) => iteration),
    training: sorted.map(([, at]) => at.training),
    validation: sorted.map(([, at]) => at.validation),
  };
}
