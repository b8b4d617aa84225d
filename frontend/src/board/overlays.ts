/** What lies over a board. The panels choose it here, the boards draw it. */

import type { App, Node, Result } from "../app/state";
import { decimals } from "../texts";

/** The one coloured layer that is shown: of chess the first five, of Go all but "origin" and "target". */
export type Layer = "none" | "origin" | "target" | "matters" | "planes" | "owners" | "liberties" | "chains";

/** Values of the squares a1, b1 … h8, or of the points from the upper left. "signed": of either sign. */
export interface Heat {
  kind: "origin" | "target" | "plane" | "signed";
  values: readonly number[];
}

export interface Candidate {
  move: string;
  san: string;
  p: number;
}

/** All that a board shows beside the position. */
export interface Picture {
  heat: Heat | null;
  moves: readonly Candidate[];
  /** Whether the first of them is the best by a search. */
  best: boolean;
  owners: readonly number[] | null;
  /** Of a counted position: vertices of the dead stones. */
  dead?: readonly string[];
  /** 0: not shown; else the count from which the network is told "so many or more", Infinity where it is told all. */
  liberties: number;
  chains: boolean;
}

export const NOTHING: Picture = { heat: null, moves: [], best: false, owners: null, liberties: 0, chains: false };

/** How a board is shown. `sides`: whose stones and pieces may be played. `small`: no numbers. */
export interface Looks {
  flipped: boolean;
  coordinates: boolean;
  sides: Sides;
  /** The side that may make a move before its turn. */
  early?: "w" | "b" | null;
  small: boolean;
  /** Of Go: the numbers of moves on stones, by point. */
  numbers?: ReadonlyMap<number, number>;
}

export type Sides = "both" | "w" | "b" | "none";

/** A board on the page, of either game. */
export interface View {
  draw(node: Node, picture: Picture, looks: Looks): void;
  preview(move: string | null): void;
  destroy(): void;
}

/** The count of a game of Go in the terms of a network's answer: Black's result, 1, 0 or 0.5; Black's lead; the owner of each point, 1 Black, 0 White, 0.5 nobody. */
export interface Count {
  black: number;
  score: number;
  owners: number[];
  /** Vertices of the dead stones. */
  dead: string[];
}

/** What is chosen to be shown, and answers that were asked for. One for the whole page. */
class Shown {
  layers: { chess: Layer; go: Layer } = { chess: "none", go: "owners" };
  moves = true;
  /** The piece whose targets are shown. */
  square: string | null = null;
  /** Of networks of Go: the count of liberties from which they are told "so many or more". */
  readonly grains = new Map<string, number>();
  /** A move that a list points at. */
  preview: string | null = null;
  /** Whose moves the board takes; a game against a network narrows it. */
  sides: Sides = "both";
  /** The count of a game of Go that is over: the position, of each point 1 for Black, 0 for White, 0.5 for nobody, and vertices of the dead stones. */
  count: { node: number; owners: number[]; dead: string[] } | null = null;
  /** The positions that were counted. Node numbers are those of the game that is shown. */
  readonly counts = new Map<number, Count>();
  /** Told how a game of Go was counted. */
  counted: ((winner: "w" | "b" | "draw", words: string) => void) | null = null;
  /** Who may make a move before their turn: a person, while a network of chess thinks. */
  early: "w" | "b" | null = null;
  /** Makes such a move, "g1f3", on the board; whether it did. */
  ahead: ((move: string) => boolean) | null = null;
  /** In a game against a network: what resigning does. */
  resign: (() => void) | null = null;
  private first: { node: Node; network: string; move: Candidate | null } | null = null;
  private heat: { node: Node; heat: Heat } | null = null;
  private readonly listeners = new Set<() => void>();

  on(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  changed(): void {
    for (const listener of [...this.listeners]) listener();
  }

  /** An answer for one position; it is shown as long as that position is. */
  answer(node: Node, heat: Heat | null): void {
    this.heat = heat && { node, heat };
    this.changed();
  }

  /** The best move of a search of one position; it has an arrow as long as that position is shown. */
  found(node: Node, network: string, move: Candidate | null): void {
    if (this.first?.node === node && this.first.network === network && this.first.move?.move === move?.move) return;
    this.first = { node, network, move };
    this.changed();
  }

  best(node: Node, network: string | null): Candidate | null {
    return this.first?.node === node && this.first.network === network ? this.first.move : null;
  }

  asked(node: Node): Heat | null {
    return this.heat && this.heat.node === node ? this.heat.heat : null;
  }

  pick(square: string | null): void {
    if (square === this.square) return;
    this.square = square;
    this.changed();
  }

  point(move: string | null): void {
    if (move === this.preview) return;
    this.preview = move;
    this.changed();
  }
}

export const shown = new Shown();

/** What the chosen layer makes of a network's answer to one position. */
export function picture(app: App, node: Node, result: Result | undefined): Picture {
  if (shown.count?.node === node.id) return { ...NOTHING, owners: shown.count.owners, dead: shown.count.dead };
  if (!app.hints) return NOTHING;
  const layer = shown.layers[app.game.kind];
  const asked = layer === "target" || layer === "matters" || layer === "planes" ? shown.asked(node) : null;
  const best = shown.best(node, app.network);
  return {
    heat: layer === "origin" && result?.origin ? { kind: "origin", values: result.origin } : asked,
    moves: shown.moves ? likely(result, best) : [],
    best: best !== null,
    owners: layer === "owners" ? (result?.owners ?? null) : null,
    liberties: layer === "liberties" ? (shown.grains.get(app.network ?? "") ?? Infinity) : 0,
    chains: layer === "chains",
  };
}

/** The moves worth an arrow: up to five, of 2% and more; the best move of a search always has one, the first. */
export function likely(result: Result | undefined, best?: Candidate | null): Candidate[] {
  const moves = (result?.moves ?? []).filter((each, index) => index < 5 && (index === 0 || each.p >= 0.02));
  if (!best) return moves;
  return [best, ...moves.filter((each) => each.move !== best.move)].slice(0, Math.max(1, moves.length));
}

/** Strength 0..1 of the tint for each value, and what is written there ("" where nothing is). */
export function tints(heat: Heat): { strength: number; negative: boolean; text: string }[] {
  const values = heat.values;
  if (heat.kind === "origin" || heat.kind === "target") {
    // Roots, since many probabilities are small and the eye should see them.
    return values.map((value) => ({
      strength: value >= 0.005 ? Math.min(0.9, Math.sqrt(value)) : 0,
      negative: false,
      text: value >= 0.01 ? String(Math.round(value * 100)) : "",
    }));
  }
  const largest = Math.max(...values.map(Math.abs), heat.kind === "signed" ? 0.02 : 1e-9);
  return values.map((value) => {
    const share = Math.abs(value) / largest;
    return { strength: share < 0.02 ? 0 : 0.12 + 0.75 * share, negative: value < 0, text: numeral(heat, value) };
  });
}

function numeral(heat: Heat, value: number): string {
  if (heat.kind === "signed") {
    const points = Math.round(value * 100);
    return points === 0 ? "" : points > 0 ? `+${points}` : `−${-points}`;
  }
  const rounded = value.toFixed(2);
  if (Number(rounded) === 0 || Math.abs(value) === 1) return "";
  return decimals(
    rounded
      .replace(/^(-?)0\./, "$1.")
      .replace("-", "−"),
  );
}
