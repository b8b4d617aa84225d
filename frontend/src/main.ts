/** The page: everything is put in its place here, and shares one App. */

import "./ui/game.css";
import "./ui/tabs.css";
import "./app/layout.css";

import { mountBoard } from "./board/board";
import { mountControls } from "./board/controls";
import { mountEvalBar } from "./analysis/evalbar";
import { type Exercise, Handover } from "./app/handover";
import { Counter } from "./play/gocount";
import { mountGraph } from "./analysis/graph";
import { mountHeader } from "./ui/header";
import { Judging } from "./server/judging";
import { kept } from "./app/storage";
import { mountKeys } from "./ui/keys";
import { mountLoading } from "./library/load";
import { Mistakes } from "./analysis/mistakes";
import { mountMoves } from "./analysis/movelist";
import { mountNetwork } from "./analysis/network";
import { mountPlayers } from "./play/players";
import { App } from "./app/state";
import { mountSpoken, mountStatus, showPreparing } from "./ui/status";
import { mountTabs, type Tabs } from "./ui/tabs";
import { texts } from "./texts";
import { mountTitle } from "./ui/title";
import { Address } from "./app/url";
import { mountWelcome } from "./ui/welcome";

/** How often new runs are looked for, ms. */
const LOOK_FOR_RUNS = 10_000;

const place = (id: string): HTMLElement => document.getElementById(id)!;
place("board-part").ariaLabel = texts.main.board;
place("game-part").ariaLabel = texts.main.game;
place("side").ariaLabel = texts.main.networks;
document.documentElement.dataset.drop = texts.load.drop;
const app = new App();
// First of all that listens, so that the others find the mistakes up to date.
const mistakes = new Mistakes(app, new Judging(app));
const address = new Address(app);
const opener = mountLoading(app);

const size = (): void => void place("main").classList.toggle("of-go", app.game.kind === "go");
app.on("game", size);
mountHeader(place("header"), app, opener);
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
const exercises = new Handover<Exercise[]>();
const opponent = new Handover<string>();
const tabs: Tabs = mountTabs(place("panels"), [
  { id: "analysis", name: texts.tabs.analysis, mount: (host) => mountNetwork(host, app, mistakes.judging) },
  { id: "compare", name: texts.tabs.compare, mount: async (host) => (await import("./analysis/compare")).mountCompare(host, app) },
  { id: "explorer", name: texts.tabs.explorer, mount: async (host) => (await import("./library/explorer")).mountExplorer(host, app) },
  { id: "play", name: texts.tabs.play, mount: async (host) => (await import("./play/play")).mountPlay(host, app, opponent) },
  { id: "puzzles", name: texts.tabs.puzzles, mount: async (host) => (await import("./mygames/puzzles")).mountPuzzles(host, app, mistakes, exercises) },
  { id: "mygames", name: texts.tabs.mygames, mount: async (host) => (await import("./mygames/mygames")).mountMyGames(host, app, { exercises, opponent, tabs: () => tabs }) },
  { id: "training", name: texts.tabs.training, mount: async (host) => (await import("./analysis/training")).mountTraining(host, app) },
]);
mountWelcome(place("welcome"), app, opener, tabs);
mountKeys(app, mistakes, typed, place("board"), () => opener.show());
// A training that was begun elsewhere appears by itself.
setInterval(() => void (document.visibilityState === "visible" && app.findNetworks().catch(() => undefined)), LOOK_FOR_RUNS);
// A game against a network goes on after a reload, whatever tab is open.
if (kept("session", "match")) tabs.mount("play");
void address.begin(tabs);
void showPreparing(app);
