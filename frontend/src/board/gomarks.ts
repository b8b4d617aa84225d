/** What lies under and over the stones of a Go board: owners, heat, moves, liberties and chains. */

import { svg } from "../ui/elements";
import { chains, ownersOfChains, pointOf } from "./gopoints";
import { tints, type Heat, type Picture } from "./overlays";

const STEP = 100;
/** The side of a square where the value is the largest there can be. */
const LARGEST = 56;
/** The side of a square on a stone that is not its owner's. */
const DEAD = 40;
/** Certainties from which on an owner's shade is stronger. */
const SHADES = [0.1, 0.35, 0.6, 0.85];
/** A certainty from which on a stone is marked as the other side's. */
const TAKEN = 0.3;

/** An SGF's marks as paths around a point. */
const MARKS: readonly [string, string][] = [
  ["TR", "M0 -30L27 18H-27z"],
  ["SQ", "M-21 -21h42v42h-42z"],
  ["MA", "M-22 -22L22 22M-22 22L22 -22"],
  ["CR", "M-25 0a25 25 0 1 0 50 0a25 25 0 1 0 -50 0z"],
];

/** The points of "aa", or of the rectangle "aa:cc". */
export function pointsOf(values: readonly string[], size: number): number[] {
  const place = (text: string): [number, number] => [text.charCodeAt(0) - 97, text.charCodeAt(1) - 97];
  return values.flatMap((value) => {
    const match = /^([a-s]{2})(?::([a-s]{2}))?$/.exec(value.trim());
    if (!match) return [];
    const [left, top] = place(match[1]!);
    const [right, bottom] = place(match[2] ?? match[1]!);
    const found: number[] = [];
    for (let row = top; row <= bottom; row += 1) for (let at = left; at <= right; at += 1) if (row < size && at < size) found.push(row * size + at);
    return found;
  });
}

const KINDS = ["black", "white", "plane", "positive", "negative"] as const;
type Kind = (typeof KINDS)[number];

export class GoMarks {
  /** Under the lines: shades of territory. */
  readonly ground = svg("g", { class: "shades", "aria-hidden": "true" });
  /** Under the stones: discs of likely moves, on empty points. */
  readonly below = svg("g", { class: "moves", "aria-hidden": "true" });
  readonly above = svg("g", { class: "marks", "aria-hidden": "true" });
  private readonly paths: Record<Kind, SVGPathElement>;
  /** One for each strength, Black's first; all points of a strength are one path. */
  private readonly shades = (["black", "white"] as const).map((kind) => SHADES.map((_, strength) => svg("path", { class: `shade ${kind} of-${strength}`, d: "" })));
  private readonly links = svg("g", { class: "links" });
  private readonly counts = svg("g", { class: "counts" });
  /** The record's own marks. */
  private readonly markup = svg("g", { class: "markup" });
  private marked = "";
  /** The numbers of moves. */
  private readonly order = svg("g", { class: "counts order" });
  private ordered = "";
  /** Stones marked as the other side's. */
  private readonly taken = new Set<number>();
  private readonly moves = new Map<number, SVGGElement>();
  private key = "";
  private told = "";

  constructor(private readonly size: number) {
    const paths = KINDS.map((kind) => [kind, svg("path", { class: `square ${kind}`, d: "" })] as const);
    this.paths = Object.fromEntries(paths) as Record<Kind, SVGPathElement>;
    this.ground.append(...this.shades.flat());
    this.above.append(this.links, ...Object.values(this.paths), this.counts, this.order, this.markup);
  }

  draw(stones: string, picture: Picture, small: boolean): void {
    this.suggest(stones, picture, small);
    this.shade(picture.owners);
    this.taken.clear();
    if (picture.owners) this.owners(stones, picture.owners, picture.dead);
    else this.heat(picture.heat, stones);
    const { heat, liberties } = picture;
    const numbered = heat && counts(heat) ? heat.values.join() : "";
    const told = liberties || picture.chains || numbered ? [liberties, picture.chains, stones, numbered].join(" ") : "";
    if (told === this.told) return;
    this.told = told;
    this.links.replaceChildren();
    this.counts.replaceChildren();
    if (numbered) this.number(stones, heat!.values);
    else if (told) this.tell(stones, picture);
  }

  /** Letters, triangles, squares, crosses and circles that an SGF has at a position. */
  mark(stones: string, props: Record<string, string[]> | undefined): void {
    const told = props ? JSON.stringify([stones, MARKS.map(([name]) => props[name]), props.LB]) : "";
    if (told === this.marked) return;
    this.marked = told;
    this.markup.replaceChildren();
    const add = (point: number, make: (on: string) => SVGElement): void => {
      const on = stones[point] === "B" ? "on-black" : stones[point] === "W" ? "on-white" : "on-wood";
      const made = make(on);
      made.setAttribute("transform", `translate(${(point % this.size) * STEP} ${Math.floor(point / this.size) * STEP})`);
      this.markup.append(made);
    };
    for (const [name, d] of MARKS) {
      for (const point of pointsOf(props?.[name] ?? [], this.size)) add(point, (on) => svg("path", { d, class: on }));
    }
    for (const label of props?.LB ?? []) {
      const [, place = "", text = ""] = /^([a-z]{2}):([^]*)$/.exec(label.trim()) ?? [];
      const shown = text.replace(/\\([^])/g, "$1").slice(0, 4);
      for (const point of pointsOf([place], this.size)) add(point, (on) => svg("text", { class: `${on} of-${Math.min(3, shown.length)}` }, shown));
    }
  }

  /** Numbers of moves on stones. covered: whether other numbers or lines are on the stones. Stones with marks of the record have none. On a square of the other side, a number has an outline. */
  sequence(stones: string, numbers: ReadonlyMap<number, number> | undefined, covered: boolean, props: Record<string, string[]> | undefined): void {
    const marks = numbers?.size ? [...MARKS.flatMap(([name]) => props?.[name] ?? []), ...(props?.LB ?? []).map((label) => label.trim().slice(0, 2))] : [];
    const marked = new Set(pointsOf(marks, this.size));
    const told = covered || !numbers ? [] : [...numbers].filter(([point]) => !marked.has(point));
    const key = JSON.stringify([told, told.map(([point]) => [stones[point], this.taken.has(point)])]);
    if (key === this.ordered) return;
    this.ordered = key;
    this.order.replaceChildren(
      ...told.map(([point, number]) => {
        const taken = this.taken.has(point);
        const on = `${(stones[point] === "B") !== taken ? "on-black" : "on-white"}${taken ? " outlined" : ""}`;
        const [x, y] = [(point % this.size) * STEP, Math.floor(point / this.size) * STEP];
        return svg("text", { x, y, class: `${on} of-${String(number).length}` }, String(number));
      }),
    );
  }

  /** Makes the move that a list points at stand out. */
  point(point: number | null): void {
    for (const [each, group] of this.moves) group.classList.toggle("pointed", each === point);
  }

  /** Territory, the darker or lighter the surer. */
  private shade(owners: readonly number[] | null): void {
    const drawn = this.shades.map((strengths) => strengths.map(() => ""));
    owners?.forEach((black, point) => {
      const sure = Math.abs(2 * black - 1);
      const strength = SHADES.findLastIndex((least) => sure >= least);
      if (strength < 0) return;
      const x = (point % this.size) * STEP - STEP / 2;
      const y = Math.floor(point / this.size) * STEP - STEP / 2;
      drawn[black > 0.5 ? 0 : 1]![strength] += `M${x} ${y}h${STEP}v${STEP}h${-STEP}z`;
    });
    this.shades.forEach((strengths, kind) =>
      strengths.forEach((path, strength) => {
        const d = drawn[kind]![strength]!;
        if (path.getAttribute("d") !== d) path.setAttribute("d", d);
      }),
    );
  }

  /** Stones that will belong to the other side, and dead stones, also those on points that count for nobody. */
  private owners(stones: string, owners: readonly number[], dead: readonly string[] = []): void {
    const owns = ownersOfChains(stones, owners, this.size);
    for (const point of dead.map((name) => pointOf(name, this.size))) if (point !== null) owns[point] = stones[point] === "W" ? 1 : 0;
    this.squares((point) => {
      const black = owns[point] ?? 0.5;
      const kind = black > 0.5 ? "black" : "white";
      const taken = stones[point] === (kind === "black" ? "W" : "B") && Math.abs(2 * black - 1) >= TAKEN;
      if (taken) this.taken.add(point);
      return [kind, taken ? DEAD : 0];
    });
  }

  private heat(heat: Heat | null, stones: string): void {
    const drawn = heat && !counts(heat) ? tints(heat) : null;
    this.squares((point) => {
      const tint = drawn?.[point];
      // A plane that is 1 all over would hide the board, so empty points get smaller squares.
      const most = stones[point] === "." ? LARGEST - 16 : LARGEST;
      const kind = tint?.negative ? "negative" : heat?.kind === "signed" ? "positive" : "plane";
      return [kind, tint?.strength ? most * Math.sqrt(tint.strength / 0.87) : 0];
    });
  }

  /** Squares of every kind. All of a kind are one path: 361 elements would cost more than all else of a step. */
  private squares(of: (point: number) => [Kind, number]): void {
    const drawn: Record<Kind, string> = { black: "", white: "", plane: "", positive: "", negative: "" };
    for (let point = 0; point < this.size * this.size; point += 1) {
      const [kind, side] = of(point);
      const rounded = Math.round(side);
      if (rounded <= 0) continue;
      const x = (point % this.size) * STEP - rounded / 2;
      const y = Math.floor(point / this.size) * STEP - rounded / 2;
      drawn[kind] += `M${x} ${y}h${rounded}v${rounded}h${-rounded}z`;
    }
    for (const kind of KINDS) {
      const path = this.paths[kind];
      if (path.getAttribute("d") !== drawn[kind]) path.setAttribute("d", drawn[kind]);
    }
  }

  /** Numbers of liberties, or lines between the stones of a chain. */
  private tell(stones: string, picture: Picture): void {
    const found = chains(stones, this.size);
    found.forEach((chain, point) => {
      if (!chain) return;
      const x = (point % this.size) * STEP;
      const y = Math.floor(point / this.size) * STEP;
      const on = stones[point] === "B" ? "on-black" : "on-white";
      if (picture.liberties) {
        // As many as the network does not count any more are the usual.
        if (chain.liberties >= picture.liberties) return;
        const few = chain.liberties === 1 ? " few" : "";
        this.counts.append(svg("text", { x, y, class: `${on}${few}` }, String(chain.liberties)));
        return;
      }
      const path: string[] = [];
      if ((point + 1) % this.size && found[point + 1] === chain) path.push(`M${x} ${y}h${STEP}`);
      if (found[point + this.size] === chain) path.push(`M${x} ${y}v${STEP}`);
      if (path.length) this.links.append(svg("path", { d: path.join(""), class: on }));
      this.links.append(svg("circle", { cx: x, cy: y, r: 12, class: on }));
    });
  }

  /** A plane of numbers: each on its stone. */
  private number(stones: string, values: readonly number[]): void {
    values.forEach((value, point) => {
      if (!value) return;
      const on = stones[point] === "B" ? "on-black" : "on-white";
      const x = (point % this.size) * STEP;
      this.counts.append(svg("text", { x, y: Math.floor(point / this.size) * STEP, class: on }, String(value)));
    });
  }

  private suggest(stones: string, picture: Picture, small: boolean): void {
    const key = picture.moves.length
      ? JSON.stringify([small, stones, picture.moves.map(({ move, p }) => [move, p])])
      : "";
    if (key === this.key) return;
    this.key = key;
    this.below.replaceChildren();
    this.moves.clear();
    picture.moves.forEach(({ move, p }, index) => {
      const point = pointOf(move, this.size);
      if (point === null || stones[point] !== ".") return;
      const group = svg("g", {
        class: index === 0 ? "move first" : "move",
        transform: `translate(${(point % this.size) * STEP} ${Math.floor(point / this.size) * STEP})`,
      });
      group.append(svg("circle", { r: 44 }));
      if (!small) group.append(svg("text", {}, String(Math.round(p * 100))));
      this.moves.set(point, group);
      this.below.append(group);
    });
  }
}

/** Whether a plane counts something: whole numbers, and more than 0 and 1. */
function counts({ kind, values }: Heat): boolean {
  return kind === "plane" && values.some((value) => value > 1) && values.every(Number.isInteger);
}
