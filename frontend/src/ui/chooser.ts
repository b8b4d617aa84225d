/** The choice of a network, in the head of the board's page. */

import "./chooser.css";

import { el } from "./elements";
import type { App } from "../app/state";
import { texts } from "../texts";

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
