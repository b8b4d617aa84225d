/** Clocks of a game that is played here. What a side has left stands in the record, after each of its moves. */

import type { App, Game, Node } from "../app/state";
import { decimals, texts } from "../texts";

export type Side = "w" | "b";

/** Seconds for the game, and seconds that each move adds. */
export interface Control {
  base: number;
  increment: number;
}

/** The choices of a time control; "" for none. */
export const CONTROLS: readonly [string, string][] = [
  ["", texts.clock.none],
  ["60+0", "1 min"],
  ["180+2", "3 min + 2 s"],
  ["300+0", "5 min"],
  ["300+3", "5 min + 3 s"],
  ["600+5", "10 min + 5 s"],
  ["900+10", "15 min + 10 s"],
  ["1800+0", "30 min"],
];

/** "300+3" as PGN has it; null for no clock. */
export function controlOf(text: string): Control | null {
  const parts = /^(\d+)\+(\d+)$/.exec(text);
  return parts ? { base: Number(parts[1]), increment: Number(parts[2]) } : null;
}

/** So many last seconds are shown with tenths, and stand out. */
const LOW = 20;
/** Between two drawings of a clock, ms. */
export const TICK = 100;

/** What a clock shows: "5:00", "1:02:03", "0:09.4". */
export function face(seconds: number): string {
  const left = Math.max(0, seconds);
  if (left < LOW) return decimals(`0:${(Math.floor(left * 10) / 10).toFixed(1).padStart(4, "0")}`);
  // Seconds that have passed in part are gone, as in a record's move list.
  const whole = Math.floor(left);
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const tail = String(rest).padStart(2, "0");
  return hours ? `${hours}:${String(minutes).padStart(2, "0")}:${tail}` : `${minutes}:${tail}`;
}

/** As PGN writes it: "0:04:53.2". */
function written(seconds: number): string {
  const tenths = Math.max(0, Math.floor(seconds * 10 + 1e-6));
  const two = (value: number): string => String(value).padStart(2, "0");
  return `${Math.floor(tenths / 36000)}:${two(Math.floor(tenths / 600) % 60)}:${two(Math.floor(tenths / 10) % 60)}.${tenths % 10}`;
}

/** Seconds of "0:04:53.2"; null where it is no time. */
function read(text: string | undefined): number | null {
  const parts = /^(\d+):(\d{1,2}):(\d{1,2}(?:\.\d+)?)$/.exec(text ?? "");
  return parts ? Number(parts[1]) * 3600 + Number(parts[2]) * 60 + Number(parts[3]) : null;
}

/** The seconds that the mover had left after the move to a position, where the record says it. */
export function leftAfter(game: Game, node: Node): number | null {
  if (game.kind === "chess") return read(node.commands?.clk);
  const mover = node.parent === null ? undefined : game.nodes.get(node.parent)?.turn;
  const value = Number(node.props?.[mover === "w" ? "WL" : "BL"]?.[0] || NaN);
  return Number.isFinite(value) ? value : null;
}

/** Writes into the record what the mover had left. */
function write(game: Game, node: Node, seconds: number): void {
  if (game.kind === "chess") node.commands = { ...node.commands, clk: written(seconds) };
  else {
    const mover = game.nodes.get(node.parent!)!.turn;
    node.props = { ...node.props, [mover === "w" ? "WL" : "BL"]: [seconds.toFixed(1)] };
  }
}

/** Both clocks of a game, which a turn begins and a move stops. Time passes whether the page is looked at or not. */
export class Clock {
  /** When the present turn began, ms since 1970; null while no clock runs. */
  since: number | null = null;

  constructor(
    readonly control: Control,
    private readonly app: App,
    /** The position at which the game began. */
    private readonly start: number,
  ) {}

  /** Seconds that a side has at a position, the present turn not counted. */
  at(id: number, side: Side): number {
    const { game } = this.app;
    for (let node = game.nodes.get(id); node && node.id !== this.start && node.parent !== null; node = game.nodes.get(node.parent)) {
      if (game.nodes.get(node.parent)?.turn !== side) continue;
      const left = leftAfter(game, node);
      if (left !== null) return left;
    }
    return this.control.base;
  }

  /** Begins the turn at a position. A side's first move is free, so that nobody loses time while the page is arranged. */
  begin(id: number): void {
    this.since = this.moves(id) < 2 ? null : Date.now();
  }

  /** Seconds of the side to move at a position, now. */
  now(id: number): number {
    const turn = this.app.node(id).turn;
    return this.at(id, turn) - (this.since === null ? 0 : (Date.now() - this.since) / 1000);
  }

  /** A move was made: what is left to its side, with the increment, stands in the record. False where its time was over. */
  moved(id: number): boolean {
    const { game } = this.app;
    const node = this.app.node(id);
    const left = this.now(node.parent!);
    const free = this.since === null;
    this.since = null;
    if (left <= 0) return false;
    write(game, node, left + (free ? 0 : this.control.increment));
    return true;
  }

  private moves(id: number): number {
    const { game } = this.app;
    let count = 0;
    for (let node = game.nodes.get(id); node && node.id !== this.start && node.parent !== null; node = game.nodes.get(node.parent)) count += 1;
    return count;
  }

  /** The seconds that a network may spend on its move: a share of what it has, and most of the increment. */
  budget(id: number): number {
    const left = this.now(id);
    return Math.max(0.05, Math.min(left / 30 + 0.7 * this.control.increment, 0.4 * left) - OVERHEAD);
  }
}

/** What the way to the server and back takes, s. */
const OVERHEAD = 0.05;

/** What a clock at the board shows. */
export interface Shown {
  text: string;
  runs: boolean;
  low: boolean;
}

/** The clocks at the board while a game is played: what stands in the record is shown where there are none. */
class Faces {
  private of: ((side: Side) => Shown | null) | null = null;
  private readonly listeners = new Set<() => void>();

  on(listener: () => void): void {
    this.listeners.add(listener);
  }

  show(of: ((side: Side) => Shown | null) | null): void {
    this.of = of;
    this.changed();
  }

  changed(): void {
    for (const listener of this.listeners) listener();
  }

  side(side: Side): Shown | null {
    return this.of?.(side) ?? null;
  }
}

export const faces = new Faces();

export function shownAs(seconds: number, runs: boolean): Shown {
  return { text: face(seconds), runs, low: seconds < LOW };
}
