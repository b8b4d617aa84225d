/** Who plays, where, and which game of the file it is. */

import { message } from "./asking";
import { el } from "./elements";
import { iconButton } from "./icons";
import { occasion, players } from "./naming";
import type { App } from "./state";

export function mountTitle(host: HTMLElement, app: App): void {
  const name = el("h2", { tabindex: -1 });
  const about = el("p", { class: "note" });
  const select = el("select", { "aria-label": "Game of the file" });
  const go = (index: number): void => {
    const { file } = app.game;
    if (!file || index < 0 || index >= file.count) return;
    app.load(file.text, index).catch((error: unknown) => app.say(message(error)));
  };
  const back = iconButton("back", "Previous game", () => go(app.game.file!.index - 1));
  const forward = iconButton("forward", "Next game", () => go(app.game.file!.index + 1));
  const chooser = el("div", { class: "games" }, back, select, forward);
  const problems = el("ul");
  const summary = el("summary");
  const details = el("details", { class: "problems" }, summary, problems);
  host.replaceChildren(name, about, chooser, details);
  select.addEventListener("change", () => {
    go(Number(select.value));
    select.blur();
  });

  let offered: unknown = null;
  const draw = (): void => {
    const { game } = app;
    const { file } = game;
    const size = game.start.size ?? 19;
    name.textContent = players(game) || (game.kind === "chess" ? "Chess" : `Go, ${size} × ${size}`);
    about.textContent = occasion(game);
    about.hidden = !about.textContent;
    chooser.hidden = !file || file.count < 2;
    details.hidden = !file?.problems.length;
    if (!file) return;
    if (!chooser.hidden) {
      if (offered !== file.text) {
        offered = file.text;
        select.replaceChildren(...file.games.map(({ index, title }) => el("option", { value: index }, `${index + 1}. ${title}`)));
      }
      // Beyond the list: a place of its own.
      if (!file.games.some(({ index }) => index === file.index)) {
        offered = null;
        select.append(el("option", { value: file.index }, `Game ${file.index + 1} of ${file.count}`));
      }
      select.value = String(file.index);
      back.disabled = file.index === 0;
      forward.disabled = file.index === file.count - 1;
    }
    const count = file.problems.length;
    summary.textContent = count === 1 ? "One problem in this file" : `${count} problems in this file`;
    problems.replaceChildren(...file.problems.map((each) => el("li", {}, each)));
  };
  app.on("game", draw);
  draw();
}
