/** The moves of the game, variations as a tree. Built once; stepping only moves a class. */

import "../board/editing.css";
import { el } from "../ui/elements";
import type { Mistakes, Sign } from "./mistakes";
import { listenForMenus } from "./movemenu";
import { reasonElements } from "./reasonlines";
import { firstColumn, named, numberOf, numeral } from "../app/naming";
import { evaluated, timeOf } from "../app/notes";
import type { App, Node } from "../app/state";
import { lettered, texts } from "../texts";

const GLYPHS: Record<number, string> = {
  1: "!",
  2: "?",
  3: "!!",
  4: "??",
  5: "!?",
  6: "?!",
  10: "=",
  13: "∞",
  14: "⩲",
  15: "⩱",
  16: "±",
  17: "∓",
  18: "+−",
  19: "−+",
};

/** Variations of variations are set deeper and deeper, so often. */
const DEEPEST = 6;

export function mountMoves(host: HTMLElement, app: App, mistakes: Mistakes): void {
  new MoveList(host, app, mistakes);
}

class MoveList {
  private readonly list = el("div", { class: "move-list", role: "group", "aria-label": texts.movelist.moves });
  private readonly none = el("p", { class: "note none" });
  private readonly buttons = new Map<number, HTMLButtonElement>();
  private readonly marks = new Map<number, { shown: Sign; elements: HTMLElement[] }>();
  private current: HTMLButtonElement | null = null;
  /** The last move of the main line, and its row if another may follow in it. */
  private last = 0;
  private row: HTMLElement | null = null;
  private size = 0;
  private scrolling = 0;

  constructor(
    host: HTMLElement,
    private readonly app: App,
    private readonly mistakes: Mistakes,
  ) {
    host.replaceChildren(this.list);
    listenForMenus(app, this.list);
    this.list.addEventListener("click", (event) => this.clicked(event));
    app.on("game", () => this.build());
    app.on("tree", () => this.changed());
    app.on("cursor", () => this.follow());
    for (const event of ["path", "results", "networks", "settings", "judgements"] as const) app.on(event, () => this.mark());
    // The move that is looked at stays in sight when a window is made smaller or a phone is turned.
    new ResizeObserver(() => this.follow()).observe(this.list);
    this.build();
  }

  private clicked(event: Event): void {
    const at = (event.target as Element).closest<HTMLElement>("button[data-id]");
    const node = this.app.game.nodes.get(Number(at?.dataset.id));
    if (!at || !node) return;
    // A mistake opens where it could still be avoided.
    if (at.classList.contains("mark") && node.parent !== null) {
      this.app.go(node.id);
      this.app.go(node.parent);
      this.app.say(texts.common.before(named(this.app, node)));
    } else this.app.go(node.id);
  }

  private build(): void {
    const { game } = this.app;
    const focused = this.list.contains(document.activeElement) ? (document.activeElement as HTMLElement).dataset.id : undefined;
    this.buttons.clear();
    this.marks.clear();
    this.list.replaceChildren();
    this.list.classList.remove("long");
    this.row = null;
    this.size = game.nodes.size;
    this.last = game.root;
    const root = game.nodes.get(game.root)!;
    this.none.textContent = game.kind === "chess" ? texts.movelist.noneChess : texts.movelist.noneGo;
    const made = document.createDocumentFragment();
    if (game.nodes.size === 1 && !root.comment) made.append(this.none);
    if (root.comment) made.append(comment(root));
    for (let id = root.children[0]; id !== undefined; id = game.nodes.get(id)!.children[0]) this.add(game.nodes.get(id)!, made);
    this.list.append(made);
    this.list.scrollTop = 0;
    this.mark();
    this.follow();
    if (focused) (this.buttons.get(Number(focused)) ?? this.current)?.focus({ preventScroll: true });
  }

  /** A move more is set at the end; anything else is built anew. */
  private changed(): void {
    const node = this.app.node();
    const more = this.app.game.nodes.size === this.size + 1 && node.parent === this.last && node.children.length === 0;
    if (!more || this.app.node(this.last).children.length > 1) {
      const { scrollTop } = this.list;
      this.build();
      this.list.scrollTop = scrollTop;
      return;
    }
    this.none.remove();
    this.size += 1;
    this.add(node, this.list);
  }

  /** The next move of the main line, and what else was said or could be played there. */
  private add(node: Node, to: ParentNode & globalThis.Node): void {
    const { game } = this.app;
    const first = firstColumn(game, node);
    if (!this.row || first) {
      const said = String(numberOf(game, node));
      if (said.length > 2) this.list.classList.add("long");
      const number = el("span", { class: "number" }, said);
      this.row = el("div", { class: "row" }, number, first ? null : el("span", { class: "cell gap" }, "…"));
      to.appendChild(this.row);
    }
    this.row.append(this.cell(node, true));
    this.last = node.id;
    const others = game.nodes.get(node.parent!)!.children.slice(1);
    // Black's move still comes into the row of White's comment, which stands below it.
    if (node.comment) to.appendChild(comment(node, first));
    if (!others.length) {
      if (node.comment && !first) this.row = null;
      return;
    }
    this.row = null;
    const pile: [number, HTMLElement, number][] = [];
    for (const other of others) {
      const part = el("div", { class: "variation" });
      to.appendChild(part);
      pile.push([other, part, 1]);
    }
    for (let next = pile.pop(); next; next = pile.pop()) this.variation(...next, pile);
  }

  /** A variation's moves, one after the other; those within it are left on the pile. */
  private variation(id: number, part: HTMLElement, depth: number, pile: [number, HTMLElement, number][]): void {
    const { nodes } = this.app.game;
    let numbered = true;
    let after: HTMLElement = part;
    for (let at: number | undefined = id; at !== undefined; at = nodes.get(at)!.children[0]) {
      const node: Node = nodes.get(at)!;
      const cell = this.cell(node);
      // A number stays in the line of its move.
      if (numbered || firstColumn(this.app.game, node)) cell.prepend(el("span", { class: "numeral" }, numeral(this.app.game, node)));
      part.append(cell, " ");
      numbered = false;
      if (node.comment) {
        part.append(el("span", { class: "comment" }, node.comment), " ");
        numbered = true;
      }
      const others = at === id ? [] : nodes.get(node.parent!)!.children.slice(1);
      for (const other of others) {
        const inner = el("div", { class: "variation" });
        if (depth < DEEPEST) part.append(inner);
        else after.after(inner);
        after = depth < DEEPEST ? part : inner;
        pile.push([other, inner, depth < DEEPEST ? depth + 1 : depth]);
        numbered = true;
      }
    }
  }

  private cell(node: Node, timed = false): HTMLElement {
    const glyphs = node.nags.map((nag) => GLYPHS[nag] ?? "").join("");
    const made = el("button", { type: "button", class: "move", "data-id": node.id, tabindex: -1 }, lettered(node.san) + glyphs);
    const said = evaluated(node);
    if (said) made.title = said;
    this.buttons.set(node.id, made);
    const time = timed ? timeOf(node) : null;
    return el("span", { class: "cell" }, made, time && el("span", { class: "move-time", title: time.words }, time.text));
  }

  private follow(): void {
    const now = this.buttons.get(this.app.cursor) ?? null;
    // By Tab one comes to the move that is looked at; at the start, to the first.
    const first = this.list.querySelector<HTMLButtonElement>("button.move");
    if (first) first.tabIndex = now ? -1 : 0;
    if (now !== this.current) {
      this.current?.classList.remove("current");
      this.current?.removeAttribute("aria-current");
      if (this.current) this.current.tabIndex = -1;
      now?.classList.add("current");
      now?.setAttribute("aria-current", "true");
      if (now) now.tabIndex = 0;
      const before = this.current;
      this.current = now;
      for (const each of [before, now]) this.reach(Number(each?.dataset.id));
    }
    // Once the picture is drawn, so that nothing is laid out twice.
    if (!this.scrolling) this.scrolling = requestAnimationFrame(() => this.scroll());
  }

  private scroll(): void {
    this.scrolling = 0;
    const { list, current } = this;
    if (!current) {
      if (this.app.cursor === this.app.game.root) list.scrollTop = 0;
      return;
    }
    let last: Element = current.closest(".row") ?? current;
    // Whoever clicks a mark looks at the position before the move: its row and its reason come after that.
    const next = this.next();
    if (next) last = next.closest(".move-list > *") ?? last;
    while (last.nextElementSibling?.matches("p.comment, p.reason")) last = last.nextElementSibling;
    const top = current.offsetTop;
    const bottom = last instanceof HTMLElement ? last.offsetTop + last.offsetHeight : top + current.offsetHeight;
    const rows = [...list.children].map((each) => (each as HTMLElement).offsetTop);
    const wanted = scrolled({ top, bottom, now: list.scrollTop, height: list.clientHeight, rows });
    list.scrollTop = wanted;
    // At the end of the list there is no room below the move; the first row is whole all the same.
    if (list.scrollTop < wanted - 1) list.scrollTop = rows.find((each) => each >= bottom - list.clientHeight) ?? wanted;
  }

  /** The button of the next move, if that move is marked. */
  private next(): HTMLElement | undefined {
    const { app, buttons, marks } = this;
    const id = app.path[app.place + 1];
    return id !== undefined && marks.has(id) ? buttons.get(id) : undefined;
  }

  /** Whether the move that is looked at is in sight: who has scrolled it away stays there. */
  private get inSight(): boolean {
    const { list, current } = this;
    if (!current) return false;
    const { top, bottom } = current.getBoundingClientRect();
    const seen = list.getBoundingClientRect();
    return top >= seen.top - 1 && bottom <= seen.bottom + 1;
  }

  private mark(): void {
    const { mistakes, marks } = this;
    const gone = [...marks].filter(([id, { shown }]) => {
      const now = mistakes.sign(id);
      return now?.words !== shown.words || now.reason !== shown.reason;
    });
    const old = new Set(gone.map(([id]) => id));
    const fresh = this.app.path.flatMap((id) => {
      const button = this.buttons.get(id);
      const sign = marks.has(id) && !old.has(id) ? undefined : mistakes.sign(id);
      return button && sign && !this.recorded(id, sign) ? [{ id, button, sign }] : [];
    });
    if (!gone.length && !fresh.length) return;
    const { inSight } = this;
    for (const [id, { elements }] of gone) {
      for (const element of elements) element.remove();
      marks.delete(id);
    }
    for (const { id, button, sign } of fresh) {
      const element = made(id, sign);
      element.classList.toggle("beside", this.app.node(id).nags.length > 0);
      button.after(element);
      marks.set(id, { shown: sign, elements: [element, ...this.explained(button, this.app.node(id), sign)] });
      this.reach(id);
    }
    // The reasons of this move and of the next one are in sight, and what comes above pushes nothing out of it.
    if (inSight) this.follow();
  }

  /** By Tab one comes to the lines in the reason of the move that is looked at. */
  private reach(id: number): void {
    for (const element of this.marks.get(id)?.elements ?? [])
      for (const line of element.querySelectorAll<HTMLElement>(".line")) line.tabIndex = id === this.app.cursor ? 0 : -1;
  }

  /** The reason of a mistake of the main line, below its row and the reason of the move before it there. */
  private explained(button: HTMLElement, node: Node, { reason, lines = [] }: Sign): HTMLElement[] {
    // A record that was written with evaluations has it already.
    let last: Element | null = reason && !node.comment.includes(reason.replaceAll("\u00a0", " ")) ? button.closest(".move-list > .row") : null;
    if (!last) return [];
    while (last.nextElementSibling?.matches("p.reason")) last = last.nextElementSibling;
    const made = el("p", { class: "reason" }, el("span", { class: "comment-of" }, `${lettered(node.san)} `), ...reasonElements(reason!, lines, node));
    last.after(made);
    return [made];
  }

  /** Whether the record has the same sign already. */
  private recorded(id: number, { text }: Sign): boolean {
    return this.app.node(id).nags.some((nag) => GLYPHS[nag] === text);
  }
}

/** Above (at most) and below the move that is looked at, px. */
const ROOM = 34;

/**
 * Where a list is scrolled to so that a move is seen, with its comment if there is room: no row is cut at the top.
 * top, bottom: of the move with its comment; now: where the list is; height: of what is seen; rows: their tops, all px.
 */
export function scrolled({ top, bottom, now, height, rows }: { top: number; bottom: number; now: number; height: number; rows: number[] }): number {
  // The row before the move is seen too, if there is room and it is no long comment. It is whole, else each step would
  // scroll to and fro.
  const before = top - (rows.findLast((each) => each < top) ?? top);
  const room = before <= ROOM && bottom + ROOM - top + before <= height ? before : 0;
  const above = top - room < now;
  if (!above && bottom + ROOM <= now + height) return now;
  const wanted = above ? top - room : Math.min(top - room, bottom + ROOM - height);
  // Down to the next row, but not past the move.
  const row = above ? rows.findLast((each) => each <= wanted) : rows.find((each) => each >= wanted);
  return Math.max(0, Math.min(row ?? wanted, top));
}

/** A mistake's mark opens the position before it. */
function made(id: number, { text, name, words, label, mistake }: Sign): HTMLElement {
  const said = { class: `mark ${name}`, title: words, "aria-label": label };
  if (!mistake) return el("span", { ...said, role: "img" }, text);
  return el("button", { type: "button", ...said, "data-id": id, tabindex: -1 }, text);
}

/** A comment below its row; of the first move there it says so. */
function comment(node: Node, named = false): HTMLElement {
  return el("p", { class: "comment" }, named && el("span", { class: "comment-of" }, `${lettered(node.san)} `), node.comment);
}
