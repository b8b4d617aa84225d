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

/** The networks by game; one that cannot be asked yet says so when it is chosen. */
export function networkChooser(app: App): HTMLElement {
  const select = el("select", { id: "network", "aria-label": texts.header.network });
  let known = "";
  const draw = (): void => {
    const asked = JSON.stringify(app.networks.map(({ name, game, problem }) => [name, game, problem !== null]));
    if (asked !== known) {
      known = asked;
      const groups = (["chess", "go"] as const).map((kind) => {
        const here = app.networks.filter((each) => each.game === kind);
        // Those of the command line first.
        const rank = (name: string): number => (app.given.includes(name) ? app.given.indexOf(name) : app.given.length);
        here.sort((a, b) => rank(a.name) - rank(b.name));
        const options = here.map(({ name, problem }) => el("option", { value: name }, problem ? texts.header.notReady(name) : name));
        return el("optgroup", { label: kind === "chess" ? texts.common.chess : texts.common.go, hidden: !options.length }, ...options);
      });
      select.replaceChildren(...groups);
    }
    select.value = app.network ?? "";
    select.disabled = app.networks.length === 0;
  };
  select.addEventListener("change", () => {
    app.choose(select.value);
    // Arrow keys are for the moves again.
    select.blur();
  });
  app.on("networks", draw);
  draw();
  return el("label", { class: "chooser" }, el("span", {}, texts.header.network), select);
}
