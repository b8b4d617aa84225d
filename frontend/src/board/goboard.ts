/** A Go board as SVG: wood, lines, stones, and what lies over them. Only what has changed is drawn anew. */

import { el, fresh, svg } from "../ui/elements";
import { GoMarks } from "./gomarks";
import { column, inStones, pointName, pointOf, stars } from "./gopoints";
import type { Looks, Picture, View } from "./overlays";
import type { Node } from "../app/state";
import { texts } from "../texts";

/** Between two lines, in the picture's own units. */
export const STEP = 100;
/** From the first line to the picture's edge. */
const EDGE = 62;
const RADIUS = 47;

export interface GoHands {
  play(move: string): Promise<unknown>;
  /** Uses a tool on a point in place of a move; whether it did. */
  edit(point: number): boolean;
  say(text: string): void;
  refuse(text: string): void;
  /** Whether moves are taken: not while another game is being opened. */
  ready(): boolean;
}

export class GoView implements View {
  private readonly root: SVGSVGElement;
  private readonly names = svg("g", { class: "names", "aria-hidden": "true" });
  private readonly stones = svg("g", { class: "stones" });
  private readonly ghost = svg("circle", { class: "ghost", r: RADIUS, visibility: "hidden" });
  private readonly aim = svg("rect", { class: "aim", width: 92, height: 92, rx: 12, visibility: "hidden" });
  /** Where the stones are, for those who do not see them. */
  private readonly words = el("p", { class: "unseen", id: fresh("stones") });
  private readonly last = svg("circle", { class: "last", r: 39, visibility: "hidden" });
  private readonly marks: GoMarks;
  private readonly black = fresh("black");
  private readonly white = fresh("white");
  private readonly drawn: (SVGGElement | null)[];
  private before = "";
  private node: Node | null = null;
  private looks: Looks | null = null;
  private cursor: number;
  private hovered: number | null = null;
  private previewed: string | null = null;
  private pending = false;

  constructor(
    host: HTMLElement,
    private readonly size: number,
    private readonly hands: GoHands | null,
  ) {
    this.cursor = Math.floor((size * size) / 2);
    this.drawn = new Array<SVGGElement | null>(size * size).fill(null);
    this.marks = new GoMarks(size);
    this.root = svg("svg", { class: hands ? "go" : "go still", role: hands ? "application" : "img" });
    if (hands) this.root.setAttribute("tabindex", "0");
    const side = (size + 3) * STEP;
    this.names.setAttribute("font-size", String(34 * this.scale));
    this.root.append(
      this.shades(),
      svg("path", { class: "wood", d: `M${-2 * STEP} ${-2 * STEP}h${side}v${side}h${-side}z` }),
      this.marks.ground,
      this.lines(),
      this.names,
      this.marks.below,
      this.stones,
      this.ghost,
      this.last,
      this.marks.above,
      this.aim,
    );
    for (const [text, x, y] of this.labels()) this.names.append(svg("text", { x, y }, text));
    host.replaceChildren(el("div", { class: "go-wrap" }));
    host.firstElementChild!.append(this.root);
    if (!hands) return;
    host.append(this.words);
    this.root.setAttribute("aria-describedby", this.words.id);
    this.listen();
  }

  draw(node: Node, picture: Picture, looks: Looks): void {
    if (node !== this.node) {
      this.pending = false;
      this.hovered = this.touchAim = null;
    }
    if (looks.coordinates !== this.looks?.coordinates) this.frame(looks.coordinates);
    this.node = node;
    this.looks = looks;
    const stones = node.stones ?? "";
    if (this.hands && (stones !== this.before || !this.words.textContent)) this.words.textContent = inStones(stones, this.size);
    if (stones !== this.before) this.place(stones);
    const move = node.move ? pointOf(node.move, this.size) : null;
    this.at(this.last, move !== null && stones[move] !== "." ? move : null);
    this.marks.draw(stones, picture, looks.small);
    this.marks.mark(stones, node.props);
    this.marks.sequence(stones, looks.numbers, Boolean(picture.liberties || picture.chains || picture.heat), node.props);
    this.haunt();
    const whose = node.turn === "b" ? texts.common.black : texts.common.white;
    const after = node.move ? node.san : "";
    const how = this.hands ? texts.goboard.how : "";
    this.root.setAttribute("aria-label", `${texts.goboard.about(this.size, whose, after)}${how}`);
    Object.assign(this.root.dataset, { after, turn: node.turn });
  }

  preview(move: string | null): void {
    this.previewed = move;
    this.marks.point(move === null ? null : pointOf(move, this.size));
    this.haunt();
  }

  destroy(): void {
    this.root.parentElement?.remove();
    this.words.remove();
  }

  /** The larger the board, the larger its names are in its own units. */
  private get scale(): number {
    return (this.size + 4) / 23;
  }

  private edge(coordinates: boolean): number {
    return coordinates ? EDGE + 56 * this.scale : EDGE;
  }

  private x(point: number): number {
    return (point % this.size) * STEP;
  }

  private y(point: number): number {
    return Math.floor(point / this.size) * STEP;
  }

  private at(element: SVGElement, point: number | null): void {
    element.setAttribute("visibility", point === null ? "hidden" : "visible");
    if (point !== null) element.setAttribute("transform", `translate(${this.x(point)} ${this.y(point)})`);
  }

  private place(stones: string): void {
    for (let point = 0; point < stones.length; point += 1) {
      if (stones[point] === (this.before[point] ?? ".")) continue;
      this.drawn[point]?.remove();
      this.drawn[point] = null;
      const letter = stones[point];
      if (letter !== "B" && letter !== "W") continue;
      const group = svg("g", { transform: `translate(${this.x(point)} ${this.y(point)})` });
      group.append(
        svg("circle", { class: "shadow", cx: 3, cy: 5, r: RADIUS }),
        svg("circle", {
          class: letter === "B" ? "black" : "white",
          r: RADIUS,
          fill: `url(#${letter === "B" ? this.black : this.white})`,
        }),
      );
      this.drawn[point] = group;
      this.stones.append(group);
    }
    this.before = stones;
  }

  /** Where a stone of the side to move would stand: what the pointer, the keys or a list point at. */
  private haunt(): void {
    const node = this.node;
    const listed = this.previewed ? pointOf(this.previewed, this.size) : null;
    const wanted = listed ?? this.hovered;
    const shows = node && wanted !== null && (listed !== null || this.playable(wanted));
    this.at(this.ghost, shows && node.stones?.[wanted] === "." ? wanted : null);
    if (node) this.ghost.setAttribute("fill", `url(#${node.turn === "b" ? this.black : this.white})`);
    this.at(this.aim, this.hands && this.focused ? this.cursor : null);
  }

  /** Whether the board takes a move now: not while one is on its way, nor in the other side's turn, nor after the end. */
  private get ready(): boolean {
    const sides = this.looks?.sides;
    const mine = sides === "both" || sides === this.node?.turn;
    return Boolean(this.hands?.ready() && mine && !this.pending && !this.node?.end);
  }

  private playable(point: number): boolean {
    return this.ready && this.node?.legal?.[point] === "1";
  }

  private async play(point: number): Promise<void> {
    if (this.hands?.edit(point) || !this.ready) return;
    const name = pointName(point, this.size);
    if (!this.playable(point)) {
      this.hands?.refuse(texts.goboard.not(name));
      return;
    }
    this.pending = true;
    this.hovered = null;
    this.haunt();
    try {
      await this.hands?.play(name);
    } catch {
      // What was wrong has been said; the board is as it was.
    }
    this.pending = false;
  }

  private focused = false;
  private touchAim: number | null = null;

  private listen(): void {
    const root = this.root;
    root.addEventListener("pointermove", (event) => {
      if (event.pointerType === "touch") return;
      const point = this.under(event);
      if (point === this.hovered) return;
      this.hovered = point;
      this.haunt();
    });
    root.addEventListener("pointerleave", () => {
      this.hovered = null;
      this.haunt();
    });
    // A click leaves the focus where it is, so that the arrow keys go on stepping through the game.
    root.addEventListener("mousedown", (event) => event.preventDefault());
    root.addEventListener("click", (event) => {
      const point = this.under(event);
      if (point === null) return;
      const touch = event instanceof PointerEvent && event.pointerType === "touch";
      // Points as close as a fingertip is wide: a first touch aims, a second one plays.
      if (touch && this.spacing() < 30 && this.touchAim !== point && this.playable(point)) {
        this.touchAim = this.hovered = point;
        this.haunt();
        this.hands?.say(texts.goboard.tap(pointName(point, this.size)));
        return;
      }
      void this.play(point);
    });
    root.addEventListener("focus", () => {
      this.focused = root.matches(":focus-visible");
      this.haunt();
    });
    root.addEventListener("blur", () => {
      this.focused = false;
      this.haunt();
    });
    root.addEventListener("keydown", (event) => this.key(event));
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const across = { ArrowLeft: -1, ArrowRight: 1 }[event.key] ?? 0;
    const down = { ArrowUp: -1, ArrowDown: 1 }[event.key] ?? 0;
    if (across || down) {
      const clamp = (value: number): number => Math.max(0, Math.min(this.size - 1, value));
      const column = clamp((this.cursor % this.size) + across);
      this.cursor = clamp(Math.floor(this.cursor / this.size) + down) * this.size + column;
      const there = { B: texts.goboard.blackStone, W: texts.goboard.whiteStone }[this.node?.stones?.[this.cursor] ?? ""] ?? texts.goboard.empty;
      this.hands?.say(`${pointName(this.cursor, this.size)}, ${there}`);
      this.haunt();
    } else if (event.key === "Enter" || event.key === " ") void this.play(this.cursor);
    else if (event.key === "Escape") this.root.blur();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Pixels between two lines. */
  private spacing(): number {
    return this.root.getBoundingClientRect().width / (this.size + 1);
  }

  private under(event: MouseEvent): number | null {
    const matrix = this.root.getScreenCTM();
    if (!matrix) return null;
    const place = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix.inverse());
    const across = Math.round(place.x / STEP);
    const down = Math.round(place.y / STEP);
    const inside = across >= 0 && down >= 0 && across < this.size && down < this.size;
    return inside ? down * this.size + across : null;
  }

  private frame(coordinates: boolean): void {
    const edge = this.edge(coordinates);
    const side = (this.size - 1) * STEP + 2 * edge;
    this.root.setAttribute("viewBox", `${-edge} ${-edge} ${side} ${side}`);
    this.names.setAttribute("visibility", coordinates ? "visible" : "hidden");
  }

  private lines(): SVGGElement {
    const end = (this.size - 1) * STEP;
    const path = Array.from({ length: this.size }, (_, i) => `M0 ${i * STEP}h${end}M${i * STEP} 0v${end}`).join("");
    const dots = stars(this.size).map((point) => svg("circle", { cx: this.x(point), cy: this.y(point), r: 11 }));
    return svg("g", { class: "grid" }, svg("path", { d: path }), ...dots);
  }

  private labels(): [string, number, number][] {
    const far = (this.size - 1) * STEP;
    const away = 50 + 34 * this.scale;
    return Array.from({ length: this.size }, (_, i) => i).flatMap((i): [string, number, number][] => [
      [column(i), i * STEP, -away],
      [column(i), i * STEP, far + away],
      [String(this.size - i), -away, i * STEP],
      [String(this.size - i), far + away, i * STEP],
    ]);
  }

  private shades(): SVGDefsElement {
    const shade = (id: string, ...stops: [number, string][]): SVGRadialGradientElement =>
      svg(
        "radialGradient",
        { id, cx: 0.36, cy: 0.3, r: 0.75 },
        ...stops.map(([offset, colour]) => svg("stop", { offset, "stop-color": colour })),
      );
    return svg(
      "defs",
      {},
      shade(this.black, [0, "#5a5d61"], [0.45, "#2a2c2f"], [1, "#131416"]),
      shade(this.white, [0, "#ffffff"], [0.6, "#f4f2ec"], [1, "#d3cfc5"]),
    );
  }
}
