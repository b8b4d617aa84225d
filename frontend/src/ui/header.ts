/** The head of a page: its name, new games, files, copies, and the page's own switches. */

import { copyEntries } from "../library/copy";
import { button, el } from "./elements";
import { gameMenu } from "../library/gamemenu";
import { iconButton } from "./icons";
import type { Opener } from "../library/load";
import type { Mistakes } from "../analysis/mistakes";
import { type Entry, menu } from "./menu";
import { soundButton } from "../app/sound";
import type { App } from "../app/state";
import { texts } from "../texts";
import { themeButton } from "../app/theme";

/** What differs between pages: the heading, the games that begin, and the page's own elements. */
export interface Head {
  name: string;
  /** "chess", or a size of the board of Go. */
  games: readonly ("chess" | number)[];
  beside?: HTMLElement;
  buttons?: HTMLElement[];
}

export function mountHeader(host: HTMLElement, app: App, opener: Opener, mistakes: Mistakes, { name, games, beside, buttons = [] }: Head): void {
  const fresh = games.map((game): Entry => (game === "chess" ? { text: texts.common.chess, act: () => void app.fresh("chess") } : { text: texts.common.goBoard(game), act: () => void app.fresh("go", game) }));
  host.replaceChildren(
    el("h1", {}, name),
    beside ?? "",
    el(
      "div",
      { class: "head-game" },
      menu(texts.header.new, fresh),
      button(texts.header.open, () => opener.show(), { "aria-haspopup": "dialog", title: texts.header.openAbout }),
      menu(texts.header.copy, copyEntries(app, mistakes)),
      gameMenu(app, mistakes),
    ),
    el(
      "div",
      { class: "head-page" },
      ...buttons,
      soundButton(app),
      themeButton((text) => app.say(text)),
      iconButton("settings", texts.settings.title, () => void import("../app/settings").then(({ showSettings }) => showSettings())),
      iconButton("help", texts.header.help, () => void import("./help").then(({ showHelp }) => showHelp()), "?"),
    ),
  );
}
