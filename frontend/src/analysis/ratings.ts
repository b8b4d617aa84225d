/** What players of a rating would play, how often they go wrong, and how both change with the rating. */

import "./ratings.css";

import type { Searched } from "./candidates";
import type { ByRating, OpinionLine } from "../server/api";
import { Kept, Latest } from "../server/asking";
import { el, percent, svg } from "../ui/elements";
import { asksRatings, MoveBars } from "./movebars";
import { keep, kept } from "../app/storage";
import type { App, Network } from "../app/state";
import { lettered, texts } from "../texts";

const LEAST = 800;
const MOST = 2800;
const STEP = 100;
const USUAL = 1400;
/** So many moves are shown, each with its curve. */
const SHOWN = 3;
/** A trap loses so much of the chance, is played so often by weaker players, and at most half as often by strong ones. */
const TRAP = { loss: 0.2, share: 0.1, weak: [LEAST, 1400], strong: 2200 } as const;
/** Size of the curves, in units that are about a pixel. */
const [WIDTH, HEIGHT, FOOT] = [200, 84, 14];
/** The highest probability that the curves have room for. */
const TOPS = [0.25, 0.5, 0.75, 1];

export interface Trap {
  san: string;
  /** Of the mover's chance, 0..1. */
  loss: number;
  /** How often it is played at these ratings, 0..1. */
  weak: { rating: number; p: number };
  strong: { rating: number; p: number };
}

/** The probability of a mistake in words; "…" in its place ends the sentence by itself. */
export const riskWords = (rating: number, told: string): string => texts.ratings.risk(rating, told).replace("….", "…");

/** The moves that players of a rating choose, the likeliest first. */
export function movesAt({ ratings, moves }: ByRating, rating: number): { move: string; san: string; p: number }[] {
  const at = ratings.indexOf(rating);
  return moves
    .map(({ move, san, p }) => ({ move, san, p: p[at] ?? 0 }))
    .sort((a, b) => b.p - a.p)
    .slice(0, SHOWN);
}

/** The mover's value after each move of a search, by move. */
function worths(lines: readonly OpinionLine[], mover: "w" | "b"): Map<string, number> {
  return new Map(lines.flatMap(({ moves: [first], white }) => (first !== undefined && typeof white === "number" ? [[first, mover === "w" ? white : 1 - white] as const] : [])));
}

/** The move that weaker players choose most often among those that lose much by a search, and strong players seldom. */
export function trapIn({ ratings, moves }: ByRating, lines: readonly OpinionLine[], mover: "w" | "b"): Trap | null {
  const values = worths(lines, mover);
  const [least, most] = TRAP.weak;
  const strong = ratings.indexOf(TRAP.strong);
  const found = moves.flatMap(({ move, san, p }): Trap[] => {
    const value = values.get(move);
    const loss = value === undefined ? 0 : Math.max(...values.values()) - value;
    const weak = ratings.flatMap((rating, at) => (rating >= least && rating <= most ? [{ rating, p: p[at] ?? 0 }] : [])).sort((a, b) => b.p - a.p)[0];
    const seldom = p[strong] ?? 1;
    if (!weak || loss < TRAP.loss || weak.p < TRAP.share || seldom > weak.p / 2) return [];
    return [{ san, loss, weak, strong: { rating: TRAP.strong, p: seldom } }];
  });
  return found.sort((a, b) => b.weak.p - a.weak.p)[0] ?? null;
}

export class RatingPanel {
  private readonly slider = el("input", { type: "range", min: LEAST, max: MOST, step: STEP });
  private readonly said = el("label", { class: "rating-said" });
  private readonly bars: MoveBars;
  private readonly curves = svg("svg", { class: "rating-curves", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img" });
  private readonly risk = el("p", { class: "rating-risk" });
  private readonly trap = el("p", { class: "rating-trap" });
  readonly element: HTMLElement;
  private readonly latest = new Latest();
  private readonly known = new Kept<ByRating>(300);
  private asked = "";
  private drawn = "";
  /** Node numbers begin anew with every game. */
  private game = 0;

  constructor(
    private readonly app: App,
    private readonly host: HTMLElement,
    private readonly changed: () => void,
  ) {
    this.bars = new MoveBars(app, true);
    this.slider.value = kept("local", "asked-rating") ?? String(USUAL);
    this.slider.id = "asked-rating";
    this.said.htmlFor = this.slider.id;
    this.element = el(
      "section",
      { class: "ratings" },
      el("div", { class: "rating-head" }, this.said, this.slider),
      el("div", { class: "rating-columns" }, this.bars.element, this.curves),
      this.risk,
      this.trap,
    );
    this.slider.addEventListener("input", () => {
      keep("local", "asked-rating", this.slider.value);
      changed();
    });
    // Of a pointer: the arrow keys are for the moves again.
    this.slider.addEventListener("pointerup", () => this.slider.blur());
    app.on("game", () => (this.game += 1));
    app.on("networks", () => this.latest.again() && (this.asked = ""));
  }

  get rating(): number {
    return Number(this.slider.value);
  }

  /** `searched`: what a search says of moves in this position. */
  draw(network: Network | undefined, searched: Searched): void {
    const { app } = this;
    const node = app.node();
    const offered = asksRatings(network) && app.hints && node.end !== "checkmate" && node.end !== "stalemate";
    this.element.hidden = !offered;
    if (!offered || !network) return this.cancel();
    const key = JSON.stringify([this.game, app.weights(network.name), node.id]);
    const found = this.known.get(key);
    this.said.textContent = texts.ratings.rated(this.rating);
    this.element.classList.toggle("waiting", !found);
    if (found) this.show(key, found, searched);
    else if (this.host.offsetParent !== null) this.ask(key, network.name);
  }

  private ask(key: string, network: string): void {
    if (key === this.asked) return;
    this.asked = key;
    const line = this.app.line();
    this.latest.ask(
      (signal) => this.app.api.byRating({ network, line }, signal),
      (found) => {
        this.known.set(key, found);
        this.changed();
      },
      // Where it cannot be known, nothing is shown of it.
      () => undefined,
    );
  }

  private cancel(): void {
    this.latest.cancel();
    this.asked = "";
  }

  private show(asked: string, found: ByRating, { lines, risk: searched, running }: Searched): void {
    const { rating } = this;
    const { turn } = this.app.node();
    const some = movesAt(found, rating);
    const trap = trapIn(found, lines, turn);
    // The search tells more of the risk, so nothing is said of it before.
    const risks = searched ?? (running ? null : found.risk);
    const key = JSON.stringify([rating, asked, trap, risks, running]);
    if (key === this.drawn) return;
    this.drawn = key;
    // Colors go by the mean over ratings, so that moves mostly keep their own while the slider moves.
    const curves = found.moves.filter(({ move }) => some.some((each) => each.move === move));
    const inks = new Map(curves.map(({ move }, at) => [move, `ink-${at}`]));
    this.bars.draw(some, [], inks);
    const risk = risks?.[found.ratings.indexOf(rating)];
    const [low, high] = [risks?.[0], risks?.at(-1)];
    const told = typeof risk === "number" ? percent(risk) : running && found.risk ? "…" : "";
    this.risk.hidden = !told;
    if (told) {
      this.risk.replaceChildren(el("span", { class: "key-risk", "aria-hidden": "true" }), riskWords(rating, told));
      this.risk.title = texts.ratings.riskAbout;
    }
    this.trap.hidden = !trap;
    this.element.classList.toggle("trapped", trap !== null);
    if (trap) this.trap.textContent = texts.ratings.trap(lettered(trap.san), Math.round(100 * trap.loss), trap.weak.rating, percent(trap.weak.p), trap.strong.rating, percent(trap.strong.p));
    const words = typeof low === "number" && typeof high === "number" ? ` ${texts.ratings.risk(LEAST, percent(low))} ${texts.ratings.risk(MOST, percent(high))}` : "";
    this.curves.setAttribute("aria-label", `${texts.ratings.curves(some.map(({ san }) => lettered(san)).join(", "))}${words}`);
    this.curves.replaceChildren(...this.lines({ ...found, moves: curves, risk: risks }, inks));
  }

  private lines({ ratings, moves, risk }: ByRating, inks: Map<string, string>): SVGElement[] {
    const highest = Math.max(...moves.flatMap(({ p }) => p), ...(risk ?? []).map((each) => each ?? 0));
    const top = TOPS.find((each) => each >= highest) ?? 1;
    const x = (rating: number): number => (WIDTH * (rating - LEAST)) / (MOST - LEAST);
    const y = (p: number): number => (HEIGHT - FOOT) * (1 - p / top);
    const path = (values: (number | null)[]): string => values.flatMap((p, at) => (p === null ? [] : [`${x(ratings[at]!).toFixed(1)} ${y(p).toFixed(1)}`])).join(" ");
    const line = (name: string, values: (number | null)[]): SVGElement => svg("polyline", { class: name, points: path(values) });
    const at = x(this.rating);
    return [
      ...[0, top / 2, top].map((p) => svg("line", { class: "rating-grid", x1: 0, x2: WIDTH, y1: y(p), y2: y(p) })),
      svg("line", { class: "rating-now", x1: at, x2: at, y1: 0, y2: HEIGHT - FOOT }),
      ...moves.map(({ move, p }) => line(`curve ${inks.get(move)}`, p)),
      ...(risk ? [line("curve of-risk", risk)] : []),
      svg("text", { class: "rating-tick", x: -4, y: 4, "text-anchor": "end" }, texts.common.percent(top)),
      svg("text", { class: "rating-tick", x: 0, y: HEIGHT - 2 }, String(LEAST)),
      svg("text", { class: "rating-tick", x: x((LEAST + MOST) / 2), y: HEIGHT - 2, "text-anchor": "middle" }, String((LEAST + MOST) / 2)),
      svg("text", { class: "rating-tick", x: WIDTH, y: HEIGHT - 2, "text-anchor": "end" }, String(MOST)),
    ];
  }
}
