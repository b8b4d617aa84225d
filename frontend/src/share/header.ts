/** The head of the page of one network: its name, new games, files, copies, and what there is to know of it. */

import { copyEntries } from "../library/copy";
import { gameMenu } from "../library/gamemenu";
import type { Opener } from "../library/load";
import { button, el } from "../ui/elements";
import { showHelp } from "../ui/help";
import { iconButton } from "../ui/icons";
import { type Entry, menu } from "../ui/menu";
import { soundButton } from "../app/sound";
import type { App } from "../app/state";
import { themeButton } from "../app/theme";
import { fromServer, texts } from "../texts";
import type { Shared } from "./network";

export function mountHeader(host: HTMLElement, app: App, opener: Opener, shared: Shared): void {
  const { game, sizes = [], name } = shared.network;
  const begin = (size?: number): (() => void) => () => void app.fresh(game, size);
  const fresh: Entry[] = game === "chess" ? [{ text: texts.common.chess, act: begin() }] : [...sizes].sort((a, b) => b - a).map((size) => ({ text: texts.common.goBoard(size), act: begin(size) }));
  const about = aboutDialog(shared);
  host.replaceChildren(
    el("h1", {}, name),
    el(
      "div",
      { class: "head-game" },
      menu(texts.header.new, fresh),
      button(texts.header.open, () => opener.show(), { "aria-haspopup": "dialog", title: texts.header.openAbout }),
      menu(texts.header.copy, copyEntries(app)),
      gameMenu(app),
    ),
    el(
      "div",
      { class: "head-page" },
      iconButton("info", texts.share.about, () => about.showModal()),
      soundButton(app),
      themeButton((text) => app.say(text)),
      iconButton("settings", texts.settings.title, () => void import("../app/settings").then(({ showSettings }) => showSettings())),
      iconButton("help", texts.header.help, () => showHelp(), "?"),
    ),
  );
}

/** Network, card, license and source. */
function aboutDialog({ network, license, source, card }: Shared): HTMLDialogElement {
  const dialog = el(
    "dialog",
    { class: "dialog about-dialog", "aria-labelledby": "about-title" },
    el("h2", { id: "about-title" }, network.name),
    el("p", {}, fromServer(network.title)),
    el("p", { class: "note" }, texts.share.privacy),
    el("dl", {}, el("dt", {}, texts.share.system), el("dd", {}, network.system), el("dt", {}, texts.share.license), el("dd", {}, license), el("dt", {}, texts.share.source), el("dd", {}, source)),
    card ? el("details", {}, el("summary", {}, texts.share.card), el("pre", { tabindex: 0 }, card)) : "",
    el("div", { class: "dialog-buttons" }, button(texts.common.close, () => dialog.close(), { class: "primary" })),
  );
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  document.body.append(dialog);
  return dialog;
}
