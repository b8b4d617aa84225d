/** A chess board: chessground, with a layer of heat under its pieces and numbers over them. */

import { Chessground } from "@lichess-org/chessground";
import type { Api as Ground } from "@lichess-org/chessground/api";
import type { DrawShape } from "@lichess-org/chessground/draw";
import type { Color, Dests, Elements, Key, Memo } from "@lichess-org/chessground/types";
import "@lichess-org/chessground/assets/chessground.base.css";
import "@lichess-org/chessground/assets/chessground.cburnett.css";

import { el, fresh, svg } from "../ui/elements";
import { tints, type Heat, type Looks, type Picture, type View } from "./overlays";
import type { Node } from "../app/state";
import { lettered, texts } from "../texts";

/** How long a piece glides, ms; steps that follow one another faster than that do not glide. */
const GLIDE = 130;

const colour = (letter: "w" | "b"): Color => (letter === "w" ? "white" : "black");

/** "e2" of a move "e2e4", and "e4". */
const from = (move: string): Key => move.slice(0, 2) as Key;
const to = (move: string): Key => move.slice(2, 4) as Key;

export interface Hands {
  /** A move was made on the board. Rejects where it is refused; the board then goes back. */
  play(move: string): Promise<unknown>;
  /** A piece that may move was chosen. */
  picked(square: string): void;
  /** Circles and arrows were drawn, or taken away; all that are there now. */
  drawn(shapes: string[]): void;
  say(text: string): void;
  /** Says why a move cannot be made. */
  refuse(text: string): void;
  /** Given what makes a typed move ahead of its turn; null when the board goes. */
  ahead(make: ((move: string) => boolean) | null): void;
}

/** A PGN's letters of colours. */
const COLOURS: Record<string, string> = { G: "green", R: "red", Y: "yellow", B: "blue" };

function shapeOf(text: string): DrawShape {
  const shape: DrawShape = { orig: text.slice(1, 3) as Key, brush: COLOURS[text[0]!] ?? "green" };
  if (text.length > 3) shape.dest = text.slice(3, 5) as Key;
  return shape;
}

const textOf = ({ brush, orig, dest }: DrawShape): string =>
  `${Object.keys(COLOURS).find((each) => COLOURS[each] === brush) ?? "G"}${orig}${dest ?? ""}`;

export class ChessView implements View {
  private readonly wrap = el("div", { class: "chess" });
  private readonly ground: Ground;
  private readonly heat = new HeatLayer();
  /** Where the pieces are, for those who do not see them. */
  private readonly words = el("p", { class: "unseen", id: fresh("pieces") });
  private readonly brush = fresh("move");
  private node: Node | null = null;
  private looks: Looks | null = null;
  private shapes: DrawShape[] = [];
  private previewed: string | null = null;
  private drawnAt = 0;
  /** A move was made here and is not yet a node. */
  private pending = false;
  /** The square of the piece that was chosen when the board was last pressed. */
  private chosen: Key | undefined;
  private closeDialog: (() => void) | null = null;
  private readonly escape = (event: KeyboardEvent): void => {
    if (event.key === "Escape" && this.cancel()) event.preventDefault();
  };
  private readonly calm = window.matchMedia("(prefers-reduced-motion: reduce)");

  constructor(
    host: HTMLElement,
    private readonly hands: Hands | null,
  ) {
    this.wrap.setAttribute("role", hands ? "group" : "img");
    host.replaceChildren(this.wrap);
    if (hands) {
      host.append(this.words);
      this.wrap.setAttribute("aria-describedby", this.words.id);
    }
    this.ground = Chessground(this.wrap, {
      viewOnly: !hands,
      disableContextMenu: false,
      coordinates: true,
      movable: {
        free: false,
        color: undefined,
        showDests: true,
        rookCastle: false,
        events: { after: (a, b, how) => void this.moved(a, b, how.premove) },
      },
      premovable: {
        enabled: false,
        showDests: true,
        castle: true,
        events: { set: (a, b) => this.hands?.say(texts.chessboard.ahead(a, b)) },
      },
      draggable: { enabled: true, showGhost: true, distance: 4 },
      drawable: {
        enabled: Boolean(hands),
        eraseOnMovablePieceClick: false,
        onChange: (shapes) => this.drawn(shapes),
        brushes: {
          green: { key: `${this.brush}g`, color: "#3b6b2f", opacity: 0.9, lineWidth: 9 },
          red: { key: `${this.brush}r`, color: "#9c3a1f", opacity: 0.9, lineWidth: 9 },
          blue: { key: `${this.brush}b`, color: "#1f4f86", opacity: 0.9, lineWidth: 9 },
          yellow: { key: `${this.brush}y`, color: "#b07a00", opacity: 0.9, lineWidth: 9 },
          first: { key: `${this.brush}1`, color: "#0a5560", opacity: 1, lineWidth: 10 },
          best: { key: `${this.brush}3`, color: "#6a3d9a", opacity: 1, lineWidth: 10 },
          other: { key: `${this.brush}2`, color: "#3d6f78", opacity: 0.8, lineWidth: 8 },
          preview: { key: `${this.brush}p`, color: "#b4480a", opacity: 1, lineWidth: 11 },
        },
      },
      events: {
        insert: (elements) => this.heat.insert(elements),
        select: (key) => {
          if (this.node?.dests?.[key]) this.hands?.picked(key);
          else this.tried(key);
        },
      },
    });
    if (hands) document.addEventListener("keydown", this.escape);
    // Before chessground hears of it, which takes the choice back.
    this.wrap.addEventListener("pointerdown", () => (this.chosen = this.ground.state.selected), { capture: true });
    hands?.ahead((move) => this.ahead(move));
  }

  draw(node: Node, picture: Picture, looks: Looks): void {
    const now = performance.now();
    /** Or never drawn: chessground's elements are new then. */
    const turned = looks.flipped !== this.looks?.flipped;
    const stepped = this.node !== null && node !== this.node && Math.abs(node.ply - this.node.ply) === 1;
    const glide = stepped && now - this.drawnAt > GLIDE && !this.calm.matches && !turned;
    const moved = node !== this.node;
    if (moved) {
      this.pending = false;
      this.closeDialog?.();
      this.drawnAt = now;
    }
    this.node = node;
    this.looks = looks;
    const whose = node.turn === "w" ? texts.common.white : texts.common.black;
    this.wrap.setAttribute("aria-label", texts.chessboard.about(whose, lettered(node.san)));
    Object.assign(this.wrap.dataset, { after: node.san, turn: node.turn });
    if (this.hands && moved) this.words.textContent = inPieces(placement(node));
    this.wrap.classList.toggle("plain", !looks.coordinates);
    this.wrap.classList.toggle("heated", picture.heat !== null);
    this.heat.draw(picture.heat, looks);
    this.shapes = arrows(picture, looks.small);
    const mine = (looks.sides === "both" || looks.sides === node.turn) && !this.pending;
    const dests: Dests = mine && this.hands ? destinations(node) : new Map();
    const early = Boolean(this.hands) && !mine && looks.early && looks.early !== node.turn ? looks.early : null;
    if (!mine && !looks.early) this.ground.cancelPremove();
    // Turning draws at once, and what is drawn then belongs to the position before.
    if (turned) Object.assign(this.ground.state.drawable, { shapes: [], autoShapes: [] });
    this.ground.set({
      ...(moved ? { fen: placement(node), selected: undefined } : {}),
      orientation: looks.flipped ? "black" : "white",
      turnColor: colour(node.turn),
      check: node.check ? colour(node.turn) : false,
      lastMove: lastMove(node),
      animation: { enabled: glide, duration: GLIDE },
      movable: { color: mine ? colour(node.turn) : early ? colour(early) : undefined, dests },
      premovable: { enabled: early !== null },
      drawable: { autoShapes: this.withPreview() },
    });
    if (turned) this.ground.state.dom.bounds = sized(this.ground.state.dom.bounds);
    this.redraw(node);
    if (mine && this.ground.state.premovable.current) this.early();
  }

  /** Plays the move that was made before its turn, where it can be played. */
  private early(): void {
    const [a, b] = this.ground.state.premovable.current!;
    if (this.ground.playPremove()) this.pending = true;
    else this.hands?.say(texts.chessboard.not(a, b));
  }

  /** Makes a move before its turn, "g1f3"; whether the piece moves like that. */
  private ahead(move: string): boolean {
    if (!this.ground.state.premovable.enabled) return false;
    this.ground.cancelPremove();
    this.ground.selectSquare(null);
    this.ground.selectSquare(from(move));
    this.ground.selectSquare(to(move));
    const made = this.ground.state.premovable.current !== undefined;
    if (!made) this.ground.selectSquare(null);
    return made;
  }

  /** Takes back a move that was made before its turn; whether there was one. */
  private cancel(): boolean {
    if (!this.ground.state.premovable.current) return false;
    this.ground.cancelPremove();
    this.hands?.say(texts.chessboard.takenBack);
    return true;
  }

  /** The position's own circles and arrows. */
  private redraw(node: Node): void {
    const now = this.ground.state.drawable.shapes.map(textOf).join();
    if (now !== (node.shapes ?? []).join()) this.ground.setShapes((node.shapes ?? []).map(shapeOf));
  }

  private drawn(shapes: DrawShape[]): void {
    if (!this.node) return;
    // A click beside the pieces would take all away: they stay until they are drawn over.
    if (!shapes.length && !this.ground.state.drawable.current) this.redraw(this.node);
    else this.hands?.drawn(shapes.map(textOf));
  }

  preview(move: string | null): void {
    if (move === this.previewed) return;
    this.previewed = move;
    this.ground.setAutoShapes(this.withPreview());
  }

  destroy(): void {
    document.removeEventListener("keydown", this.escape);
    this.hands?.ahead(null);
    this.closeDialog?.();
    this.ground.destroy();
    this.wrap.remove();
    this.words.remove();
  }

  /** The arrows, and over them the one that a list points at, with a ghost of its piece. */
  private withPreview(): DrawShape[] {
    const move = this.previewed;
    if (!move || move.length < 4) return this.shapes;
    const piece = this.ground.state.pieces.get(from(move));
    const others = this.shapes.filter((shape) => shape.orig !== from(move) || shape.dest !== to(move));
    const label = this.shapes.find((shape) => shape.orig === from(move) && shape.dest === to(move))?.label;
    const shape: DrawShape = { orig: from(move), dest: to(move), brush: "preview" };
    if (label) shape.label = { text: label.text };
    return [...others, ...(piece ? [{ orig: to(move), piece }] : []), shape];
  }

  /** A square was clicked that no own piece to move stands on: says so where the piece that was chosen may not go there. */
  private tried(square: Key): void {
    const { chosen, node } = this;
    this.chosen = undefined;
    if (!node || !chosen || chosen === square || this.ground.state.movable.color !== colour(node.turn)) return;
    const own = this.ground.state.pieces.get(square)?.color === colour(node.turn);
    if (!own && !destinations(node).get(chosen)?.includes(square)) this.hands?.refuse(texts.chessboard.illegal(chosen, square));
  }

  /** A piece was put down. A pawn on the last rank asks first what it becomes. */
  private async moved(a: Key, b: Key, early: boolean): Promise<void> {
    const node = this.node;
    if (!node || !this.hands) return;
    this.pending = true;
    let move = `${a}${b}`;
    const piece = this.ground.state.pieces.get(b);
    // A pawn that was sent ahead becomes a queen: there is no time to ask.
    if (early && piece?.role === "pawn" && (b[1] === "8" || b[1] === "1")) move += "q";
    else if (piece?.role === "pawn" && (b[1] === "8" || b[1] === "1")) {
      // Loaded when a pawn is promoted, so that the first screen is smaller.
      const dialog = await import("./promotion").catch(() => null);
      if (!dialog || this.node !== node) return this.back(node);
      const asking = dialog.askPromotion(this.wrap, b, piece.color, Boolean(this.looks?.flipped));
      this.closeDialog = asking.close;
      const role = await asking.answer;
      this.closeDialog = null;
      if (!role) return this.back(node);
      move += role;
    }
    try {
      await this.hands.play(move);
    } catch {
      this.back(node);
    }
  }

  private back(node: Node): void {
    if (this.node !== node || !this.looks) return;
    // The pieces have moved on the board though the node has not, so all of it is set again.
    this.pending = false;
    this.ground.set({
      fen: placement(node),
      turnColor: colour(node.turn),
      lastMove: lastMove(node),
      check: node.check ? colour(node.turn) : false,
      movable: { color: colour(node.turn), dests: destinations(node) },
      animation: { enabled: false },
    });
    this.ground.state.dom.redrawNow();
  }
}

/**
 * The bounds of a board, or of a unit square while it is hidden: arrows of a board without a size would lie at NaN, and
 * they are relative to it, so any square does.
 */
function sized(bounds: Memo<DOMRectReadOnly>): Memo<DOMRectReadOnly> {
  const found = (): DOMRectReadOnly => {
    const now = bounds();
    return now.width && now.height ? now : new DOMRectReadOnly(0, 0, 1, 1);
  };
  return Object.assign(found, { clear: () => bounds.clear() });
}

/** The pieces' part of the FEN: all that chessground reads. */
const placement = (node: Node): string => (node.fen ?? "8/8/8/8/8/8/8/8").split(" ")[0]!;

/** The pieces of a placement in words: "White: Ke1, Qd1, pawns a2, b2. Black: Ke8." In the language's letters. */
export function inPieces(placed: string): string {
  const found = new Map<string, string[]>();
  placed.split("/").forEach((row, down) => {
    const squares = row.replace(/\d/g, (digit) => ".".repeat(Number(digit)));
    [...squares].forEach((piece, at) => found.set(piece, [...(found.get(piece) ?? []), `${"abcdefgh"[at]}${8 - down}`]));
  });
  const side = (white: boolean): string => {
    const squaresOf = (letter: string): string[] => found.get(white ? letter : letter.toLowerCase()) ?? [];
    const pieces = [..."KQRBN"].flatMap((letter, at) => squaresOf(letter).map((square) => `${texts.common.pieces[at]}${square}`));
    const pawns = squaresOf("P").sort();
    return [...pieces, ...(pawns.length ? [texts.chessboard.pawns(pawns.join(", "))] : [])].join(", ");
  };
  return texts.chessboard.pieces(side(true), side(false));
}

const lastMove = (node: Node): Key[] | undefined =>
  node.move && node.move.length >= 4 && node.move !== "0000" ? [from(node.move), to(node.move)] : undefined;

function destinations(node: Node): Dests {
  return new Map(Object.entries(node.dests ?? {}) as [Key, Key[]][]);
}

/** Moves that are less likely have an arrow without a number. */
const LEAST_NUMBER = 0.045;

export function arrows({ moves, best }: Pick<Picture, "moves" | "best">, small: boolean): DrawShape[] {
  const drawn = new Set<string>();
  const shapes: DrawShape[] = [];
  moves.forEach(({ move, p }, index) => {
    // A pawn's four promotions are one arrow, the likeliest's.
    const squares = move.slice(0, 4);
    if (squares.length < 4 || drawn.has(squares)) return;
    drawn.add(squares);
    shapes.push({
      orig: from(move),
      dest: to(move),
      brush: index ? "other" : best ? "best" : "first",
      modifiers: { lineWidth: 4 + 10 * Math.sqrt(p) },
      ...(small || p < LEAST_NUMBER ? {} : { label: { text: String(Math.round(p * 100)) } }),
    });
  });
  // The likeliest is drawn last, over the others.
  return shapes.reverse();
}

/** 64 squares of colour under the pieces, and their numbers over them. */
class HeatLayer {
  private readonly under = svg("svg", { class: "heat", viewBox: "0 0 800 800", "aria-hidden": "true" });
  private readonly over = svg("svg", { class: "heat-numbers", viewBox: "0 0 800 800", "aria-hidden": "true" });
  private readonly rects: SVGRectElement[] = [];
  private readonly texts: SVGTextElement[] = [];
  private flipped: boolean | null = null;
  private last: Heat | null = null;
  private small = false;

  constructor() {
    for (let square = 0; square < 64; square += 1) {
      this.rects.push(svg("rect", { width: 100, height: 100, "fill-opacity": 0 }));
      this.texts.push(svg("text", { "text-anchor": "end" }));
    }
    this.under.append(...this.rects);
    this.over.append(...this.texts);
  }

  /** Chessground makes its elements anew when the board is turned. */
  insert(elements: Elements): void {
    elements.board.prepend(this.under);
    elements.container.append(this.over);
  }

  draw(heat: Heat | null, looks: Looks): void {
    if (looks.flipped !== this.flipped) this.place(looks.flipped);
    if (heat === this.last && looks.small === this.small) return;
    this.last = heat;
    this.small = looks.small;
    this.under.setAttribute("class", `heat ${heat?.kind ?? ""}`);
    const drawn = heat ? tints(heat) : null;
    for (let square = 0; square < 64; square += 1) {
      const tint = drawn?.[square];
      const strength = (tint?.strength ?? 0).toFixed(3);
      const rect = this.rects[square]!;
      if (rect.getAttribute("fill-opacity") !== strength) rect.setAttribute("fill-opacity", strength);
      rect.classList.toggle("negative", tint?.negative ?? false);
      const text = this.small ? "" : (tint?.text ?? "");
      if (this.texts[square]!.textContent !== text) this.texts[square]!.textContent = text;
    }
  }

  private place(flipped: boolean): void {
    this.flipped = flipped;
    for (let square = 0; square < 64; square += 1) {
      const file = square % 8;
      const rank = Math.floor(square / 8);
      const x = 100 * (flipped ? 7 - file : file);
      const y = 100 * (flipped ? rank : 7 - rank);
      this.rects[square]!.setAttribute("x", String(x));
      this.rects[square]!.setAttribute("y", String(y));
      this.texts[square]!.setAttribute("x", String(x + 95));
      this.texts[square]!.setAttribute("y", String(y + 26));
    }
  }
}
