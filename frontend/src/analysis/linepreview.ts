/** A small board with the position after a move of a shown line, while the pointer rests on the move or the focus is on it. */

import "./linepreview.css";

import { makeView } from "../board/board";
import { NOTHING, type View } from "../board/overlays";
import { Kept } from "../server/asking";
import type { Written } from "../server/api";
import { el, fresh } from "../ui/elements";
import type { App, Node } from "../app/state";

/** How long the pointer must rest, ms. */
const REST = 250;
/** Between the small board and what it belongs to, and the edges of the window, px. */
const GAP = 8;

export class LinePreview {
  private readonly element = el("div", { class: "line-preview", role: "tooltip", id: fresh("line"), hidden: true });
  private readonly known = new Kept<Written>(400);
  private view: View | null = null;
  private shape = "";
  private waiting = 0;
  /** What it belongs to. */
  private at: HTMLElement | null = null;

  constructor(private readonly app: App) {
    document.body.append(this.element);
    document.addEventListener("focusout", () => this.hide());
    document.addEventListener("pointerdown", () => this.hide());
    document.addEventListener("scroll", () => this.hide(), { capture: true, passive: true });
    document.addEventListener("keydown", (event) => event.key === "Escape" && this.hide());
    for (const event of ["cursor", "game"] as const) app.on(event, () => this.hide());
  }

  /** What the pointer or the focus has reached. */
  reached(event: Event): void {
    const target = event.target as HTMLElement;
    const kind = (event as PointerEvent).pointerType;
    if (event.type === "focusin") {
      if (target.matches("[data-line], [data-focus-line]") && target.matches(":focus-visible")) this.point(target, target.dataset.line ? "line" : "focusLine");
      return;
    }
    const line = target.closest<HTMLElement>("[data-line]");
    // A finger does not rest: it plays.
    if (event.type === "pointerover" && kind !== "touch") this.point(line, "line");
    // Where a touch does nothing else, it shows the board too.
    if (event.type === "click" && kind === "touch" && !target.closest("button, a")) this.point(line, "line", 0);
  }

  private point(target: HTMLElement | null, from: "line" | "focusLine", rest = from === "line" ? REST : 0): void {
    if (target && target === this.at) return;
    // The pointer has left nothing: what has the focus keeps its board.
    if (!target && this.at?.dataset.line === undefined) return;
    this.hide();
    const moves = target?.dataset[from]?.split(" ").filter(Boolean) ?? [];
    if (!target || !moves.length) return;
    this.at = target;
    this.waiting = window.setTimeout(() => void this.show(target, moves), rest);
  }

  private hide(): void {
    window.clearTimeout(this.waiting);
    this.at?.removeAttribute("aria-describedby");
    this.at = null;
    this.element.hidden = true;
  }

  private async show(target: HTMLElement, moves: string[]): Promise<void> {
    const { app } = this;
    const written = await this.after(moves, target.dataset.from).catch(() => null);
    if (!written || this.at !== target || !target.isConnected) return;
    const { start } = app.game;
    const shape = `${start.game} ${start.size ?? 19}`;
    // Chessground measures its board when it is made.
    this.element.hidden = false;
    if (!this.view || shape !== this.shape) {
      this.view?.destroy();
      this.view = makeView(this.element, start, null);
      this.shape = shape;
    }
    const node: Node = { ...written, id: -1, parent: null, children: [], comment: "", nags: [] };
    this.view.draw(node, NOTHING, { flipped: app.flipped, coordinates: false, sides: "none", small: true });
    this.place(target);
    target.setAttribute("aria-describedby", this.element.id);
  }

  /** The position after moves from the one on the board, or from another one. */
  private async after(moves: string[], from?: string): Promise<Written> {
    const line = this.app.line(from === undefined ? undefined : Number(from));
    let found: Written | undefined;
    for (const move of moves) {
      const key = JSON.stringify([line, move]);
      found = this.known.get(key);
      if (!found) {
        found = await this.app.api.move(line, move);
        this.known.set(key, found);
      }
      line.moves = [...line.moves, move];
    }
    return found!;
  }

  /** Next to the panel of the line, so that no other line is covered; without room there, below or above the line. */
  private place(target: HTMLElement): void {
    const by = target.getBoundingClientRect();
    const { offsetWidth: width, offsetHeight: height } = this.element;
    const panel = target.closest("#side, #moves")?.getBoundingClientRect().left ?? 0;
    if (panel >= width + 2 * GAP) {
      const middle = Math.max(GAP, Math.min(by.top - height / 2, window.innerHeight - GAP - height));
      Object.assign(this.element.style, { top: `${middle}px`, left: `${panel - GAP - width}px` });
      return;
    }
    const below = by.bottom + GAP + height <= window.innerHeight - GAP;
    const top = below ? by.bottom + GAP : Math.max(GAP, by.top - GAP - height);
    const left = Math.max(GAP, Math.min(by.left, window.innerWidth - GAP - width));
    Object.assign(this.element.style, { top: `${top}px`, left: `${left}px` });
  }
}
