/** The page: everything is put in its place here, and shares one App. */

import "./style.css";
import "./game.css";
import "./tabs.css";
import "./layout.css";

import { mountBoard } from "./board";
import { mountControls } from "./controls";
import { mountEvalBar } from "./evalbar";
import { mountGraph } from "./graph";
import { mountHeader } from "./header";
import { Judging } from "./judging";
import { mountKeys } from "./keys";
import { mountLoading } from "./load";
import { Mistakes } from "./mistakes";
import { mountMoves } from "./movelist";
import { mountNetwork } from "./network";
import { mountPlayers } from "./players";
import { App } from "./state";
import { mountSpoken, mountStatus } from "./status";
import { mountTabs } from "./tabs";
import { restoreTheme } from "./theme";
import { mountTitle } from "./title";
import { Address } from "./url";
import { mountWelcome } from "./welcome";

/** How often new runs are looked for, ms. */
const LOOK_FOR_RUNS = 10_000;

restoreTheme();

const place = (id: string): HTMLElement => document.getElementById(id)!;
const app = new App();
// First of all that listens, so that the others find the mistakes up to date.
const mistakes = new Mistakes(app, new Judging(app));
const address = new Address(app);
const opener = mountLoading(app);

const size = (): void => void place("main").classList.toggle("of-go", app.game.kind === "go");
app.on("game", size);
mountHeader(place("header"), app, opener);
mountEvalBar(place("evalbar"), app);
mountBoard(place("board"), app);
mountPlayers(place("player-above"), place("player-below"), app);
const typed = mountControls(place("controls"), app);
mountStatus(place("status"), app);
mountSpoken(place("spoken"), app);
mountTitle(place("title"), app);
mountGraph(place("graph"), app, mistakes);
mountMoves(place("moves"), app, mistakes);
const tabs = mountTabs(place("panels"), [
  { id: "analysis", name: "Analysis", mount: (host) => mountNetwork(host, app) },
  { id: "compare", name: "Compare", mount: async (host) => (await import("./compare")).mountCompare(host, app) },
  { id: "play", name: "Play", mount: async (host) => (await import("./play")).mountPlay(host, app) },
  { id: "puzzles", name: "Puzzles", mount: async (host) => (await import("./puzzles")).mountPuzzles(host, app, mistakes) },
  { id: "training", name: "Training", mount: async (host) => (await import("./training")).mountTraining(host, app) },
]);
mountWelcome(place("welcome"), app, opener, () => tabs.choose("play"));
mountKeys(app, mistakes, typed, place("board"), () => opener.show());
// A training that was begun elsewhere appears by itself.
setInterval(() => void (document.visibilityState === "visible" && app.findNetworks().catch(() => undefined)), LOOK_FOR_RUNS);
void address.begin(tabs);
