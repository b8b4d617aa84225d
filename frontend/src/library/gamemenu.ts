/** The menu of the game: taking back, saving, the games before. */

import { Keeper } from "../app/earlier";
import { hasValues } from "../app/displayed";
import { menu } from "../ui/menu";
import { showMoveMenu } from "../analysis/movemenu";
import type { Mistakes } from "../analysis/mistakes";
import type { App } from "../app/state";
import { texts } from "../texts";

export function gameMenu(app: App, mistakes: Mistakes): HTMLElement {
  const keeper = new Keeper(app, app.store);
  const made = menu(texts.gamemenu.game, [
    { text: texts.gamemenu.undo, act: () => app.undo(), keys: "Control+Z" },
    { text: texts.gamemenu.redo, act: () => app.redo(), disabled: () => !app.game.history.next, keys: "Control+Y" },
    { text: texts.gamemenu.edit, act: () => edit(app, made), keys: "e" },
    { text: texts.gamemenu.setup, act: () => void import("../board/setup").then(({ showSetup }) => showSetup(app)), hidden: () => app.game.kind === "go" },
    { text: texts.gamemenu.save, act: () => void import("./save").then(({ saveGame }) => saveGame(app)), keys: "Control+S" },
    { text: texts.gamemenu.saveAnalysed, act: () => void import("./annotated").then(({ saveAnnotated }) => saveAnnotated(app, mistakes)), hidden: () => !app.api.annotates, disabled: () => !hasValues(app, mistakes.judging) },
    { text: texts.gamemenu.savePage, act: () => void import("./annotated").then(({ saveAsPage }) => saveAsPage(app, mistakes)), hidden: () => !app.api.annotates, disabled: () => !hasValues(app, mistakes.judging) },
    { text: texts.gamemenu.games, act: () => void import("./filegames").then(({ showGames }) => showGames(app)), hidden: () => (app.game.file?.count ?? 1) < 2 },
    { text: texts.gamemenu.earlier, act: () => void import("./earliergames").then(({ showEarlier }) => showEarlier(app, keeper.store)) },
  ]);
  return made;
}

/** The menu of the present move, under this one. */
function edit(app: App, under: HTMLElement): void {
  const box = under.getBoundingClientRect();
  showMoveMenu(app, app.cursor, box.left, box.bottom);
}
