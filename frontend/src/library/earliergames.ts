/** The dialog with the games before, that were changed here. */

import "./lists.css";
import { button, el } from "../ui/elements";
import { distinct, type Kept, reopened, type Store, unite } from "../app/earlier";
import type { App } from "../app/state";
import { language, lettered, texts } from "../texts";

export async function showEarlier(app: App, store: Store): Promise<void> {
  const games = distinct(await unite(store), app.game).once.filter(({ key }) => key !== app.game.key);
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
    const about = el("span", { class: "about" }, [when, movesLettered(kept.about)].filter(Boolean).join(" · "));
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

/** The moves are the last part; before it, an event's name stays as it is. */
const movesLettered = (about: string): string => about.replace(/[^·]*$/, lettered);
