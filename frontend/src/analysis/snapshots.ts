/** The position on the board as a run's snapshots see it, one after the other. */

import { Answers, snapshotName } from "../server/answers";
import type { Snapshot } from "../server/api";
import { aloneOf, Chance } from "../app/chance";
import { SmallBoard } from "./smallboard";
import { button, el, fresh, percent } from "../ui/elements";
import type { App } from "../app/state";
import { lettered, texts } from "../texts";

/** How long each snapshot stands when they run by, ms. */
const STANDS = 700;

/** Answers that are drawn on a board. */
const DRAWN = new Set(["moves", "owners"]);

export class Snapshots {
  readonly element: HTMLElement;
  private readonly slider: HTMLInputElement;
  private readonly name: HTMLElement;
  private readonly run = button("▶", () => this.toggle(), {
    class: "square",
    "aria-label": texts.snapshots.run,
  });
  private readonly board: SmallBoard;
  private readonly chance = new Chance();
  private readonly moves = el("p", { class: "note" });
  private readonly answers: Answers;
  private network = "";
  private snapshots: Snapshot[] = [];
  private timer = 0;

  constructor(private readonly app: App) {
    this.answers = new Answers(app);
    this.board = new SmallBoard(app, this.answers, "snapshot-board", { small: false, pause: 90, answered: () => this.draw(), failed: () => this.halt() });
    const id = fresh("snapshot");
    this.slider = el("input", { type: "range", id, min: 0, max: 0, step: 1, value: 0 });
    this.slider.addEventListener("input", () => {
      this.halt();
      this.draw();
    });
    // The arrow keys are the slider's here, not the game's.
    this.slider.addEventListener("keydown", (event) => event.stopPropagation());
    this.name = el("output", { for: id });
    this.element = el(
      "section",
      {},
      el("h3", {}, el("label", { for: id }, texts.snapshots.title)),
      el("div", { class: "snapshot-row" }, this.run, this.slider, this.name),
      this.board.note,
      el("div", { class: "snapshot-answer" }, el("div", { class: "snapshot-said" }, this.chance.element, this.moves), this.board.place),
    );
    this.element.hidden = true;
    for (const event of ["game", "cursor", "settings"] as const) app.on(event, () => this.draw());
    new IntersectionObserver((entries) => entries.some((each) => each.isIntersecting) && this.draw()).observe(
      this.element,
    );
  }

  /** The snapshots that there are, the oldest first. One who looks at the newest goes on to a newer one. */
  offer(network: string, snapshots: Snapshot[]): void {
    const newest = network !== this.network || Number(this.slider.value) === this.snapshots.length - 1;
    if (network !== this.network) this.halt();
    this.network = network;
    this.snapshots = snapshots;
    this.element.hidden = snapshots.length === 0;
    this.slider.max = String(Math.max(0, snapshots.length - 1));
    if (newest) this.slider.value = this.slider.max;
    this.draw();
  }

  private draw(): void {
    const { app } = this;
    const snapshot = this.snapshots[Number(this.slider.value)];
    const network = app.named(this.network);
    if (!snapshot || !network || !this.element.offsetParent) return;
    const words = snapshotName(snapshot);
    this.name.textContent = words;
    this.slider.setAttribute("aria-valuetext", words);
    const fits = network.game === app.game.kind;
    const shows = fits && app.hints;
    // Of a network that has nothing to show on it, the board would be the one that is there already.
    this.board.place.hidden = !fits || !network.answers.some((each) => DRAWN.has(each));
    this.run.disabled = this.snapshots.length < 2 || !shows;
    const node = app.node();
    const result = shows ? this.answers.known(network.name, snapshot.id, node) : undefined;
    this.chance.draw(app.game.kind, network, aloneOf(app.game.kind, result), result?.score ?? null, true);
    this.moves.textContent = (result?.moves ?? [])
      .slice(0, 5)
      .map(({ san, p }) => `${lettered(san)}\u00a0${percent(p)}`)
      .join(" · ");
    if (fits) this.board.draw(result);
    if (shows) this.board.ask(network.name, snapshot.id, Boolean(result));
    else this.board.cancel(fits ? texts.common.hintsOff : texts.snapshots.otherGame(network.game === "chess" ? texts.common.ofChess : texts.common.go));
  }

  private toggle(): void {
    if (this.timer) {
      this.halt();
      return;
    }
    if (this.slider.value === this.slider.max) this.slider.value = "0";
    this.run.textContent = "❚❚";
    this.run.setAttribute("aria-label", texts.snapshots.stop);
    this.timer = window.setInterval(() => this.next(), STANDS);
    this.draw();
  }

  private next(): void {
    // The next one waits until this one has answered.
    const snapshot = this.snapshots[Number(this.slider.value)];
    if (!this.element.offsetParent || this.slider.value === this.slider.max) this.halt();
    else if (snapshot && this.answers.known(this.network, snapshot.id, this.app.node())) {
      this.slider.value = String(Number(this.slider.value) + 1);
      this.draw();
    }
  }

  private halt(): void {
    window.clearInterval(this.timer);
    this.timer = 0;
    this.run.textContent = "▶";
    this.run.setAttribute("aria-label", texts.snapshots.run);
  }
}
