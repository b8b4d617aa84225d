/** A button that opens a few choices. */

import { button, el, fresh } from "./elements";
import { icon } from "./icons";

export interface Entry {
  text: string;
  act: () => void;
  hidden?: () => boolean;
}

export function menu(label: string, entries: Entry[]): HTMLElement {
  const id = fresh("menu");
  const opener = el("button", { type: "button", "aria-haspopup": "menu", "aria-expanded": "false", "aria-controls": id }, label, icon("down"));
  const items = entries.map((entry) =>
    button(
      entry.text,
      () => {
        close();
        opener.focus();
        entry.act();
      },
      { role: "menuitem", tabindex: -1 },
    ),
  );
  const list = el("div", { id, class: "menu-list", role: "menu", "aria-label": label, hidden: true }, ...items);
  const whole = el("div", { class: "menu" }, opener, list);
  const close = (): void => {
    list.hidden = true;
    opener.setAttribute("aria-expanded", "false");
  };
  const open = (): void => {
    for (const [index, entry] of entries.entries()) items[index]!.hidden = entry.hidden?.() ?? false;
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
  list.addEventListener("keydown", (event) => {
    const seen = items.filter((each) => !each.hidden);
    const at = seen.indexOf(document.activeElement as HTMLButtonElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: seen.length - 1 }[event.key];
    if (to !== undefined) seen[(to + seen.length) % seen.length]?.focus();
    else if (event.key === "Escape") {
      close();
      opener.focus();
    } else if (event.key === "Tab") close();
    else return;
    if (event.key !== "Tab") event.preventDefault();
    event.stopPropagation();
  });
  document.addEventListener("pointerdown", (event) => {
    if (!whole.contains(event.target as Node | null)) close();
  });
  return whole;
}
