/** The head of the page: the network, new games, files, copies, and the page's own switches. */

import { copyEntries } from "../library/copy";
import { button, el } from "./elements";
import { gameMenu } from "../library/gamemenu";
import { showHelp } from "./help";
import { iconButton } from "./icons";
import type { Opener } from "../library/load";
import { menu } from "./menu";
import { soundButton } from "../app/sound";
import type { App } from "../app/state";
import { texts } from "../texts";
import { themeButton } from "../app/theme";

export function mountHeader(host: HTMLElement, app: App, opener: Opener): void {
  const begin = (kind: "chess" | "go", size?: number): (() => void) => {
    return () => void app.fresh(kind, size);
  };
  host.replaceChildren(
    el("h1", {}, "kibitz"),
    chooser(app),
    el(
      "div",
      { class: "head-game" },
      menu(texts.header.new, [
        { text: texts.common.chess, act: begin("chess") },
        { text: texts.common.goBoard(19), act: begin("go", 19) },
        { text: texts.common.goBoard(13), act: begin("go", 13) },
        { text: texts.common.goBoard(9), act: begin("go", 9) },
      ]),
      button(texts.header.open, () => opener.show(), { "aria-haspopup": "dialog", title: texts.header.openAbout }),
      menu(texts.header.copy, copyEntries(app)),
      gameMenu(app),
    ),
    el(
      "div",
      { class: "head-page" },
      soundButton(app),
      themeButton((text) => app.say(text)),
      iconButton("settings", texts.settings.title, () => void import("../app/settings").then(({ showSettings }) => showSettings())),
      iconButton("help", texts.header.help, () => showHelp(), "?"),
    ),
  );
}

/** The networks by game; one that cannot be asked yet says so when it is chosen. */
function chooser(app: App): HTMLElement {
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
