/** Who plays, above and below the board: name, rating, and what each has captured. */

import { faces } from "./clock";
import { el } from "../ui/elements";
import { clockOf } from "../app/notes";
import type { App } from "../app/state";
import { texts } from "../texts";

type Side = "w" | "b";

/** Pieces by their letter in a FEN, and their worth in pawns. */
const PIECES: readonly [string, number][] = [
  ["q", 9],
  ["r", 5],
  ["b", 3],
  ["n", 3],
  ["p", 1],
];
/** What a game of chess begins with, most often; also where nothing is said. */
const USUAL = /^(rnbqkbnr\/pppppppp\/8\/8\/8\/8\/PPPPPPPP\/RNBQKBNR w.*)?$/;
const START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR";
const FIGURES: Record<string, string> = { q: "♛", r: "♜", b: "♝", n: "♞", p: "♟" };

export function mountPlayers(above: HTMLElement, below: HTMLElement, app: App): void {
  const rows = [new PlayerRow(above), new PlayerRow(below)];
  const draw = (): void => {
    const { kind } = app.game;
    // White is below in chess; of Go, Black, who begins.
    const first: Side = kind === "chess" ? (app.flipped ? "b" : "w") : "b";
    const sides: [Side, Side] = first === "w" ? ["b", "w"] : ["w", "b"];
    sides.forEach((side, index) => rows[index]?.draw(app, side));
  };
  for (const event of ["game", "tree", "cursor", "settings"] as const) app.on(event, draw);
  const first = (): Side => (app.game.kind === "go" || app.flipped ? "b" : "w");
  faces.on(() => rows.forEach((row, index) => row.time(app, index === 1 ? first() : first() === "w" ? "b" : "w")));
  draw();
}

class PlayerRow {
  private readonly name = el("span", { class: "name" });
  private readonly rating = el("span", { class: "rating" });
  /** Shown where no move says whose turn it is. */
  private readonly turn = el("span", { class: "to-move", hidden: true }, texts.players.toMove);
  private readonly captured = el("span", { class: "captured", "aria-hidden": "true" });
  private readonly lead = el("span", { class: "lead" });
  private readonly clock = el("span", { class: "clock", title: texts.players.timeSaid });
  private key = "";

  constructor(host: HTMLElement) {
    host.replaceChildren(this.name, this.rating, this.turn, this.captured, this.lead, this.clock);
  }

  /** The clock of a game that is played, or what the record says. */
  time(app: App, side: Side): void {
    const live = faces.side(side);
    const text = live?.text ?? clockOf(app, side);
    if (this.clock.textContent !== text) this.clock.textContent = text;
    this.clock.classList.toggle("live", live !== null);
    this.clock.classList.toggle("runs", live?.runs ?? false);
    this.clock.classList.toggle("low", live?.low ?? false);
    const title = live ? texts.players.time : texts.players.timeSaid;
    if (this.clock.title !== title) this.clock.title = title;
  }

  draw(app: App, side: Side): void {
    const { kind, headers } = app.game;
    const node = app.node();
    const white = side === "w";
    const named = (...names: string[]): string => names.map((name) => headers[name]).find((each) => each && each !== "?") ?? "";
    this.name.textContent = (white ? named("White", "PW") : named("Black", "PB")) || (white ? texts.common.white : texts.common.black);
    this.rating.textContent = white ? named("WhiteElo", "WR") : named("BlackElo", "BR");
    this.turn.hidden = !tellsTurn(app) || node.turn !== side;
    this.time(app, side);
    const pieces = kind === "chess" ? takenBy(side, node.fen ?? "", app.node(app.game.root).fen) : { figures: [] as string[], lead: 0 };
    const stones = kind === "go" ? (node.captured?.[white ? "W" : "B"] ?? 0) : 0;
    const key = `${pieces.figures.join(" ")} ${pieces.lead} ${stones}`;
    if (key === this.key) return;
    this.key = key;
    this.captured.replaceChildren(...pieces.figures.map((figures) => el("span", {}, figures)));
    this.lead.textContent = pieces.lead > 0 ? `+${pieces.lead}` : "";
    if (stones) this.lead.textContent = texts.players.captures(stones);
    this.lead.title = pieces.lead > 0 ? texts.players.ahead(pieces.lead) : "";
  }
}

/** Whether the side to move is told: at the beginning of a game that does not begin as usual. */
export function tellsTurn(app: App): boolean {
  const { kind, start, root } = app.game;
  const node = app.node();
  if (node.id !== root || node.end) return false;
  return kind === "chess" ? !USUAL.test(start.fen ?? "") : node.turn !== "b" || /[BW]/.test(node.stones ?? "");
}

/**
 * Figures of what a side has taken since the game began at `start`, by kind, and its lead in material. What promotions
 * added is not counted as taken.
 */
export function takenBy(side: Side, fen: string, start = START): { figures: string[]; lead: number } {
  const count = (letter: string, position: string): number => (position.split(" ")[0] ?? "").split(letter).length - 1;
  const mine = (letter: string): number => count(side === "w" ? letter.toUpperCase() : letter, fen);
  const theirs = (letter: string, position = fen): number => count(side === "w" ? letter : letter.toUpperCase(), position);
  const figures = PIECES.map(([letter]) => (FIGURES[letter] ?? "").repeat(Math.max(0, theirs(letter, start) - theirs(letter))));
  const lead = PIECES.reduce((sum, [letter, worth]) => sum + worth * (mine(letter) - theirs(letter)), 0);
  return { figures: figures.filter(Boolean), lead };
}
