/** The games of a file: a list with a search box. */

import { message } from "./asking";
import { button, el } from "./elements";
import type { App } from "./state";
import { texts } from "./texts";

/** So many are listed at once; a search narrows them. */
const SHOWN = 200;

export function showGames(app: App): void {
  const { file } = app.game;
  if (!file) return;
  const said = el("p", { class: "note", role: "status" });
  const list = el("ol", { "aria-label": texts.filegames.list, tabindex: 0 });
  const search = el("input", { type: "search", "aria-label": texts.filegames.search, placeholder: texts.filegames.hint, autocomplete: "off" });
  const dialog = el(
    "dialog",
    { class: "dialog list-dialog", "aria-label": texts.filegames.title },
    el("h2", {}, texts.filegames.title),
    search,
    said,
    list,
    el("div", { class: "dialog-buttons" }, button(texts.common.close, () => dialog.close(), { class: "primary" })),
  );
  const open = (index: number): void => {
    dialog.close();
    app.openOfFile(index).catch((error: unknown) => app.say(message(error), true));
  };
  const titles = file.games.map(({ title }) => title.toLowerCase());
  const draw = (): void => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const fitting = file.games.filter((_, at) => words.every((word) => titles[at]!.includes(word)));
    const rows = fitting.slice(0, SHOWN).map(({ index, title }) => {
      const current = index === file.index ? "true" : null;
      return el("li", {}, button(`${texts.common.number(index + 1)}. ${title}`, () => open(index), { "aria-current": current }));
    });
    list.replaceChildren(...rows);
    const found = words.length ? texts.filegames.fitting(fitting.length, file.count) : texts.filegames.all(fitting.length);
    const unlisted = file.count > file.games.length && !words.length ? texts.filegames.unlisted(file.count - file.games.length) : "";
    said.textContent = fitting.length > SHOWN ? texts.filegames.first(found, SHOWN) : `${found}${unlisted}.`;
  };
  search.addEventListener("input", draw);
  search.addEventListener("keydown", (event) => {
    const first = list.querySelector("button");
    if (event.key === "Enter") first?.click();
    else if (event.key === "ArrowDown") first?.focus();
    else return;
    event.preventDefault();
  });
  list.addEventListener("keydown", (event) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const all = [...list.querySelectorAll("button")];
    const at = all.indexOf(document.activeElement as HTMLButtonElement);
    if (!by || at < 0) return;
    event.preventDefault();
    (all[at + by] ?? (by < 0 ? search : all[at]))?.focus();
  });
  dialog.addEventListener("close", () => dialog.remove());
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  document.body.append(dialog);
  draw();
  dialog.showModal();
  const current = file.index < SHOWN ? list.querySelector("[aria-current]") : null;
  current?.scrollIntoView({ block: "center" });
}
