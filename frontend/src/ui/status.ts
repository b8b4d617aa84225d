/** What the page says: the line under the board, and for those who hear it, the position. */

import { whose } from "../app/chance";
import { displayedChance } from "../app/displayed";
import { percent } from "./elements";
import type { Judging } from "../server/judging";
import { ending } from "../app/naming";
import { named } from "../app/naming";
import type { App } from "../app/state";
import { texts } from "../texts";

/** What was said is taken away after so long, ms; that the server is gone stays. */
const STANDS = 12_000;
const PROBLEMS_STAND = 60_000;
/** What was said of a step is not taken away by that step, ms. */
const FRESH = 500;
/** How often the page looks how far the search is prepared, ms. */
const PREPARING_EVERY = 1_000;

/** A position is spoken once it has been shown for so long, ms. */
const SPOKEN_AFTER = 600;

export function mountStatus(host: HTMLElement, app: App): void {
  let timer = 0;
  let since = 0;
  const clear = (): void => {
    app.status = ""; // so that the progress of the preparation is shown again
    host.textContent = "";
    host.classList.remove("problem");
  };
  app.on("cursor", () => {
    const end = ending(app.node());
    if (!app.connected) return;
    if (end) app.say(end);
    else if (host.textContent && !app.lasting && (app.refused || performance.now() - since > FRESH)) clear();
  });
  app.on("game", () => app.connected && app.refused && clear());
  app.on("status", () => {
    since = performance.now();
    window.clearTimeout(timer);
    host.textContent = app.status;
    host.title = app.status;
    host.classList.toggle("problem", app.problem);
    host.classList.toggle("lost", !app.connected);
    if (app.connected && !app.lasting) timer = window.setTimeout(clear, app.problem ? PROBLEMS_STAND : STANDS);
  });
}

/** Shows how far the server's search is prepared, once after an install, until it is ready or something else is said. */
export async function showPreparing(app: App): Promise<void> {
  let shown = "";
  for (;;) {
    const now = await app.api.preparing().catch(() => null);
    if (!now?.is_running) break;
    if (now.total && (!app.status || app.status === shown)) {
      shown = texts.status.preparing(now.done, now.total, now.left);
      app.say(shown);
    }
    await new Promise((resolve) => window.setTimeout(resolve, PREPARING_EVERY));
  }
  if (shown && app.status === shown) app.say("");
}

/** Once somebody stands still, and again when the value changes. */
export function mountSpoken(host: HTMLElement, app: App, judging: Judging): void {
  let timer = 0;
  const speak = (): void => {
    timer = 0;
    const node = app.node();
    const p = app.hints ? (displayedChance(app, judging)?.chance ?? null) : null;
    const chance = p === null ? "" : texts.status.chance(whose(app.game.kind), percent(p));
    const words = [`${named(app, node)}.`, ending(node), chance].filter(Boolean).join(" ");
    if (host.textContent !== words) host.textContent = words;
  };
  const soon = (): void => {
    window.clearTimeout(timer);
    timer = window.setTimeout(speak, SPOKEN_AFTER);
  };
  for (const event of ["cursor", "game"] as const) app.on(event, soon);
  // Values of other moves come all the time: they do not put it off.
  for (const event of ["results", "judgements", "settings", "networks"] as const) app.on(event, () => (timer ||= window.setTimeout(speak, SPOKEN_AFTER)));
}
