/** Tabs, of which one is seen; a panel is made when it is first looked at. */

import { el } from "./elements";
import { texts } from "../texts";

export interface Tab {
  id: string;
  name: string;
  mount: (host: HTMLElement) => void | Promise<void>;
}

export interface Tabs {
  readonly chosen: string;
  choose(id: string): void;
  /** Makes a panel without showing it. */
  mount(id: string): void;
  on(f: () => void): void;
}

export function mountTabs(host: HTMLElement, tabs: Tab[]): Tabs {
  const made = new Set<string>();
  const listeners: (() => void)[] = [];
  let chosen = "";
  const heads = tabs.map(({ id, name }) =>
    el("button", { type: "button", role: "tab", id: `tab-${id}`, "aria-controls": `panel-${id}` }, name),
  );
  const panels = tabs.map(({ id }) =>
    el("div", { role: "tabpanel", id: `panel-${id}`, "aria-labelledby": `tab-${id}`, class: "tab-panel" }),
  );

  const mount = (id: string): void => {
    const at = tabs.findIndex((each) => each.id === id);
    if (at < 0 || made.has(id)) return;
    made.add(id);
    const panel = panels[at]!;
    const inside = el("div");
    panel.replaceChildren(inside);
    Promise.resolve(tabs[at]!.mount(inside)).catch(() => {
      made.delete(id);
      panel.textContent = texts.tabs.failed;
      if (chosen === id) chosen = "";
    });
  };
  const choose = (id: string): void => {
    const at = tabs.findIndex((each) => each.id === id);
    if (at < 0 || id === chosen) return;
    chosen = id;
    for (const [index, head] of heads.entries()) {
      head.setAttribute("aria-selected", String(index === at));
      head.tabIndex = index === at ? 0 : -1;
      panels[index]!.hidden = index !== at;
    }
    mount(id);
    for (const f of listeners) f();
  };

  for (const [index, head] of heads.entries()) {
    head.addEventListener("click", (event) => {
      choose(tabs[index]!.id);
      // Of a pointer: the arrow keys are for the moves again.
      if (event.detail) head.blur();
    });
  }
  const list = el("div", { role: "tablist", "aria-label": texts.tabs.list, class: "tabs" }, ...heads);
  list.style.setProperty("--letters", String(tabs.reduce((sum, { name }) => sum + name.length, 0)));
  list.addEventListener("keydown", (event) => {
    const at = heads.indexOf(document.activeElement as HTMLButtonElement);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: heads.length - 1 }[event.key];
    if (to === undefined || at < 0) return;
    event.preventDefault();
    event.stopPropagation();
    const next = (to + heads.length) % heads.length;
    choose(tabs[next]!.id);
    heads[next]!.focus();
  });
  host.replaceChildren(list, ...panels);
  choose(tabs[0]!.id);
  return {
    get chosen() {
      return chosen;
    },
    choose,
    mount,
    on: (f) => void listeners.push(f),
  };
}
