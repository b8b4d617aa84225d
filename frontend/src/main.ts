/** The page of `kibitz board`: all networks of a server, and all that it can do. */

import { type Exercise, Handover } from "./app/handover";
import { CheckerChoice } from "./analysis/checkedby";
import { mountNetwork } from "./analysis/network";
import { OpinionPanel } from "./analysis/opinion";
import { RatingPanel } from "./analysis/ratings";
import { mountSummary } from "./analysis/summary";
import { mountPage, place } from "./page";
import { App } from "./app/state";
import { networkChooser } from "./ui/chooser";
import { showPreparing } from "./ui/status";
import { texts } from "./texts";
import type { Tabs } from "./ui/tabs";
// After the rules of all panels. The shared page has no engines and does without it.
import "./analysis/opinion.css";

/** How often new runs are looked for, ms. */
const LOOK_FOR_RUNS = 10_000;

const app = new App();
const exercises = new Handover<Exercise[]>();
const opponent = new Handover<string>();
const tabs: Tabs = mountPage(app, { name: "kibitz", games: ["chess", 19, 13, 9], beside: networkChooser(app) }, (mistakes, opener) => {
  mountSummary(place("moves"), app, mistakes, () => tabs.choose("puzzles"));
  return [
    { id: "analysis", name: texts.tabs.analysis, mount: (host) => mountNetwork(host, app, mistakes.judging, { Ratings: RatingPanel, Checkers: CheckerChoice, Opinion: OpinionPanel }) },
    { id: "compare", name: texts.tabs.compare, mount: async (host) => (await import("./analysis/compare")).mountCompare(host, app) },
    { id: "explorer", name: texts.tabs.explorer, mount: async (host) => (await import("./library/explorer")).mountExplorer(host, app, { open: () => opener.show(), mine: () => tabs.choose("mygames") }) },
    { id: "play", name: texts.tabs.play, mount: async (host) => (await import("./play/play")).mountPlay(host, app, opponent) },
    { id: "puzzles", name: texts.tabs.puzzles, mount: async (host) => (await import("./mygames/puzzles")).mountPuzzles(host, app, mistakes, exercises) },
    { id: "mygames", name: texts.tabs.mygames, mount: async (host) => (await import("./mygames/mygames")).mountMyGames(host, app, { exercises, opponent, tabs: () => tabs, judging: mistakes.judging }) },
    { id: "training", name: texts.tabs.training, mount: async (host) => (await import("./analysis/training")).mountTraining(host, app) },
  ];
});
// A training that was begun elsewhere appears by itself.
setInterval(() => void (document.visibilityState === "visible" && app.findNetworks().catch(() => undefined)), LOOK_FOR_RUNS);
void showPreparing(app);
