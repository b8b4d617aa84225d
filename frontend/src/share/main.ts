/** The page of one network, without a server: the parts of the board's page, on rules and a network in the browser. */

import "../ui/game.css";
import "../ui/tabs.css";
import "../app/layout.css";
import "./share.css";

import { mountBoard } from "../board/board";
import { mountControls } from "../board/controls";
import { mountEvalBar } from "../analysis/evalbar";
import { Handover } from "../app/handover";
import { Counter } from "../play/gocount";
import { mountGraph } from "../analysis/graph";
import { Judging } from "../server/judging";
import { kept } from "../app/storage";
import { message } from "../server/asking";
import { mountKeys } from "../ui/keys";
import { mountLoading } from "../library/load";
import { Mistakes } from "../analysis/mistakes";
import { mountMoves } from "../analysis/movelist";
import { mountNetwork } from "../analysis/network";
import { mountPlayers } from "../play/players";
import { App } from "../app/state";
import { mountSpoken, mountStatus } from "../ui/status";
import { mountTabs, type Tabs } from "../ui/tabs";
import { texts } from "../texts";
import { mountTitle } from "../ui/title";
import { Address } from "../app/url";
import { mountWelcome } from "../ui/welcome";
import { mountAsides } from "./asides";
import { mountHeader } from "./header";
import { LocalApi } from "./local";
import type { Shared } from "./network";

const place = (id: string): HTMLElement => document.getElementById(id)!;

async function read(): Promise<Shared> {
  const response = await fetch("network.json");
  if (!response.ok) throw new Error(texts.share.missing("network.json"));
  return (await response.json()) as Shared;
}

function begin(shared: Shared): void {
  place("board-part").ariaLabel = texts.main.board;
  place("game-part").ariaLabel = texts.main.game;
  place("side").ariaLabel = texts.main.networks;
  document.documentElement.dataset.drop = texts.load.drop;
  const api = new LocalApi(shared, (share) => far(share));
  const app = new App(api);
  const far = (share: number): void => app.say(texts.share.loading(Math.floor(100 * share)), false, true);
  const mistakes = new Mistakes(app, new Judging(app));
  const address = new Address(app);
  const opener = mountLoading(app);
  const size = (): void => void place("main").classList.toggle("of-go", app.game.kind === "go");
  app.on("game", size);
  mountHeader(place("header"), app, opener, shared);
  mountEvalBar(place("evalbar"), app, mistakes.judging);
  const typed = mountControls(place("controls"), app);
  const counter = new Counter(app);
  mountBoard(place("board"), place("controls"), app, counter);
  mountPlayers(place("player-above"), place("player-below"), app);
  mountStatus(place("status"), app);
  mountSpoken(place("spoken"), app, mistakes.judging);
  mountTitle(place("title"), app);
  place("title").after(counter.element);
  mountGraph(place("graph"), app, mistakes);
  mountMoves(place("moves"), app, mistakes);
  const analysis = (host: HTMLElement): void => {
    mountNetwork(host, app, mistakes.judging);
    host.prepend(mountAsides(app, api));
  };
  const tabs: Tabs = mountTabs(place("panels"), [
    { id: "analysis", name: texts.tabs.analysis, mount: analysis },
    { id: "play", name: texts.tabs.play, mount: async (host) => (await import("../play/play")).mountPlay(host, app, new Handover<string>()) },
  ]);
  mountWelcome(place("welcome"), app, opener, tabs);
  mountKeys(app, mistakes, typed, place("board"), () => opener.show());
  // A game against the network goes on after a reload.
  if (kept("session", "match")) tabs.mount("play");
  void address.begin(tabs);
  // For scripts of the same page, and for tests.
  Object.assign(window, { kibitz: api });
  api.ready().then(
    () => {
      if (app.lasting) app.say("");
      // For tests: words change.
      document.documentElement.dataset.network = "ready";
      // Only now, so that nothing is loaded twice while somebody waits.
      keepOffline();
    },
    (error: unknown) => {
      app.say(message(error), true, true);
      void app.findNetworks();
    },
  );
}

/** Keeps the page for use without a connection, where the browser and the host allow it. */
function keepOffline(): void {
  if (!("serviceWorker" in navigator) || !window.isSecureContext) return;
  navigator.serviceWorker.register("sw.js").catch(() => undefined);
}

read().then(begin, (error: unknown) => {
  const said = place("status");
  said.classList.add("problem");
  said.textContent = message(error);
});
