/** A button that opens a few choices. */

import { button, el, fresh } from "./elements";
import { icon } from "./icons";
import { texts } from "../texts";

export interface Entry {
  text: string;
  act: () => void;
  hidden?: () => boolean;
  disabled?: () => boolean;
  /** The keys that do the same. */
  keys?: string;
}

export function menu(label: string, entries: Entry[]): HTMLElement {
  const id = fresh("menu");
  const opener = el("button", { type: "button", "aria-haspopup": "menu", "aria-expanded": "false", "aria-controls": id }, label, icon("down"));
  const items = entries.map((entry) =>
    button(
      entry.text,
      () => {
        if (entry.disabled?.()) return;
        close();
        opener.focus();
        entry.act();
      },
      { role: "menuitem", tabindex: -1, "aria-keyshortcuts": entry.keys },
    ),
  );
  for (const [index, { keys }] of entries.entries()) if (keys) items[index]!.append(el("kbd", { "aria-hidden": "true" }, keys.replace("Control", texts.menu.control)));
  const list = el("div", { id, class: "menu-list", role: "menu", "aria-label": label, hidden: true }, ...items);
  const whole = el("div", { class: "menu" }, opener, list);
  const close = (): void => {
    list.hidden = true;
    opener.setAttribute("aria-expanded", "false");
  };
  const open = (): void => {
    for (const [index, entry] of entries.entries()) {
      items[index]!.hidden = entry.hidden?.() ?? false;
      items[index]!.setAttribute("aria-disabled", String(entry.disabled?.() ?? false));
    }
    list.hidden = false;
    opener.setAttribute("aria-expanded", "true");
    items.find((each) => !each.hidden)?.focus();
  };
  opener.addEventListener("click", () => (list.hidden ? open() : close()));
  opener.addEventListener("keydown", (event) => {
    if (event.key !== "ArrowDown") return;
    event.preventDefault();
    event.stopPropagation();
    open();
  });
  menuKeys(list, () => items, (back) => {
    close();
    if (back) opener.focus();
  });
  document.addEventListener("pointerdown", (event) => {
    if (!whole.contains(event.target as Node | null)) close();
  });
  return whole;
}

/** The keys inside an open menu: arrows, Home, End; Escape and Tab close it, Escape with the focus back. */
export function menuKeys(list: HTMLElement, items: () => HTMLButtonElement[], close: (back: boolean) => void): void {
  list.addEventListener("keydown", (event) => {
    const seen = items().filter((each) => !each.hidden);
    const at = seen.indexOf(document.activeElement as HTMLButtonElement);
    const next = at + 1;
    const steps: Record<string, number> = { ArrowDown: next, ArrowRight: next, ArrowUp: at - 1, ArrowLeft: at - 1, Home: 0, End: seen.length - 1 };
    const to = steps[event.key];
    if (to !== undefined) seen[(to + seen.length) % seen.length]?.focus();
    else if (event.key === "Escape" || event.key === "Tab") close(event.key === "Escape");
    else return;
    if (event.key !== "Tab") event.preventDefault();
    event.stopPropagation();
  });
}
