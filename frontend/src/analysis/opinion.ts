/** A second opinion: a UCI or GTP program of this machine that analyses the position for as long as it is looked at. */

import type { Opinion, OpinionLine } from "../server/api";
import { Latest } from "../server/asking";
import { whose } from "../app/chance";
import { button, Choice, el, percent } from "../ui/elements";
import { keep, kept } from "../app/storage";
import { shown } from "../board/overlays";
import type { App } from "../app/state";
import { decimals, lettered, texts } from "../texts";

const OFF = "";
const LINES = ["1", "2", "3", "4", "5"];
const USUAL_LINES = "3";

export class OpinionPanel {
  private readonly program: Choice;
  private readonly lines: Choice;
  private readonly about = el("p", { class: "opinion-about" });
  private readonly list = el("ol", { class: "opinion-lines" });
  private readonly state = el("p", { class: "note opinion-state", role: "status" });
  private readonly again = button(texts.opinion.again, () => {
    this.asked = "";
    this.draw();
  });
  private readonly none = el("p", { class: "note" });
  private readonly choices: HTMLElement;
  readonly element: HTMLElement;
  private readonly latest = new Latest();
  /** What is asked or was answered: program, lines and position; "" for nothing. */
  private asked = "";
  private name = "";
  private found: Opinion | null = null;
  private over = false;
  private readonly rows: Row[] = [];
  private held = false;

  constructor(
    private readonly host: HTMLElement,
    private readonly app: App,
    beside: HTMLElement | null = null,
  ) {
    this.program = new Choice(texts.opinion.second, (name) => {
      keep("session", `opinion-${this.kind}`, name);
      this.asked = "";
      this.draw();
    });
    this.lines = new Choice(texts.opinion.lines, (lines) => {
      keep("local", "opinion-lines", lines);
      this.draw();
    });
    this.lines.offer(
      LINES.map((each) => [each, each] as const),
      kept("local", "opinion-lines") ?? USUAL_LINES,
    );
    this.choices = el("div", { class: "opinion-choices" }, beside, this.program.element, this.lines.element);
    this.element = el("section", { class: "opinion" }, this.choices, this.none, this.about, this.list, this.state, this.again);
    this.again.hidden = this.state.hidden = true;
    this.list.addEventListener("pointerleave", () => shown.point(null));
    this.list.addEventListener("pointerdown", () => (this.held = true));
    for (const event of ["click", "pointercancel"]) window.addEventListener(event, () => (this.held = false));
    app.on("networks", () => this.latest.again() && (this.asked = ""));
    for (const event of ["cursor", "game", "settings", "networks", "programs"] as const) app.on(event, () => this.draw());
    // It thinks only while somebody looks at it.
    document.addEventListener("visibilitychange", () => this.draw());
    new IntersectionObserver(() => this.draw()).observe(host);
    void app.programs.find();
  }

  private get kind(): "chess" | "go" {
    return this.app.game.kind;
  }

  private draw(): void {
    const { app, kind } = this;
    this.element.hidden = !app.hints || !app.programs.known;
    const here = app.programs.of(kind);
    this.choices.hidden = !here.length;
    this.none.hidden = here.length > 0;
    this.none.textContent = texts.opinion.how(kind === "chess" ? "stockfish" : "'gnugo --mode gtp'");
    const wanted = kept("session", `opinion-${kind}`) ?? OFF;
    this.program.offer([[OFF, texts.opinion.off], ...here.map(({ name }) => [name, name] as const)], here.some(({ name }) => name === wanted) ? wanted : OFF);
    this.program.element.title = here.find(({ name }) => name === this.program.value)?.command ?? texts.opinion.onMachine;
    const on = this.program.value !== OFF;
    this.lines.element.hidden = !on;
    this.host.classList.toggle("advised", on);
    this.follow(on);
    this.show(on);
  }

  /** Asks about the position that is shown, if it is not asked about; gives up what nobody looks at. */
  private follow(on: boolean): void {
    const { app } = this;
    const seen = on && app.hints && this.host.offsetParent !== null && document.visibilityState === "visible";
    const line = app.line();
    const key = seen && !this.ended ? JSON.stringify([this.program.value, this.lines.value, line]) : "";
    if (key === this.asked) return;
    this.asked = key;
    this.latest.cancel();
    this.found = null;
    this.over = false;
    this.tell("");
    if (!key) return;
    const asked = { program: this.program.value, lines: Number(this.lines.value), line };
    const heard = (opinion: Opinion): void => {
      if (key !== this.asked) return;
      if (opinion.program) this.name = opinion.program;
      if (opinion.lines) this.found = opinion;
      this.show(true);
    };
    this.name = this.name || asked.program;
    this.latest.ask(
      (signal) => app.api.opinion(asked, heard, signal),
      () => {
        this.over = true;
        this.show(true);
      },
      (problem) => {
        this.tell(`${problem}.`.replace(/\.\.$/, "."));
        this.again.hidden = false;
      },
    );
  }

  /** Whether there is no move to think about. */
  private get ended(): boolean {
    const { end } = this.app.node();
    return end === "checkmate" || end === "stalemate" || end === "passes";
  }

  private show(on: boolean): void {
    this.list.hidden = !on;
    this.about.hidden = !on;
    this.list.style.minHeight = `${32 * Number(this.lines.value)}px`;
    const parts = this.found ? [this.name, ...said(this.found, this.over)] : this.asked && !this.state.textContent ? [texts.opinion.looks(this.program.value)] : [];
    this.about.textContent = on && this.ended ? texts.common.gameOver : parts.join(" · ");
    // What is being clicked stays as it is.
    if (this.held) return;
    const lines = this.found?.lines ?? [];
    while (this.rows.length < lines.length) this.rows.push(new Row((moves) => void this.play(moves)));
    lines.forEach((line, at) => this.rows[at]!.draw(this.kind, line));
    const rows = this.rows.slice(0, lines.length).map((row) => row.element);
    if (rows.length !== this.list.childElementCount) this.list.replaceChildren(...rows);
  }

  /** Plays moves of a line, one after the other. */
  private async play(moves: string[]): Promise<void> {
    shown.point(null);
    this.held = false;
    const { app } = this;
    for (const move of moves) {
      const before = app.cursor;
      try {
        const made = await app.play(move);
        if (made.parent !== before) return;
      } catch {
        return;
      }
    }
  }

  private tell(problem: string): void {
    this.state.textContent = problem;
    this.state.hidden = !problem;
    this.again.hidden = true;
    if (problem) this.about.textContent = "";
  }
}

/** A line: its elements stay while what they say changes, so that they can be clicked and keep the focus. */
class Row {
  private readonly chance = el("span", { class: "opinion-chance" });
  private readonly score = el("span", { class: "opinion-score" });
  private readonly moves = el("span", { class: "opinion-moves" });
  readonly element = el("li", {}, this.chance, this.score, this.moves);
  private readonly buttons: HTMLButtonElement[] = [];
  private line: OpinionLine = { moves: [], san: [] };

  constructor(private readonly play: (moves: string[]) => void) {
    const point = (): void => shown.point(this.line.moves[0] ?? null);
    this.moves.addEventListener("pointermove", point);
    this.moves.addEventListener("focusin", point);
    this.moves.addEventListener("focusout", () => shown.point(null));
  }

  draw(kind: "chess" | "go", line: OpinionLine): void {
    this.line = line;
    const chance = kind === "chess" ? line.white : line.black;
    write(this.chance, chance === null || chance === undefined ? "" : percent(chance));
    this.chance.title = texts.chance.of(whose(kind));
    write(this.score, scored(kind, line));
    this.score.title = scoreWords(kind, line);
    while (this.buttons.length < line.san.length) this.more();
    this.buttons.forEach((each, at) => {
      each.hidden = at >= line.san.length;
      write(each, lettered(line.san[at] ?? ""));
      each.dataset.line = line.moves.slice(0, at + 1).join(" ");
    });
  }

  private more(): void {
    const upTo = this.buttons.length + 1;
    const made = button("", () => this.play(this.line.moves.slice(0, upTo)), { title: upTo === 1 ? texts.opinion.playIt : texts.opinion.playLine });
    this.buttons.push(made);
    this.moves.append(made);
  }
}

function write(element: HTMLElement, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/** "depth 13", "147,460 positions, 130,000 a second"; of Go "1,200 visits". */
function said({ depth, nodes, speed, visits, estimates }: Opinion, over: boolean): string[] {
  const parts = [
    depth ? texts.opinion.depth(depth) : "",
    nodes ? `${texts.opinion.positions(nodes)}${speed ? texts.opinion.speed(speed < 10_000 ? speed : 1000 * Math.round(speed / 1000)) : ""}` : "",
    visits ? texts.opinion.visits(visits) : "",
    estimates ? texts.opinion.estimates : "",
    over ? texts.opinion.done : "",
  ];
  return parts.filter(Boolean);
}

/** "+0.38", "#−3"; of Go "B+4.3". All as the network's chance is told: White's in chess, Black's in Go. */
export function scored(kind: "chess" | "go", { score, mate }: OpinionLine): string {
  if (mate !== null && mate !== undefined) return `#${mate < 0 ? "−" : ""}${Math.abs(mate)}`;
  if (score === null || score === undefined) return "";
  if (kind === "go") return score ? decimals(`${score > 0 ? "B" : "W"}+${Math.abs(score).toFixed(1)}`) : "0";
  return decimals(`${score > 0 ? "+" : score < 0 ? "−" : ""}${Math.abs(score).toFixed(2)}`);
}

export function scoreWords(kind: "chess" | "go", { score, mate }: OpinionLine): string {
  const side = (value: number): string => ((value > 0) === (kind === "chess") ? texts.common.white : texts.common.black);
  if (mate !== null && mate !== undefined) return mate ? texts.opinion.matesIn(side(mate), Math.abs(mate)) : texts.opinion.mate;
  if (score === null || score === undefined) return "";
  if (!score) return texts.opinion.even;
  const unit = kind === "chess" ? texts.opinion.pawns : texts.opinion.points;
  return texts.opinion.ahead(side(score), Math.abs(score), unit);
}
