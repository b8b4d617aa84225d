/** The parts that every page has: each is put into its place, and all share one App. */

import "./ui/game.css";
import "./ui/tabs.css";
import "./app/layout.css";

import { mountLinePreview } from "./analysis/linepoints";
import { mountBoard } from "./board/board";
import { mountControls } from "./board/controls";
import { mountEvalBar } from "./analysis/evalbar";
import { Counting } from "./play/counting";
import { mountGraph } from "./analysis/graph";
import { type Head, mountHeader } from "./ui/header";
import { Judging } from "./server/judging";
import { kept } from "./app/storage";
import { mountKeys } from "./ui/keys";
import { mountLoading, type Opener } from "./library/load";
import { Mistakes } from "./analysis/mistakes";
import { mountMoves } from "./analysis/movelist";
import { mountPlayers } from "./play/players";
import type { App } from "./app/state";
import { mountSpoken, mountStatus } from "./ui/status";
import { mountTabs, type Tab, type Tabs } from "./ui/tabs";
import { texts } from "./texts";
import { mountTitle } from "./ui/title";
import { Address } from "./app/url";
import { mountWelcome } from "./ui/welcome";

export const place = (id: string): HTMLElement => document.getElementById(id)!;

/** tabs: the panels beside the board, the first one shown at first. */
export function mountPage(app: App, head: Head, tabsOf: (mistakes: Mistakes, opener: Opener) => Tab[]): Tabs {
  place("board-part").ariaLabel = texts.main.board;
  place("game-part").ariaLabel = texts.main.game;
  place("side").ariaLabel = texts.main.networks;
  document.documentElement.dataset.drop = texts.load.drop;
  // First of all that listens, so that the others find the mistakes up to date.
  const mistakes = new Mistakes(app, new Judging(app));
  const address = new Address(app);
  const opener = mountLoading(app);
  const size = (): void => void place("main").classList.toggle("of-go", app.game.kind === "go");
  app.on("game", size);
  mountHeader(place("header"), app, opener, mistakes, head);
  mountEvalBar(place("evalbar"), app, mistakes.judging);
  const typed = mountControls(place("controls"), app);
  const counting = new Counting(app);
  mountBoard(place("board"), place("controls"), app, counting);
  mountLinePreview(app);
  mountPlayers(place("player-above"), place("player-below"), app);
  mountStatus(place("status"), app);
  mountSpoken(place("spoken"), app, mistakes.judging);
  mountTitle(place("title"), app);
  place("title").after(counting.element);
  mountGraph(place("graph"), app, mistakes);
  mountMoves(place("moves"), app, mistakes);
  // On a phone.
  const narrow = matchMedia("(max-width: 559.98px)");
  const line = (): void => {
    if (!narrow.matches) return;
    narrow.removeEventListener("change", line);
    void import("./analysis/moveline").then(({ mountMoveLine }) => mountMoveLine(place("line"), app, mistakes));
  };
  narrow.addEventListener("change", line);
  line();
  const tabs = mountTabs(place("panels"), tabsOf(mistakes, opener));
  mountWelcome(place("welcome"), app, opener, tabs);
  mountKeys(app, mistakes, typed, place("board"), () => opener.show());
  // A game against a network goes on after a reload, whatever tab is open.
  if (kept("session", "match")) tabs.mount("play");
  void address.begin(tabs);
  return tabs;
}
