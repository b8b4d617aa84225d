/** Dark or light: as the system has it, or as somebody chose. */

import { iconButton, relabel, type Icon } from "./icons";
import { keep, kept } from "./kept";

const THEMES: Record<string, { icon: Icon; label: string; next: string }> = {
  auto: { icon: "auto", label: "Colours: as the system has them", next: "light" },
  light: { icon: "sun", label: "Colours: light", next: "dark" },
  dark: { icon: "moon", label: "Colours: dark", next: "auto" },
};

let theme = "auto";

/** As early as can be, so that the page does not change its colours in front of somebody. */
export function restoreTheme(): void {
  setTheme(kept("local", "theme") ?? "auto");
}

function setTheme(name: string): void {
  theme = name in THEMES ? name : "auto";
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

export function themeButton(say: (text: string) => void): HTMLButtonElement {
  const made = iconButton("auto", "", () => {
    setTheme(THEMES[theme]!.next);
    keep("local", "theme", theme);
    draw();
    say(THEMES[theme]!.label);
  });
  const draw = (): void => relabel(made, THEMES[theme]!.icon, THEMES[theme]!.label);
  draw();
  return made;
}
