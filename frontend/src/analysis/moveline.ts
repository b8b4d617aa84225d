/** The moves of the line that is looked at in one row below the board, which scrolls sideways: on a phone, where the list of moves is far below. */

import "./moveline.css";
import { firstColumn, numeral } from "../app/naming";
import type { App } from "../app/state";
import { lettered, texts } from "../texts";
import { el } from "../ui/elements";
import type { Mistakes } from "./mistakes";
import { listenForMenus } from "./movemenu";

export function mountMoveLine(host: HTMLElement, app: App, mistakes: Mistakes): void {
  const buttons = new Map<number, HTMLButtonElement>();
  let current: HTMLButtonElement | undefined;
  let drawn = "";
  const sign = (id: number): HTMLElement | null => {
    const said = mistakes.sign(id);
    return said ? el("span", { class: `mark ${said.name}` }, said.text) : null;
  };
  const draw = (): void => {
    const moves = app.path.slice(1).map((id) => app.node(id));
    const now = JSON.stringify(moves.map(({ id, san }) => [id, san, mistakes.sign(id)?.text]));
    if (now === drawn) return;
    drawn = now;
    const focused = [...buttons].find(([, each]) => each === document.activeElement)?.[0];
    buttons.clear();
    for (const [at, node] of moves.entries()) {
      const numbered = at === 0 || firstColumn(app.game, node);
      const number = numbered ? el("span", { class: "numeral" }, numeral(app.game, node)) : null;
      buttons.set(node.id, el("button", { type: "button", class: "move", "data-id": node.id, tabindex: -1 }, number, lettered(node.san), sign(node.id)));
    }
    host.replaceChildren(...buttons.values());
    follow();
    // Marks that come in do not take the keyboard's place.
    if (focused !== undefined) (buttons.get(focused) ?? current)?.focus({ preventScroll: true });
  };
  const follow = (): void => {
    current?.removeAttribute("aria-current");
    current = buttons.get(app.cursor);
    current?.setAttribute("aria-current", "true");
    for (const [, each] of buttons) each.tabIndex = each === (current ?? host.firstElementChild) ? 0 : -1;
    host.scrollLeft = current ? current.offsetLeft - (host.clientWidth - current.offsetWidth) / 2 : 0;
  };
  host.setAttribute("role", "group");
  host.setAttribute("aria-label", texts.movelist.row);
  host.addEventListener("click", (event) => {
    const id = Number((event.target as Element).closest<HTMLElement>("button")?.dataset.id);
    if (app.game.nodes.has(id)) app.go(id);
  });
  listenForMenus(app, host);
  for (const event of ["game", "tree", "path", "results", "networks", "settings", "judgements"] as const) app.on(event, draw);
  app.on("cursor", follow);
  // Hidden by another tab or by a wide window, the row has no place to scroll to.
  new ResizeObserver(follow).observe(host);
  draw();
}
