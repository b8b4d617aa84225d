/** Who plays, where, and which game of the file it is. */

import { button, el } from "./elements";
import { iconButton } from "./icons";
import { occasion, players } from "../app/naming";
import type { App } from "../app/state";
import { texts } from "../texts";

export function mountTitle(host: HTMLElement, app: App): void {
  const name = el("h2", { tabindex: -1 });
  const about = el("p", { class: "note" });
  const choose = button("", () => void import("../library/filegames").then(({ showGames }) => showGames(app)), { class: "of-file", "aria-haspopup": "dialog" });
  const go = (index: number): void => void app.openOfFile(index).catch((error: unknown) => app.notOpened(error));
  const back = iconButton("back", texts.title.previous, () => go(app.game.file!.index - 1));
  const forward = iconButton("forward", texts.title.next, () => go(app.game.file!.index + 1));
  const chooser = el("div", { class: "games" }, back, choose, forward);
  const problems = el("ul");
  const summary = el("summary");
  const details = el("details", { class: "problems" }, summary, problems);
  host.replaceChildren(name, about, chooser, details);
  const tell = (): void => {
    about.textContent = [occasion(app.game), openingOf(app)].filter(Boolean).join(" · ");
    about.hidden = !about.textContent;
  };
  const draw = (): void => {
    const { game } = app;
    const { file } = game;
    const size = game.start.size ?? 19;
    name.textContent = players(game) || (game.kind === "chess" ? texts.common.chess : texts.common.goBoard(size));
    tell();
    document.title = players(game) ? `${players(game)} – kibitz` : "kibitz";
    chooser.hidden = !file || file.count < 2;
    details.hidden = !file?.problems.length;
    if (!file) return;
    if (!chooser.hidden) {
      choose.textContent = texts.title.gameOf(file.index + 1, file.count);
      back.disabled = file.index === 0;
      forward.disabled = file.index === file.count - 1;
    }
    const count = file.problems.length;
    summary.textContent = texts.title.problems(count);
    problems.replaceChildren(...file.problems.map((each) => el("li", {}, each)));
  };
  app.on("game", draw);
  app.on("tree", draw);
  app.on("cursor", tell);
  draw();
}

/** The last opening on the way to the position that is shown; what the game itself says where the table knows none. */
export function openingOf(app: App): string {
  const { game, path } = app;
  if (game.kind !== "chess") return "";
  const named = path.slice(0, app.place + 1).findLast((id) => app.node(id).opening);
  if (named !== undefined) return app.node(named).opening!;
  return app.place ? [game.headers["ECO"], game.headers["Opening"]].filter((each) => each && each !== "?").join(" ") : "";
}
