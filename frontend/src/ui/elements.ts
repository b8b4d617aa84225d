/** Short ways to make elements. Text is always text: nothing here reads markup. */

import { texts } from "../texts";

export type Child = Node | string | null | undefined | false;
type Attributes = Record<string, string | number | boolean | null | undefined>;

const SVG = "http://www.w3.org/2000/svg";

function fill(element: Element, attributes: Attributes, children: readonly Child[]): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, String(value));
  }
  for (const child of children) if (child) element.append(child);
}

/** An HTML element with attributes (true: an empty one; false, null: none) and children. */
export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  fill(made, attributes, children);
  return made;
}

/** An SVG element likewise. */
export function svg<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): SVGElementTagNameMap[K] {
  const made = document.createElementNS(SVG, tag) as SVGElementTagNameMap[K];
  fill(made, attributes, children);
  return made;
}

/** A colour of the style sheet as a canvas reads it: `light-dark()` is resolved. name: "--accent". */
export function inkOf(host: HTMLElement, name: string): string {
  const probe = host.appendChild(el("span", { hidden: true }));
  probe.style.color = `var(${name})`;
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

/** Says something in an element, which is hidden where there is nothing to say. problem: whether it is one. */
export function write(element: HTMLElement, text: string, problem?: boolean): void {
  if (element.textContent !== text) element.textContent = text;
  element.hidden = !text;
  if (problem !== undefined) element.classList.toggle("problem", problem);
}

/** A button that says what it does; `label` is for those who do not see it, where the text is short. */
export function button(text: string, act: () => void, attributes: Attributes = {}): HTMLButtonElement {
  const made = el("button", { type: "button", ...attributes }, text);
  made.addEventListener("click", act);
  return made;
}

/** One of a few: value, text, and the heading that it stands under. */
export type Offered = readonly [value: string, text: string, heading?: string];

/** A choice out of a few; keeps its value when the choices change and still have it. */
export class Choice {
  readonly element: HTMLDivElement;
  readonly select: HTMLSelectElement;
  private known = "";

  constructor(label: string, changed: (value: string) => void) {
    const id = fresh("choice");
    this.select = el("select", { id });
    this.element = el("div", { class: "field" }, el("label", { for: id }, label), this.select);
    this.select.addEventListener("change", () => changed(this.select.value));
  }

  get value(): string {
    return this.select.value;
  }

  set value(value: string) {
    this.select.value = value;
  }

  /** The choices. Does nothing when they are the same as before. */
  offer(choices: readonly Offered[], value?: string | null): void {
    const asked = JSON.stringify(choices);
    const before = value ?? this.select.value;
    if (asked !== this.known) {
      this.known = asked;
      const groups = new Map<string, HTMLElement>([["", this.select]]);
      this.select.replaceChildren();
      for (const [id, text, heading = ""] of choices) {
        const group = groups.get(heading) ?? this.select.appendChild(el("optgroup", { label: heading }));
        groups.set(heading, group);
        group.append(el("option", { value: id }, text));
      }
    }
    if (choices.some(([id]) => id === before)) this.select.value = before;
  }
}

/** "63%": a probability for reading; never 0% or 100% for what is not. */
export function percent(p: number): string {
  if (p > 0 && p < 0.005) return `<${texts.common.percent(0.01)}`;
  if (p < 1 && p >= 0.995) return `>${texts.common.percent(0.99)}`;
  return texts.common.percent(p);
}

let counted = 0;

/** A new id for what must refer to something: "k7-…". */
export function fresh(name: string): string {
  counted += 1;
  return `k${counted}-${name}`;
}

/** Arrow keys go from one button of `group` to the next and press it, as among radio buttons. */
export function along(event: KeyboardEvent, group: HTMLElement): void {
  const all = [...group.querySelectorAll("button")];
  const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  const from = all.indexOf(document.activeElement as HTMLButtonElement);
  if (!by || from < 0) return;
  event.preventDefault();
  event.stopPropagation();
  const next = all[(from + by + all.length) % all.length]!;
  next.click();
  next.focus();
}

/** Scrolls to the board where it is above what is seen: the panels of a phone are below it, and a task is played on it. */
export function seeBoard(): void {
  const board = document.getElementById("board-part");
  if (board && board.getBoundingClientRect().top < 0) board.scrollIntoView();
}
