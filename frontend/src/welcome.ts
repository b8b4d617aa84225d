/** The first screen: three ways in, while there is no game yet. */

import { message } from "./asking";
import { button, el } from "./elements";
import type { Opener } from "./load";
import type { App } from "./state";
import { texts } from "./texts";

export function mountWelcome(host: HTMLElement, app: App, opener: Opener, play: () => void): void {
  const example = button(texts.welcome.example, () => {
    const { kind } = app.game;
    import("./examples")
      .then(({ EXAMPLES }) => app.load(EXAMPLES[kind]))
      .catch((error: unknown) => app.say(message(error)));
  });
  const against = button(texts.welcome.play, play);
  host.replaceChildren(
    el("p", { class: "lead" }, texts.welcome.lead),
    el("div", { class: "ways" }, button(texts.welcome.paste, () => opener.show()), example, against),
  );
  const draw = (): void => {
    const { game } = app;
    host.hidden = game.nodes.size > 1 || Boolean(game.file);
    document.getElementById("graph")!.hidden = !host.hidden;
    document.getElementById("main")!.classList.toggle("fresh", !host.hidden);
    against.textContent = app.network && app.named(app.network)?.plays ? texts.welcome.against : texts.welcome.play;
  };
  for (const event of ["game", "tree", "networks"] as const) app.on(event, draw);
  draw();
}
