/** The first screen: three ways in, while there is no game yet. */

import { message } from "../server/asking";
import { button, el } from "./elements";
import type { Opener } from "../library/load";
import type { App } from "../app/state";
import type { Tabs } from "./tabs";
import { texts } from "../texts";

export function mountWelcome(host: HTMLElement, app: App, opener: Opener, tabs: Tabs): void {
  const example = button(texts.welcome.example, () => {
    const { kind } = app.game;
    app.say(texts.welcome.opening);
    import("../library/examples")
      .then(({ EXAMPLES }) => app.load(EXAMPLES[kind]))
      .then(
        () => app.say(texts.load.game),
        (error: unknown) => app.say(message(error), true),
      );
  });
  const against = button(texts.welcome.play, () => tabs.choose("play"));
  host.replaceChildren(
    el("p", { class: "lead" }, texts.welcome.lead),
    el("div", { class: "ways" }, button(texts.welcome.paste, () => opener.show()), example, against),
  );
  const draw = (): void => {
    const { game } = app;
    const fresh = game.nodes.size === 1 && !game.file;
    host.hidden = !fresh;
    document.getElementById("graph")!.hidden = fresh;
    const { classList } = document.getElementById("main")!;
    classList.toggle("fresh", fresh);
    classList.toggle("elsewhere", tabs.chosen !== "analysis");
    against.textContent = app.network && app.named(app.network)?.plays ? texts.welcome.against : texts.welcome.play;
  };
  for (const event of ["game", "tree", "networks"] as const) app.on(event, draw);
  tabs.on(draw);
  draw();
}
