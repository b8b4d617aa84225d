/** A position of chess set up by hand: pieces are put on a board of its own, and the game then begins from it. */

import "../ui/fields.css";
import { Chessground } from "@lichess-org/chessground";
import type { Api as Ground } from "@lichess-org/chessground/api";
import type { Key, Piece } from "@lichess-org/chessground/types";

import "./setup.css";

import { Latest, message } from "../server/asking";
import { replaceGame } from "../app/editing";
import { along, button, Choice, el, fresh } from "../ui/elements";
import { iconButton } from "../ui/icons";
import { joinFen, splitFen, type Fields, passable, rightsOf } from "../app/fen";
import type { App } from "../app/state";
import { texts } from "../texts";
import { loaded, START } from "../app/tree";

const ROLES = ["king", "queen", "rook", "bishop", "knight", "pawn"] as const;
const LETTERS: Record<string, (typeof ROLES)[number]> = { k: "king", q: "queen", r: "rook", b: "bishop", n: "knight", p: "pawn" };
const EMPTY = "8/8/8/8/8/8/8/8 w - - 0 1";

/** What a click on a square does: moves pieces, takes one away, or puts one. */
type Tool = "move" | "erase" | Piece;

const named = (piece: Piece | undefined): string => (piece ? texts.setup.piece(piece.color, texts.setup.roles[piece.role]) : texts.goboard.empty);

export function showSetup(app: App): void {
  new Setup(app);
}

class Setup {
  private readonly board = el("div", { class: "chess setup-board", tabindex: 0, role: "application" });
  private readonly ground: Ground;
  private readonly tools = el("div", { class: "setup-tools cg-wrap", role: "radiogroup", "aria-label": texts.setup.pieces });
  private readonly turn: Choice;
  private readonly passed: Choice;
  private readonly rights = new Map<string, HTMLInputElement>();
  private readonly fen = el("input", { type: "text", spellcheck: "false", autocapitalize: "off", maxlength: 200, id: fresh("fen") });
  private readonly problem = el("p", { class: "problem setup-problem", role: "status" });
  private readonly spoken = el("p", { class: "unseen", "aria-live": "polite" });
  private readonly use = button(texts.setup.use, () => void this.finish(), { class: "primary" });
  private readonly back = button("↶", () => this.step(-1), { "aria-label": texts.setup.undo, title: texts.setup.undoAbout });
  private readonly again = button("↷", () => this.step(1), { "aria-label": texts.setup.redo, title: texts.setup.redoAbout });
  private readonly dialog: HTMLDialogElement;
  private readonly latest = new Latest(80);
  private readonly states: string[] = [];
  private at = -1;
  private tool: Tool = "move";
  private cursor: Key = "e4";
  /** The position that was given last: its counters are kept, the number of plies only for the same pieces. */
  private given: Pick<Fields, "placed" | "halfmoves" | "number"> = { placed: "", halfmoves: 0, number: 1 };

  constructor(private readonly app: App) {
    const changed = (): void => this.changed();
    this.turn = new Choice(texts.setup.turn, changed);
    this.turn.offer([
      ["w", texts.common.white],
      ["b", texts.common.black],
    ]);
    this.passed = new Choice(texts.setup.passant, changed);
    this.board.setAttribute(
      "aria-label",
      texts.setup.board,
    );
    this.dialog = this.made();
    document.body.append(this.dialog);
    this.dialog.showModal();
    this.ground = Chessground(this.board, {
      orientation: app.flipped ? "black" : "white",
      animation: { enabled: false },
      disableContextMenu: true,
      movable: { free: true, color: "both", showDests: false },
      premovable: { enabled: false },
      drawable: { enabled: false, visible: false },
      draggable: { deleteOnDropOff: true, distance: 3 },
      highlight: { lastMove: false, check: false },
      events: { change: changed },
    });
    this.board.addEventListener("keydown", (event) => this.key(event));
    for (const name of ["mousedown", "touchstart"] as const) this.board.addEventListener(name, (event) => this.pressed(event), { capture: true, passive: false });
    this.board.addEventListener("focus", () => this.show(this.board.matches(":focus-visible")));
    this.board.addEventListener("blur", () => this.show(false));
    this.pick("move");
    this.set(app.node().fen ?? START);
    this.board.focus();
  }

  private made(): HTMLDialogElement {
    const offer = (tool: Tool, label: string, ...inside: Node[]): HTMLElement => {
      const made = button("", () => this.pick(tool), { role: "radio", "aria-label": label, title: label });
      made.append(...inside);
      if (typeof tool !== "string") {
        made.dataset.piece = `${tool.color} ${tool.role}`;
        // Dragged onto the board, or clicked and then put by clicks.
        const drag = (event: MouseEvent | TouchEvent): void => {
          this.pick(tool);
          this.ground.dragNewPiece(tool, event, true);
        };
        made.addEventListener("mousedown", drag);
        made.addEventListener("touchstart", drag, { passive: true });
      }
      return made;
    };
    const pieces = (["white", "black"] as const).map((color) =>
      el(
        "div",
        { class: "setup-pieces" },
        ...ROLES.map((role) => {
          const piece = document.createElement("piece");
          piece.className = `${color} ${role}`;
          return offer({ color, role }, named({ color, role }), piece);
        }),
      ),
    );
    const hands = el("div", { class: "setup-hands" }, offer("move", texts.setup.moveAbout, new Text(texts.setup.move)), offer("erase", texts.setup.eraseAbout, new Text(texts.setup.erase)));
    this.tools.append(...pieces, hands);
    this.tools.addEventListener("keydown", (event) => along(event, this.tools));
    const castling = el("fieldset", { class: "setup-rights" }, el("legend", {}, texts.setup.castling));
    for (const [letter, words] of [
      ["K", texts.setup.whiteShort],
      ["Q", texts.setup.whiteLong],
      ["k", texts.setup.blackShort],
      ["q", texts.setup.blackLong],
    ] as const) {
      const box = el("input", { type: "checkbox" });
      box.addEventListener("change", () => this.changed());
      this.rights.set(letter, box);
      castling.append(el("label", {}, box, words));
    }
    this.fen.addEventListener("change", () => this.set(this.fen.value));
    const buttons = el(
      "div",
      { class: "setup-buttons" },
      button(texts.setup.start, () => this.set(START)),
      button(texts.setup.clear, () => this.set(EMPTY)),
      iconButton("flip", texts.controls.flip, () => this.ground.toggleOrientation()),
      this.back,
      this.again,
    );
    const side = el(
      "div",
      { class: "setup-side" },
      this.tools,
      buttons,
      el("div", { class: "setup-row" }, this.turn.element, this.passed.element),
      castling,
      el("div", { class: "field setup-fen" }, el("label", { for: this.fen.id }, "FEN"), this.fen),
      this.problem,
      this.spoken,
    );
    const dialog = el(
      "dialog",
      { class: "dialog setup", "aria-labelledby": "setup-title" },
      el("h2", { id: "setup-title" }, texts.setup.title),
      el("div", { class: "setup-parts" }, el("div", { class: "setup-place" }, this.board), side),
      el("div", { class: "dialog-buttons" }, button(texts.common.cancel, () => dialog.close()), this.use),
    );
    dialog.addEventListener("keydown", (event) => {
      const key = event.key.toLowerCase();
      if (!(event.ctrlKey || event.metaKey) || (key !== "z" && key !== "y") || event.target === this.fen) return;
      event.preventDefault();
      event.stopPropagation();
      this.step(key === "y" || event.shiftKey ? 1 : -1);
    });
    dialog.addEventListener("close", () => {
      this.latest.cancel();
      this.ground.destroy();
      dialog.remove();
    });
    return dialog;
  }

  private pick(tool: Tool): void {
    this.tool = tool;
    const name = typeof tool === "string" ? { move: texts.setup.moveAbout, erase: texts.setup.eraseAbout }[tool] : named(tool);
    for (const each of this.tools.querySelectorAll("button")) {
      const mine = each.getAttribute("aria-label") === name;
      each.setAttribute("aria-checked", String(mine));
      each.tabIndex = mine ? 0 : -1;
    }
    this.ground?.set({ selected: undefined, movable: { color: tool === "move" ? "both" : undefined } });
  }

  /** A press on the board with a piece or the eraser in hand. */
  private pressed(event: MouseEvent | TouchEvent): void {
    if (this.tool === "move") return;
    const { clientX, clientY } = "touches" in event ? (event.touches[0] ?? event.changedTouches[0]!) : event;
    const key = this.ground.getKeyAtDomPos([clientX, clientY]);
    if (!key) return;
    event.preventDefault();
    event.stopPropagation();
    this.put(key);
    if (document.activeElement !== this.board) this.board.focus({ preventScroll: true });
  }

  /** Puts what is in hand; the same piece again is taken away. */
  private put(key: Key, tool = this.tool): void {
    if (tool === "move") return;
    const there = this.ground.state.pieces.get(key);
    const same = typeof tool !== "string" && there?.role === tool.role && there.color === tool.color;
    const piece = tool === "erase" || same ? undefined : tool;
    this.ground.setPieces(new Map([[key, piece]]));
    this.cursor = key;
    this.spoken.textContent = `${key}, ${named(piece)}`;
    this.changed();
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const turned = this.ground.state.orientation === "black" ? -1 : 1;
    const across = ({ ArrowLeft: -1, ArrowRight: 1 }[event.key] ?? 0) * turned;
    const up = ({ ArrowUp: 1, ArrowDown: -1 }[event.key] ?? 0) * turned;
    const role = LETTERS[event.key.toLowerCase()];
    if (across || up) {
      const clamp = (value: number): number => Math.max(0, Math.min(7, value));
      const file = clamp("abcdefgh".indexOf(this.cursor[0]!) + across);
      const rank = clamp(Number(this.cursor[1]) - 1 + up);
      this.cursor = `${"abcdefgh"[file]}${rank + 1}` as Key;
      this.spoken.textContent = `${this.cursor}, ${named(this.ground.state.pieces.get(this.cursor))}`;
      this.show(true);
    } else if (role && event.key.length === 1) {
      this.put(this.cursor, { role, color: event.key === event.key.toLowerCase() ? "black" : "white" });
      this.show(true);
    } else if (event.key === "Delete" || event.key === "Backspace") this.put(this.cursor, "erase");
    else if (event.key === "Enter" || event.key === " ") this.put(this.cursor);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** The keyboard's cursor. */
  private show(on: boolean): void {
    this.ground?.set({ highlight: { custom: on ? new Map([[this.cursor, "setup-cursor"]]) : new Map() } });
  }

  private fields(): Fields {
    const placed = this.ground.getFen();
    const possible = rightsOf(placed);
    const rights = [...this.rights].filter(([letter, box]) => box.checked && possible.includes(letter)).map(([letter]) => letter);
    const { given } = this;
    return { placed, turn: this.turn.value, rights: rights.join("") || "-", passed: this.passed.value || "-", halfmoves: placed === given.placed ? given.halfmoves : 0, number: given.number };
  }

  /** Something was changed on the board or beside it. */
  private changed(): void {
    this.offer();
    const fen = joinFen(this.fields());
    if (this.states[this.at] !== fen) {
      this.states.length = this.at + 1;
      this.at = this.states.push(fen) - 1;
    }
    this.told(fen);
  }

  /** Only rights that can be: king and rook at home, a pawn that has just passed another one. */
  private offer(): void {
    const placed = this.ground.getFen();
    const possible = rightsOf(placed);
    for (const [letter, box] of this.rights) box.disabled = !possible.includes(letter);
    const squares = passable(placed, this.turn.value);
    const kept = squares.includes(this.passed.value) ? this.passed.value : "";
    this.passed.offer([["", texts.setup.nonePassed], ...squares.map((square) => [square, square] as const)], kept);
    this.passed.select.disabled = !squares.length;
  }

  private told(fen: string): void {
    if (document.activeElement !== this.fen || this.fen.value.trim() !== fen) this.fen.value = fen;
    this.back.disabled = this.at <= 0;
    this.again.disabled = this.at >= this.states.length - 1;
    this.latest.ask(
      (signal) => this.app.api.line({ game: "chess", fen, moves: [] }, signal),
      () => {
        this.problem.textContent = "";
        this.use.disabled = false;
      },
      (words) => {
        this.problem.textContent = sentence(words);
        this.use.disabled = true;
      },
    );
  }

  private step(by: number): void {
    const fen = this.states[this.at + by];
    if (fen === undefined) return;
    this.at += by;
    this.set(fen);
  }

  /** Shows a position: of a FEN that can be read at least in part. */
  private set(text: string): void {
    const fields = splitFen(text);
    if (!fields) {
      this.latest.cancel(); // an answer about what stood there before would wipe this away
      this.problem.textContent = texts.setup.noFen;
      this.use.disabled = true;
      return;
    }
    this.given = fields;
    this.ground.set({ fen: fields.placed, selected: undefined });
    this.turn.value = fields.turn;
    for (const [letter, box] of this.rights) box.checked = fields.rights.includes(letter);
    this.offer();
    if ([...this.passed.select.options].some(({ value }) => value === fields.passed)) this.passed.value = fields.passed;
    this.changed();
  }

  private async finish(): Promise<void> {
    const { app } = this;
    const fen = joinFen(this.fields());
    try {
      const tree = await app.api.line({ game: "chess", fen, moves: [] });
      this.dialog.close();
      if (!(await app.mayOpen())) return;
      const line = { game: "chess" as const, fen: tree[0]!.fen!, moves: [] };
      replaceGame(app, texts.setup.change, loaded({ game: "chess", headers: {}, line, tree: [{ ...tree[0]!, id: 0, parent: null }], games: [], count: 1, problems: [] }));
      app.say(texts.setup.done);
    } catch (error) {
      this.problem.textContent = sentence(message(error));
    }
  }
}

/** "The FEN is no position …: White has no king." without its first part. */
function sentence(words: string): string {
  const said = words.replace(/^the FEN is no position to play from: /, "");
  return `${said.charAt(0).toUpperCase()}${said.slice(1)}${/[.!?]$/.test(said) ? "" : "."}`;
}
