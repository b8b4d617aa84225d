/** Small pictures on buttons, drawn in the colour of the text. */

import { button, svg } from "./elements";

const PATHS = {
  first: "M6 5v14M19 5l-9 7 9 7z",
  back: "M16 5l-9 7 9 7z",
  forward: "M8 5l9 7-9 7z",
  last: "M18 5v14M5 5l9 7-9 7z",
  flip: "M8 20V5M8 5L4 9M8 5l4 4M16 4v15M16 19l-4-4M16 19l4-4",
  sun: "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2v3M12 19v3M2 12h3M19 12h3M5 5l2 2M17 17l2 2M19 5l-2 2M7 17l-2 2",
  moon: "M20 14.5A8.5 8.5 0 0 1 9.5 4 8.5 8.5 0 1 0 20 14.5z",
  auto: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM12 3v18M12 8l6.5-2M12 13l9-1M12 18l6-1",
  silent: "M4 9.5v5h4l5 4v-13l-5 4zM17 9.5l5 5M22 9.5l-5 5",
  sound: "M4 9.5v5h4l5 4v-13l-5 4zM17 8.5a5 5 0 0 1 0 7M19.5 6a8.5 8.5 0 0 1 0 12",
  settings: "M4 7h8M18 7h2M4 17h2M12 17h8M15 4.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5zM9 14.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5z",
  help: "M8.5 9a3.5 3.5 0 1 1 5 3.2c-1 .6-1.5 1.2-1.5 2.3M12 18v.5",
  down: "M6 9l6 6 6-6",
  info: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18M12 11v5.5M12 7.5v.5",
};

export type Icon = keyof typeof PATHS;

export function icon(name: Icon): SVGSVGElement {
  return svg("svg", { class: "icon", viewBox: "0 0 24 24", "aria-hidden": "true" }, svg("path", { d: PATHS[name] }));
}

/** A button with a picture; `label` says what it does. */
export function iconButton(name: Icon, label: string, act: () => void, keys = ""): HTMLButtonElement {
  const made = button("", act, { class: "icon-button", "aria-label": label, title: keys ? `${label} (${keys})` : label });
  made.append(icon(name));
  return made;
}

/** Another picture and label on the same button. */
export function relabel(made: HTMLButtonElement, name: Icon, label: string): void {
  made.replaceChildren(icon(name));
  made.setAttribute("aria-label", label);
  made.title = label;
}
