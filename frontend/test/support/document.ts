/** A document of the least that panels need to be made, for tests of what they do. What is drawn is tested in a browser. */

import { vi } from "vitest";

type Child = Fake | string;

export class Fake {
  hidden = false;
  disabled = false;
  /** Something in a panel that is looked at, null in another one. */
  offsetParent: object | null = {};
  parentElement: Fake | null = null;
  readonly dataset: Record<string, string> = {};
  readonly style: Record<string, string> = {};
  readonly classes = new Set<string>();
  readonly classList = {
    add: (name: string): unknown => this.classes.add(name),
    contains: (name: string): boolean => this.classes.has(name),
    remove: (name: string): unknown => this.classes.delete(name),
    toggle: (name: string, on: boolean): unknown => (on ? this.classes.add(name) : this.classes.delete(name)),
  };
  children: Child[] = [];
  private readonly attributes = new Map<string, string>();
  private readonly listeners = new Map<string, ((event: object) => void)[]>();
  private chosen: string | null = null;

  constructor(readonly tag: string) {}

  get textContent(): string {
    return this.children.map((each) => (typeof each === "string" ? each : each.textContent)).join("");
  }

  set textContent(text: string) {
    this.children = [text];
  }

  get childElementCount(): number {
    return this.children.filter((each) => typeof each !== "string").length;
  }

  /** Of a select: the first option where nothing was chosen. */
  get value(): string {
    return this.chosen ?? this.all("option")[0]?.getAttribute("value") ?? "";
  }

  set value(value: string) {
    this.chosen = value;
  }

  get firstElementChild(): Fake | null {
    return this.children.find((each) => typeof each !== "string") ?? null;
  }

  setAttribute(name: string, value: string): void {
    this.attributes.set(name, value);
    if (name === "hidden") this.hidden = true;
  }

  getAttribute(name: string): string | null {
    return this.attributes.get(name) ?? null;
  }

  removeAttribute(name: string): void {
    this.attributes.delete(name);
  }

  append(...children: Child[]): void {
    this.children.push(...children);
    for (const each of children) if (typeof each !== "string") each.parentElement = this;
  }

  appendChild(child: Fake): Fake {
    this.append(child);
    return child;
  }

  replaceChildren(...children: Child[]): void {
    this.children = children;
  }

  addEventListener(name: string, heard: (event: object) => void): void {
    this.listeners.set(name, [...(this.listeners.get(name) ?? []), heard]);
  }

  click(): void {
    this.hear("click");
  }

  hear(name: string): void {
    for (const heard of this.listeners.get(name) ?? []) heard({});
  }

  focus(): void {}

  scrollIntoView(): void {}

  /** All elements inside of a tag. */
  all(tag: string): Fake[] {
    return this.children.flatMap((each) => (typeof each === "string" ? [] : [...(each.tag === tag ? [each] : []), ...each.all(tag)]));
  }

  /** The first element with a tag. */
  querySelector(tag: string): Fake | null {
    return this.all(tag)[0] ?? null;
  }

  /** The button with this text. */
  button(text: string): Fake {
    const found = this.all("button").find((each) => each.textContent === text);
    if (!found) throw new Error(`no button ${text}`);
    return found;
  }
}

/** Serves the document until the end of the test. look: what observers are told once another panel is looked at. */
export function withDocument(): { host: Fake; element: HTMLElement; look: () => void } {
  const observers: ((seen: object[]) => void)[] = [];
  const body = new Fake("body");
  vi.stubGlobal("document", { createElement: (tag: string) => new Fake(tag), createElementNS: (_: string, tag: string) => new Fake(tag), getElementById: () => null, body, activeElement: body, addEventListener: () => undefined, visibilityState: "hidden" });
  vi.stubGlobal(
    "IntersectionObserver",
    class {
      constructor(told: (seen: object[]) => void) {
        observers.push(told);
      }
      observe(): void {}
    },
  );
  const host = new Fake("div");
  return { host, element: host as unknown as HTMLElement, look: () => observers.forEach((told) => told([{ isIntersecting: true }])) };
}
