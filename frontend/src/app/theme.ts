/** Dark or light: as the system has it, or as somebody chose. */

import { iconButton, relabel, type Icon } from "../ui/icons";
import { keep, kept } from "./storage";
import { texts } from "../texts";

type Theme = "auto" | "light" | "dark";

const THEMES: Record<Theme, { icon: Icon; next: Theme }> = {
  auto: { icon: "auto", next: "light" },
  light: { icon: "sun", next: "dark" },
  dark: { icon: "moon", next: "auto" },
};

let theme: Theme = "auto";

/** As early as can be, so that the page does not change its colours in front of somebody. */
export function restoreTheme(): void {
  setTheme(kept("local", "theme") ?? "auto");
}

function setTheme(name: string): void {
  theme = name in THEMES ? (name as Theme) : "auto";
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

export function themeButton(say: (text: string) => void): HTMLButtonElement {
  const made = iconButton("auto", "", () => {
    setTheme(THEMES[theme].next);
    keep("local", "theme", theme);
    draw();
    say(texts.theme[theme]);
  });
  const draw = (): void => relabel(made, THEMES[theme].icon, texts.theme[theme]);
  draw();
  return made;
}
