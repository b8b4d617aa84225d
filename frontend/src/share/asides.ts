/** Beside what the network says: whose moves are shown, and how likely it took the next move of the game to be. */

import { Choice, el, percent, write } from "../ui/elements";
import type { App } from "../app/state";
import { lettered, texts } from "../texts";
import type { LocalApi } from "./local";

const RATINGS = [800, 1000, 1200, 1400, 1600, 1800, 2000, 2200, 2400];

export function mountAsides(app: App, api: LocalApi): HTMLElement {
  const rating = new Choice(texts.share.rating, (chosen) => {
    api.rating = Number(chosen);
    void app.findNetworks();
  });
  rating.element.title = texts.share.ratingAbout;
  rating.offer([["0", texts.share.anyRating], ...RATINGS.map((each) => [String(each), String(each)] as const)], "0");
  rating.element.hidden = !api.shared.network.rated || app.game.kind === "go";
  const next = el("p", { class: "note next-move" });
  const draw = (): void => write(next, app.hints ? saidOf(app) : "");
  for (const event of ["game", "tree", "path", "cursor", "results", "settings", "networks"] as const) app.on(event, draw);
  draw();
  return el("div", { class: "asides" }, rating.element, next);
}

/** What the network thought of the next move of the line; "" where there is none, or nothing is known. */
function saidOf(app: App): string {
  const id = app.path[app.place + 1];
  const moves = app.network ? app.result(app.network, app.cursor)?.moves : null;
  if (id === undefined || !moves?.length) return "";
  const { move } = app.node(id);
  const san = lettered(app.node(id).san);
  const place = moves.findIndex((each) => each.move === move);
  return place < 0 ? texts.share.surprise(san) : texts.share.played(san, percent(moves[place]!.p), place + 1);
}
