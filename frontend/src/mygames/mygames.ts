/** My games: where a player's own points went, the worst mistakes as exercises, and a network that plays like the player. */

import "./puzzles.css";
import "../ui/fields.css";
import "./mygames.css";

import { message } from "../server/asking";
import { button, Choice, el } from "../ui/elements";
import type { Exercise, Handover } from "../app/handover";
import { keep, kept } from "../app/storage";
import { type AnalysisTask, type Asking, type DownloadTask, estimate, type GoReport, type MyGames, type Report, type Stage, type TrainingTask, type Worst } from "./myanswers";
import { offerCheckers } from "../analysis/checkedby";
import { OWN } from "../server/checker";
import { exerciseOf, KeptMistakes } from "./keptmistakes";
import { lostBefore, mistakeList, placeOf, ReportView } from "./myreport";
import { joined, readInParts } from "./myupload";
import { OpeningsView } from "./openings";
import { cardOf, type Plan, schedule } from "./schedule";
import type { Judging } from "../server/judging";
import { download } from "../library/save";
import { type App, Overtaken } from "../app/state";
import type { Tabs } from "../ui/tabs";
import { texts } from "../texts";

export interface Hands {
  exercises: Handover<Exercise[]>;
  opponent: Handover<string>;
  tabs: () => Tabs;
  judging: Judging;
}

export function mountMyGames(host: HTMLElement, app: App, hands: Hands): Promise<void> {
  return new MyGamesPanel(host, app, hands).refresh();
}

/** Between two questions while something goes on, ms. */
const PERIOD = 1000;
const VIEWS = { games: texts.mygames.games, report: texts.mygames.report, mistakes: texts.mygames.mistakes, openings: texts.openings.title, network: texts.mygames.network } as const;
type View = keyof typeof VIEWS;
type Kind = App["game"]["kind"];

class MyGamesPanel {
  private readonly chips = new Map<View, HTMLInputElement>();
  private readonly views: Record<View, HTMLElement>;
  private readonly bar: HTMLElement;
  private readonly progress = el("progress", { "aria-label": texts.mygames.analysed });
  private readonly state = el("p", { class: "note", role: "status" });
  private readonly stopping = button(texts.mygames.stop, () => void this.ask("stop", { what: "analysis" }));
  private readonly problem = el("p", { class: "problem", role: "alert" });
  // Games
  private readonly file = el("input", { type: "file", accept: ".pgn,.sgf,.sgfl,.gib,.gz,.zst,.bz2,.txt", multiple: true, class: "unseen", tabindex: -1, "aria-label": texts.mygames.file });
  private readonly choose = button(texts.mygames.choose, () => this.file.click(), { class: "primary" });
  private readonly given = el("div", { class: "buttons" });
  // An account
  private readonly site = new Choice(texts.mygames.site, () => undefined);
  private readonly account = el("input", { type: "text", autocomplete: "off", autocapitalize: "none", spellcheck: "false", maxlength: 80 });
  private readonly load = button(texts.mygames.download, () => void this.download());
  private readonly question = el("div", { class: "my-question", role: "group" });
  private readonly fetched = el("p", { class: "note", role: "status" });
  private readonly fetching = el("progress", { "aria-label": texts.mygames.download });
  private readonly halting = button(texts.mygames.stop, () => void this.ask("stop", { what: "download" }));
  private readonly known = el("p", {});
  private readonly player = el("input", { type: "text", list: "my-players", autocomplete: "off", spellcheck: "false" });
  private readonly players = el("datalist", { id: "my-players" });
  private readonly most: Choice;
  private readonly care: Choice;
  private readonly checker: Choice;
  private readonly asked: HTMLElement;
  private readonly analyse = button(texts.mygames.analyse, () => void this.begin(), { class: "primary" });
  // Report
  private readonly report = new ReportView();
  private readonly none = el("p", { class: "note" }, texts.mygames.first);
  /** After a quick analysis. */
  private readonly deepen = button(texts.mygames.deepen, () => void this.begin("thorough"));
  private readonly saving = button(texts.mygames.save, () => void this.savePage());
  // Mistakes
  private readonly mistakes = el("div");
  private readonly keptMistakes = new KeptMistakes(schedule);
  /** How many are due, after the name of the view; the view has it in words. */
  private readonly dueCount = el("span", { class: "my-due", "aria-hidden": "true", hidden: true });
  // Openings
  private readonly openings: OpeningsView;
  private readonly openingsDue = el("span", { class: "my-due", "aria-hidden": "true", hidden: true });
  // Network
  private readonly lesson = el("p", { class: "note" });
  private readonly learning = el("progress", { "aria-label": texts.mygames.training });
  private readonly learned = el("p", { role: "status" });
  private readonly train = button(texts.mygames.train, () => void this.ask("train", { players: this.names(), base: this.judge() }), { class: "primary" });
  /** Whether the training was told to stop, and still runs. */
  private ending = false;
  private readonly halt = button(texts.mygames.halt, () => void this.haltTraining());
  private readonly play = button(texts.mygames.play, () => void this.playSelf(), { class: "primary" });

  private now: MyGames | null = null;
  private shown: Report | GoReport | null = null;
  /** The game of the report. */
  private shownOf: Kind = "chess";
  private revision = -1;
  private opened = 0;
  private trained = "";
  private timer = 0;
  private busy = "";

  constructor(
    private readonly host: HTMLElement,
    private readonly app: App,
    private readonly hands: Hands,
  ) {
    const named = el("label", { class: "field wide" }, el("span", {}, texts.mygames.whose), this.player);
    this.most = new Choice(texts.mygames.many, () => this.draw());
    this.care = new Choice(texts.mygames.carefully, () => undefined);
    this.checker = new Choice(texts.checker.title, (name) => {
      app.checker.choose(name, this.kind);
      this.draw();
    });
    this.checker.element.title = texts.checker.about;
    for (const { element } of [this.most, this.care, this.checker]) element.classList.add("wide");
    this.asked = el("div", {}, this.known, el("div", { class: "fields" }, named, this.players, this.most.element, this.care.element, this.checker.element), el("div", { class: "buttons" }, this.analyse));
    this.site.offer([["lichess", "lichess"], ["chesscom", "chess.com"], ["ogs", "OGS"]], kept("local", "site"));
    const called = el("label", { class: "field wide" }, el("span", {}, texts.mygames.account), this.account);
    const account = el("div", { class: "my-account" }, el("div", { class: "fields" }, this.site.element, called), el("div", { class: "buttons" }, this.load, this.halting), this.question, this.fetching, this.fetched);
    this.account.addEventListener("keydown", (event) => event.key === "Enter" && void this.download());
    this.openings = new OpeningsView(app, () => this.names(), () => this.judge(), ({ game, ply, side }) => void this.lookAt(game, ply, side));
    this.views = {
      games: el(
        "div",
        { class: "my-drop" },
        el("p", { class: "note" }, texts.mygames.about),
        account,
        el("div", { class: "buttons" }, this.choose, this.file),
        this.given,
        this.asked,
      ),
      report: el("div", {}, this.none, this.report.element, el("div", { class: "buttons" }, this.deepen, this.saving)),
      mistakes: this.mistakes,
      openings: this.openings.element,
      network: el("div", {}, this.lesson, this.learning, this.learned, el("div", { class: "buttons" }, this.play, this.train, this.halt)),
    };
    this.bar = el("div", { class: "my-progress" }, this.progress, this.state, this.stopping);
    // Shown once the server has said what there is.
    for (const each of [this.bar, this.given, this.asked, this.problem, this.deepen, this.saving, this.question, this.fetching, this.halting]) each.hidden = true;
    host.classList.add("panel", "my-games");
    host.replaceChildren(el("h2", { class: "unseen" }, texts.mygames.title), this.choices(), this.problem, this.bar, ...Object.values(this.views));
    this.file.addEventListener("change", () => {
      const files = [...(this.file.files ?? [])];
      this.file.value = "";
      if (files.length) void this.upload(files);
    });
    this.player.addEventListener("keydown", (event) => event.key === "Enter" && void this.begin());
    this.player.addEventListener("input", () => {
      this.tell("");
      this.draw();
    });
    this.drops();
    this.show((kept("session", "mygames") as View | null) ?? "games");
    for (const event of ["programs", "checker"] as const) app.on(event, () => this.draw());
    void app.programs.find();
    new IntersectionObserver((seen) => seen.some((each) => each.isIntersecting) && void this.refresh()).observe(host);
    document.addEventListener("visibilitychange", () => void this.refresh());
  }

  /** The game of the opened games. */
  private get kind(): Kind {
    return this.now?.games?.game ?? "chess";
  }

  /** The views, as radio buttons. */
  private choices(): HTMLElement {
    const chips = (Object.keys(VIEWS) as View[]).map((view) => {
      const input = el("input", { type: "radio", name: "my-view", value: view });
      input.addEventListener("change", () => this.show(view));
      this.chips.set(view, input);
      return el("label", { class: "chip" }, input, VIEWS[view], view === "mistakes" && this.dueCount, view === "openings" && this.openingsDue);
    });
    return el("div", { class: "chips", role: "radiogroup", "aria-label": texts.mygames.views }, ...chips);
  }

  private show(view: View): void {
    const chosen = view in VIEWS ? view : "games";
    keep("session", "mygames", chosen);
    for (const [name, element] of Object.entries(this.views)) element.hidden = name !== chosen;
    this.chips.get(chosen)!.checked = true;
    if (this.now) this.drawOpenings(this.now);
  }

  /** A file that is dropped here is one of own games, not a game to look at. */
  private drops(): void {
    this.host.addEventListener("dragover", (event) => event.preventDefault());
    this.host.addEventListener("drop", (event) => {
      const files = [...(event.dataTransfer?.files ?? [])];
      if (!files.length) return;
      event.preventDefault();
      this.show("games");
      void this.upload(files);
    });
  }

  private get visible(): boolean {
    return this.host.offsetParent !== null && document.visibilityState === "visible";
  }

  async refresh(): Promise<void> {
    window.clearTimeout(this.timer);
    try {
      await this.take(await this.app.api.myGames());
    } catch (error) {
      this.tell(message(error));
      this.later();
    }
  }

  /** Shows what the server says, and asks again while something goes on. */
  private async take(now: MyGames): Promise<void> {
    this.now = now;
    if (now.revision !== this.revision) {
      const { revision, report, game } = await this.app.api.myReport();
      this.revision = revision;
      this.shown = "loss" in report ? report : null;
      this.shownOf = game;
    }
    this.draw();
    if (this.running) this.later();
    const ready = now.training && (now.training.state === "done" || playable(now.training)) ? now.training.run : "";
    if (ready && ready !== this.trained) void this.app.findNetworks().catch(() => undefined);
    this.trained = ready;
  }

  private get running(): boolean {
    return [this.now?.analysis, this.now?.training, this.now?.download].some((task) => task?.state === "running");
  }

  private later(): void {
    window.clearTimeout(this.timer);
    if (this.visible) this.timer = window.setTimeout(() => void this.refresh(), PERIOD);
  }

  /** Stops the training. It writes what it has learned first, which takes a few seconds. */
  private async haltTraining(): Promise<void> {
    this.ending = true;
    this.draw();
    if (!(await this.ask("stop", { what: "training" }))) this.ending = false;
    this.draw();
  }

  private async ask(what: string, body: object): Promise<boolean> {
    this.tell("");
    try {
      await this.take(await this.app.api.myCall(what, body));
      return true;
    } catch (error) {
      this.tell(message(error));
      return false;
    }
  }

  private tell(problem: string): void {
    this.problem.textContent = problem;
    this.problem.hidden = !problem;
  }

  private async upload(files: File[]): Promise<void> {
    this.tell("");
    try {
      const file = joined(files);
      const now = await readInParts(file, this.app.api, (share) => {
        this.busy = texts.mygames.readingFile(file.name, Math.floor(100 * share));
        this.draw();
      });
      this.busy = "";
      await this.take(now);
    } catch (error) {
      this.busy = "";
      this.tell(message(error));
      this.draw();
    }
  }

  /** Downloads the games of an account. Before kibitz contacts a site for the first time, it asks. */
  private async download(allowed = false): Promise<void> {
    const account = this.account.value.trim();
    if (!account || this.load.disabled) return this.account.focus();
    keep("local", "site", this.site.value);
    this.question.hidden = true;
    this.tell("");
    try {
      const now = await this.app.api.myCall("download", { account, site: this.site.value, allowed });
      await this.take(now);
      if (now.ask) this.inquire(now.ask);
    } catch (error) {
      this.tell(message(error));
    }
  }

  private inquire({ account, site, host }: Asking): void {
    const allow = button(texts.mygames.allow, () => void this.download(true), { class: "primary" });
    const refuse = button(texts.mygames.refuse, () => {
      this.question.hidden = true;
      this.account.focus();
    });
    this.question.replaceChildren(el("p", {}, texts.mygames.ask(account, site, host)), el("div", { class: "buttons" }, allow, refuse));
    this.question.hidden = false;
    allow.focus();
  }

  private names(): string[] {
    return this.player.value.split(";").map((name) => name.trim()).filter(Boolean);
  }

  private async begin(stage = this.care.value as Stage): Promise<void> {
    const body = { players: this.names(), most: Number(this.most.value) || undefined, network: this.judge(), quick: stage === "quick", checked_by: this.app.checker.chosen(this.kind) };
    if (await this.ask("analyse", body)) this.show("report");
  }

  /** The network that judges. In chess, one with rating inputs, the chosen one before others; in Go, gohuman if it is there. */
  private judge(): string | undefined {
    const { app } = this;
    if (this.kind === "go") {
      const able = app.networks.filter((each) => each.game === "go" && !each.problem && each.answers.includes("moves"));
      return (able.find((each) => each.name === "gohuman") ?? able.find((each) => each.name === app.network) ?? able[0])?.name;
    }
    const able = app.networks.filter((each) => each.game === "chess" && !each.problem && each.answers.includes("white"));
    const rated = able.filter((each) => each.rated);
    return (rated.find((each) => each.name === app.network) ?? rated.find((each) => each.name === "human") ?? rated[0] ?? able[0])?.name;
  }

  // What is seen

  /** Whether the values of the report are expected scores: what the network that judges says of its own. */
  private get scores(): boolean {
    const task = this.now?.analysis;
    return Boolean(task && !task.checked_by && /expected/.test(this.app.named(task.network)?.claim?.name ?? ""));
  }

  private draw(): void {
    const { now } = this;
    if (!now) return;
    this.drawGames(now);
    this.drawDownload(now.download);
    this.offerDepths(now);
    this.drawProgress(now.analysis);
    this.none.hidden = this.shown !== null || now.analysis?.state === "running";
    this.report.element.hidden = this.saving.hidden = this.shown === null;
    // Of other games that were opened since it would be another report.
    this.deepen.hidden = !this.shown || now.analysis?.state !== "done" || !now.analysis.quick || now.analysis.opened !== now.games?.opened;
    if (this.shown) this.report.draw(this.shown, this.scores);
    this.drawMistakes(this.shown?.worst ?? []);
    this.drawOpenings(now);
    this.drawNetwork(now);
  }

  private drawGames({ games, given, most }: MyGames): void {
    this.choose.textContent = games ? texts.mygames.other : texts.mygames.choose;
    this.choose.classList.toggle("primary", !games);
    const names = JSON.stringify(given);
    if (this.given.dataset.names !== names) {
      this.given.dataset.names = names;
      this.given.replaceChildren(...given.map((name) => button(name, () => void this.ask("open", { name }))));
    }
    this.given.hidden = !given.length;
    this.asked.hidden = !games;
    if (!games || games.opened === this.opened) return;
    this.opened = games.opened;
    const variants = games.variants ? texts.mygames.variants(games.variants) : "";
    this.known.textContent = `${games.name}: ${texts.explorer.games(games.games)}${variants}.`;
    this.players.replaceChildren(...games.players.map(({ name, games: played }) => el("option", { value: name }, texts.explorer.games(played))));
    this.player.value = games.players[0]?.name ?? "";
    const amounts = [50, most, 500, 1000].filter((each) => each < games.games);
    this.most.offer([...amounts.map((each): [string, string] => [String(each), texts.mygames.newest(each)]), ["100000", texts.mygames.all]], amounts.includes(most) ? String(most) : "100000");
  }

  private drawDownload(task: DownloadTask | null): void {
    const going = task?.state === "running";
    this.load.disabled = going;
    this.fetching.hidden = this.halting.hidden = !going;
    this.fetched.textContent = task ? loads(task) : "";
    this.fetched.classList.toggle("problem", task?.state === "failed");
    if (going && task.expected) {
      this.fetching.max = task.expected;
      this.fetching.value = Math.min(task.new, task.expected);
    } else this.fetching.removeAttribute("value");
  }

  /** How thorough the analysis may be, with the time that it takes for the chosen number of games. */
  private offerDepths({ games, pace: own, engine_pace: engines }: MyGames): void {
    const { app, kind } = this;
    offerCheckers(this.checker, app, kind);
    const engine = app.checker.chosen(kind) !== OWN;
    const pace = engine ? engines : own;
    const mine = this.names().reduce((sum, name) => sum + (games?.players.find((each) => each.name === name)?.games ?? 0), 0);
    const seconds = estimate(Math.min(Number(this.most.value), mine || Infinity), pace);
    const text = (stage: Stage): string => texts.mygames[stage](Number.isFinite(seconds[stage]) ? span(seconds[stage]) : "");
    // An engine judges all moves of a game of Go in the same way.
    this.care.offer([...(kind === "go" && engine ? [] : [["quick", text("quick")] as const]), ["thorough", text("thorough")]]);
    this.deepen.title = text("thorough");
  }

  private drawProgress(task: AnalysisTask | null): void {
    const going = task?.state === "running";
    this.bar.hidden = !task && !this.busy;
    this.progress.hidden = this.stopping.hidden = !going;
    if (going) {
      this.progress.max = task.games;
      if (task.begun) this.progress.value = task.done + task.left_out;
      else this.progress.removeAttribute("value");
    }
    this.state.textContent = this.busy || (task ? said(task) : "");
  }

  private drawMistakes(worst: Worst[]): void {
    const player = this.shown?.name ?? "";
    const plan = schedule.plan(player, worst, placeOf);
    // Of the report come those that it lists; the browser has kept the others.
    const others = this.keptMistakes.due(new Set(worst.map((each) => cardOf(player, placeOf(each)))), this.shown ? this.shownOf : undefined);
    const count = plan.due.length + others.length;
    const known = JSON.stringify([this.shown !== null, worst.map(({ game, ply, loss, mark }) => [game, ply, loss, mark]), plan.due.map(({ game, ply }) => [game, ply]), plan.fresh.length, plan.next, others.map(({ card }) => card)]);
    if (this.mistakes.dataset.known === known) return;
    this.mistakes.dataset.known = known;
    this.dueCount.textContent = String(count);
    this.dueCount.hidden = !count;
    const words = el("p", { class: "note" }, worst.length ? (this.shownOf === "go" ? texts.mygo.worstAbout : this.scores ? texts.mygames.scoreWorstAbout : texts.mygames.worstAbout) : this.shown ? texts.mygames.noMistake : texts.mygames.worstHere);
    if (!worst.length && !count) {
      this.mistakes.replaceChildren(words);
      return;
    }
    const practise = button(texts.mygames.practise, () => this.practise([...this.exercises(plan.due), ...others.map((each) => exerciseOf(this.app, this.hands.judging, each)), ...this.exercises(plan.fresh)]), { class: "primary" });
    practise.hidden = !count && !plan.fresh.length;
    const all = button(texts.mygames.practiseAll, () => this.practise(this.exercises(worst)));
    all.hidden = !worst.length;
    this.mistakes.replaceChildren(
      el("p", { class: "my-today" }, el("b", {}, count ? texts.mygames.due(count) : texts.mygames.noneDue), waiting(plan, count)),
      el("div", { class: "buttons" }, practise, all),
      words,
      ...(worst.length ? [mistakeList(worst, (each) => void this.look(each))] : []),
    );
  }

  /** The opening trainer, which is for chess alone. */
  private drawOpenings({ games, analysis }: MyGames): void {
    const chip = this.chips.get("openings")!;
    chip.parentElement!.hidden = this.kind === "go";
    if (this.kind === "go") {
      if (chip.checked) this.show("games");
      return;
    }
    // The report of other games, which were opened before, does not count.
    const report = this.shown && this.shownOf === "chess" && analysis?.opened === games?.opened && this.names().join(", ").toLowerCase() === this.shown.name.toLowerCase() ? (this.shown as Report).by_opening : [];
    this.openings.refresh(games, report);
    const { due } = this.openings;
    this.openingsDue.textContent = String(due);
    this.openingsDue.hidden = !due;
  }

  private drawNetwork({ games, least, training }: MyGames): void {
    const going = training?.state === "running";
    const mine = this.names().reduce((sum, name) => sum + (games?.players.find((each) => each.name === name)?.games ?? 0), 0);
    const few = games && mine > 0 && mine < least;
    const about = this.kind === "go" ? texts.mygo.netAbout : texts.mygames.netAbout;
    const lack = !games ? texts.mygames.chooseFirst : few ? texts.mygames.tooFew(mine) : "";
    this.lesson.textContent = texts.mygames.least(about, least, this.kind === "go" ? "" : texts.mygames.enough, lack).trim();
    this.train.hidden = going;
    this.train.disabled = !games || Boolean(few);
    const same = training?.player === this.names().join(", ") && training.state !== "failed";
    this.train.textContent = !same ? texts.mygames.train : training.state === "done" ? texts.mygames.trainAgain : texts.mygames.goOn;
    this.halt.hidden = this.learning.hidden = !going;
    this.ending &&= going;
    this.halt.disabled = this.ending;
    const ready = training?.state === "done" || playable(training);
    this.play.hidden = !ready;
    this.train.classList.toggle("primary", !ready);
    if (going && training.iterations) {
      this.learning.max = training.iterations;
      this.learning.value = training.iteration ?? 0;
    } else this.learning.removeAttribute("value");
    this.learned.textContent = this.ending ? texts.mygames.halting : training ? learns(training) : "";
  }

  // What is done with it

  /** Opens the game of a mistake at the position before it; resolves with the position after it, null if the game stays. */
  private async open({ game, ply, side }: Pick<Worst, "game" | "ply" | "side">, opened = false): Promise<number | null> {
    const { app } = this;
    const text = await app.during(texts.mygames.opening, app.api.myGame(game, opened));
    if (!(await app.mayOpen())) return null;
    await app.during(texts.mygames.opening, app.load(text), texts.load.slow);
    const after = app.path[ply];
    if (after === undefined) throw new Error(texts.mygames.moveGone);
    if (app.game.kind === "chess") app.set({ flipped: side === "black" });
    return after;
  }

  /** Opens one of the opened games at the position before a move. */
  private async lookAt(game: number, ply: number, side: "white" | "black"): Promise<void> {
    const { app } = this;
    try {
      const after = await this.open({ game, ply, side }, true);
      if (after !== null) app.go(app.node(after).parent!);
      document.getElementById("board-part")?.scrollIntoView({ block: "nearest" });
    } catch (error) {
      if (!(error instanceof Overtaken)) this.tell(message(error));
    }
  }

  private async look(mistake: Worst): Promise<void> {
    const { app } = this;
    try {
      const after = await this.open(mistake);
      if (after === null) return;
      app.go(app.node(after).parent!);
      app.say(`${lostBefore(mistake)}${app.whereLeft}`);
      document.getElementById("board-part")?.scrollIntoView({ block: "nearest" });
    } catch (error) {
      if (!(error instanceof Overtaken)) this.tell(message(error));
    }
  }

  private exercises(worst: Worst[]): Exercise[] {
    const player = this.shown?.name ?? "";
    return worst.map((each) => ({
      about: texts.mygames.against(each.opponent),
      card: cardOf(player, placeOf(each)),
      open: async (): Promise<number> => {
        const after = await this.open(each);
        if (after === null) throw new Error(texts.mygames.stays);
        return after;
      },
    }));
  }

  private practise(exercises: Exercise[]): void {
    const task = this.now?.analysis;
    if (this.shown && task) {
      if (this.app.game.kind === task.game) this.app.choose(task.network);
      // The values of the exercises are those of the report.
      this.app.checker.choose(task.checked_by ?? OWN, task.game);
    }
    this.hands.tabs().choose("puzzles");
    this.hands.exercises.give(exercises);
  }

  private async playSelf(): Promise<void> {
    const run = this.now?.training?.run;
    if (!run) return;
    try {
      await this.app.findNetworks();
    } catch (error) {
      return this.tell(message(error));
    }
    this.hands.tabs().choose("play");
    this.hands.opponent.give(run);
  }

  private async savePage(): Promise<void> {
    try {
      download("my-games.html", await this.app.api.myPage(), "text/html");
    } catch (error) {
      this.tell(message(error));
    }
  }
}

/** " 7 new.", and when the next is due if none is. */
function waiting({ fresh, next }: Plan<Worst>, due: number): string {
  const more = fresh.length ? ` ${texts.mygames.fresh(fresh.length)}` : "";
  return due || next === null ? more : `${more} ${texts.mygames.nextDue(next)}`;
}

/** "37 of 200 games, 4.2 a minute, about 39 min left." */
function said(task: AnalysisTask): string {
  const { done, games, left_out: left, seconds, state, error } = task;
  const which = task.of > games ? texts.mygames.newestOf(games, task.of) : texts.explorer.games(games);
  if (state === "failed") return error;
  const thorough = task.stage === "thorough";
  if (state === "stopped") return texts.mygames.stopped(done, games, task.player);
  const without = left ? texts.mygames.unread(left) : "";
  if (state === "done") return texts.mygames.done(task.player, which, task.quick, without);
  if (!task.begun) return texts.mygames.starting(which, task.player);
  if (!done || !seconds) return texts.mygames.firstGame(which, task.player);
  const rate = (60 * done) / seconds;
  const over = ((games - done - left) * seconds) / done;
  const progress = texts.mygames.going(done, which, without, rate, span(over));
  return thorough ? `${texts.mygames.deepening} ${progress}` : progress;
}

/** "Downloading lichess:NAME: 120 of 1,000 games". */
function loads(task: DownloadTask): string {
  const { account, state, new: fresh, kept: before, expected, games } = task;
  if (state === "failed") return task.error;
  if (state === "stopped") return texts.mygames.downloadStopped(account, before + fresh);
  if (state === "done") return texts.mygames.downloaded(account, fresh, games);
  return fresh || before || expected ? texts.mygames.downloading(account, fresh, expected, before) : texts.mygames.downloadStarting(account);
}

/** Whether a training that was stopped has left a network that plays. */
const playable = (task: TrainingTask | null): boolean => task?.state === "stopped" && Boolean(task.kept);

function learns(task: TrainingTask): string {
  const { state, number, iteration, iterations, per_second: rate, left, kept: best } = task;
  if (state === "failed") return task.error;
  if (state === "stopped") return playable(task) ? texts.mygames.learnStoppedReady(task.run) : texts.mygames.learnStopped;
  if (state === "done")
    return texts.mygames.ready(task.run, best === "nothing");
  if (!number || !iterations) return task.note ? texts.mygames.bookMade : texts.mygames.readingGames(task.player);
  const speed = rate ? texts.mygames.speed(Math.round(rate)) : "";
  return texts.mygames.learning(number, Math.floor((100 * (iteration ?? 0)) / iterations), speed, left ? span(left) : "");
}

/** "40 s", "12 min", "1.5 h". */
function span(seconds: number): string {
  if (seconds < 90) return `${Math.max(1, Math.round(seconds))} s`;
  return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${texts.common.number(seconds / 3600, 1)} h`;
}
