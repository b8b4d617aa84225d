/** The menu of the game: taking back, saving, the games before. */

import { button, el } from "../ui/elements";
import { Keeper, type Kept, reopened, Store } from "../app/earlier";
import { hasValues } from "../app/displayed";
import { menu } from "../ui/menu";
import { showMoveMenu } from "../analysis/movemenu";
import type { Mistakes } from "../analysis/mistakes";
import { saveGame } from "./save";
import type { App } from "../app/state";
import { language, texts } from "../texts";

export function gameMenu(app: App, mistakes: Mistakes): HTMLElement {
  const keeper = new Keeper(app, app.store);
  const made = menu(texts.gamemenu.game, [
    { text: texts.gamemenu.undo, act: () => app.undo(), keys: "Control+Z" },
    { text: texts.gamemenu.redo, act: () => app.redo(), disabled: () => !app.game.history.next, keys: "Control+Y" },
    { text: texts.gamemenu.edit, act: () => edit(app, made), keys: "e" },
    { text: texts.gamemenu.setup, act: () => void import("../board/setup").then(({ showSetup }) => showSetup(app)), hidden: () => app.game.kind === "go" },
    { text: texts.gamemenu.save, act: () => void saveGame(app), keys: "Control+S" },
    { text: texts.gamemenu.saveAnalysed, act: () => void import("./annotated").then(({ saveAnnotated }) => saveAnnotated(app, mistakes)), hidden: () => !app.api.annotates, disabled: () => !hasValues(app, mistakes.judging) },
    { text: texts.gamemenu.games, act: () => void import("./filegames").then(({ showGames }) => showGames(app)), hidden: () => (app.game.file?.count ?? 1) < 2 },
    { text: texts.gamemenu.earlier, act: () => void showEarlier(app, keeper.store) },
  ]);
  return made;
}

/** The menu of the present move, under this one. */
function edit(app: App, under: HTMLElement): void {
  const box = under.getBoundingClientRect();
  showMoveMenu(app, app.cursor, box.left, box.bottom);
}

async function showEarlier(app: App, store: Store): Promise<void> {
  const games = (await store.all()).filter(({ key }) => key !== app.game.key);
  const list = el("ol", { "aria-label": texts.gamemenu.title, tabindex: 0 });
  const none = el("p", { class: "note", hidden: games.length > 0 }, texts.gamemenu.none);
  const dialog = el(
    "dialog",
    { class: "dialog list-dialog", "aria-label": texts.gamemenu.title },
    el("h2", {}, texts.gamemenu.title),
    el("p", { class: "note", hidden: games.length === 0 }, texts.gamemenu.last20),
    none,
    list,
    el("div", { class: "dialog-buttons" }, button(texts.common.close, () => dialog.close(), { class: "primary" })),
  );
  const open = async (kept: Kept): Promise<void> => {
    dialog.close();
    if (!(await app.mayOpen())) return;
    app.open(...reopened(kept));
    app.say(texts.gamemenu.opened(kept.title));
  };
  for (const kept of games) {
    const when = new Date(kept.time).toLocaleString(language === "en" ? "en-GB" : language, { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit" });
    const about = el("span", { class: "about" }, [when, kept.about].filter(Boolean).join(" · "));
    const entry = button("", () => void open(kept));
    entry.append(el("span", {}, kept.title), about);
    const row = el("li", {}, entry);
    row.append(
      button(
        texts.gamemenu.delete,
        () => {
          row.remove();
          none.hidden = list.childElementCount > 0;
          void store.remove(kept.key);
        },
        { "aria-label": texts.gamemenu.deleteOne(kept.title) },
      ),
    );
    list.append(row);
  }
  dialog.addEventListener("close", () => dialog.remove());
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  document.body.append(dialog);
  dialog.showModal();
}
