/** The page: everything is put in its place here, and shares one App. */

import "./game.css";
import "./tabs.css";
import "./layout.css";

import { mountBoard } from "./board";
import { mountControls } from "./controls";
import { mountEvalBar } from "./evalbar";
import { type Exercise, Handover } from "./handover";
import { Counter } from "./gocount";
import { mountGraph } from "./graph";
import { mountHeader } from "./header";
import { Judging } from "./judging";
import { kept } from "./kept";
import { mountKeys } from "./keys";
import { mountLoading } from "./load";
import { Mistakes } from "./mistakes";
import { mountMoves } from "./movelist";
import { mountNetwork } from "./network";
import { mountPlayers } from "./players";
import { App } from "./state";
import { mountSpoken, mountStatus, showPreparing } from "./status";
import { mountTabs, type Tabs } from "./tabs";
import { texts } from "./texts";
import { mountTitle } from "./title";
import { Address } from "./url";
import { mountWelcome } from "./welcome";

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
  { id: "compare", name: texts.tabs.compare, mount: async (host) => (await import("./compare")).mountCompare(host, app) },
  { id: "explorer", name: texts.tabs.explorer, mount: async (host) => (await import("./explorer")).mountExplorer(host, app) },
  { id: "play", name: texts.tabs.play, mount: async (host) => (await import("./play")).mountPlay(host, app, opponent) },
  { id: "puzzles", name: texts.tabs.puzzles, mount: async (host) => (await import("./puzzles")).mountPuzzles(host, app, mistakes, exercises) },
  { id: "mygames", name: texts.tabs.mygames, mount: async (host) => (await import("./mygames")).mountMyGames(host, app, { exercises, opponent, tabs: () => tabs }) },
  { id: "training", name: texts.tabs.training, mount: async (host) => (await import("./training")).mountTraining(host, app) },
]);
mountWelcome(place("welcome"), app, opener, tabs);
mountKeys(app, mistakes, typed, place("board"), () => opener.show());
// A training that was begun elsewhere appears by itself.
setInterval(() => void (document.visibilityState === "visible" && app.findNetworks().catch(() => undefined)), LOOK_FOR_RUNS);
// A game against a network goes on after a reload, whatever tab is open.
if (kept("session", "match")) tabs.mount("play");
void address.begin(tabs);
void showPreparing(app);
