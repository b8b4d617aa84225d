/** Learn from my mistakes: the positions of the game where most was lost, to be played better. */

import { chanceOf, whose } from "./chance";
import { button, Choice, el, percent } from "./elements";
import { lostBy, type Mistakes } from "./mistakes";
import { named, players } from "./naming";
import type { App, Node } from "./state";

export function mountPuzzles(host: HTMLElement, app: App, mistakes: Mistakes): void {
  new Puzzles(host, app, mistakes);
}

/** So much less than before is as good as before: what a network says is never that exact. */
const SLACK = 0.03;
/** So much must have been lost, and so many positions are asked. */
const LEAST = 0.05;
const MOST = 15;

type Stage = "none" | "asked" | "judging" | "judged" | "shown";

class Puzzles {
  private readonly side: Choice;
  private readonly intro = el("p", { class: "note" });
  private readonly list = el("ol", { class: "puzzle-list" });
  private readonly question = el("p", { class: "puzzle-question", role: "status" });
  private readonly verdict = el("p", { class: "puzzle-verdict", role: "status" });
  private readonly facts = el("dl", { class: "puzzle-facts" });
  private readonly begin = button("Begin", () => this.open(0), { class: "primary" });
  private readonly again = button("Try again", () => this.ask());
  private readonly reveal = button("Show the answer", () => this.show());
  private readonly next = button("Next", () => this.open(this.at + 1), { class: "primary" });
  private readonly end = button("End", () => this.stop());
  private stage: Stage = "none";
  private at = 0;
  /** The positions after the mistakes, the worst first. */
  private ids: number[] = [];
  /** What was tried, and whether it was in the game before. */
  private tried: { id: number; own: boolean } | null = null;
  private known = new Set<number>();
  private hints = true;
  private moving = false;
  private drawn = "";

  constructor(
    private readonly host: HTMLElement,
    private readonly app: App,
    private readonly mistakes: Mistakes,
  ) {
    this.side = new Choice("Mistakes of", () => {
      this.stop();
      this.draw();
    });
    host.classList.add("panel");
    host.replaceChildren(
      el("h2", {}, "Learn from my mistakes"),
      this.intro,
      this.side.element,
      this.list,
      this.question,
      this.verdict,
      this.facts,
      el("div", { class: "buttons" }, this.begin, this.next, this.again, this.reveal, this.end),
    );
    app.on("game", () => this.stop());
    app.on("cursor", () => this.moved());
    for (const event of ["results", "networks", "path", "settings"] as const) app.on(event, () => this.draw());
    // Whoever goes to another panel wants to see what the network says.
    new IntersectionObserver((seen) => !seen.some((each) => each.isIntersecting) && !host.offsetParent && this.stop()).observe(host);
    this.draw();
  }

  private get puzzle(): Node | undefined {
    return this.app.game.nodes.get(this.ids[this.at] ?? -1);
  }

  /** The worst first, as the chosen network sees it. */
  private find(): number[] {
    const { app } = this;
    const lost = new Map(app.path.map((id) => [id, lostBy(app, app.node(id)) ?? 0]));
    const wanted = this.side.value;
    return app.path
      .filter((id) => lost.get(id)! >= LEAST)
      .filter((id) => wanted === "both" || app.node(app.node(id).parent!).turn === wanted)
      .sort((a, b) => lost.get(b)! - lost.get(a)!)
      .slice(0, MOST);
  }

  private open(at: number): void {
    this.leave();
    if (this.stage === "none") {
      this.hints = this.app.hints;
      this.ids = this.find();
    }
    if (at >= this.ids.length) {
      this.stop();
      this.app.say("That was the last one.");
      return;
    }
    this.at = at;
    this.ask();
  }

  /** The position before the mistake, with nothing given away. */
  private ask(): void {
    const { app, puzzle } = this;
    if (!puzzle) return this.stop();
    this.leave();
    this.stage = "asked";
    this.go(puzzle.parent!);
    this.known = new Set(app.node(puzzle.parent!).children);
    const side = app.node(puzzle.parent!).turn;
    app.set({ hints: false, ...(app.game.kind === "chess" ? { flipped: side === "b" } : {}) });
    this.draw();
  }

  private go(id: number): void {
    this.moving = true;
    this.app.go(id);
    this.moving = false;
  }

  /** Takes out what was only tried. */
  private leave(): void {
    const { tried } = this;
    this.tried = null;
    if (!tried?.own || !this.app.game.nodes.has(tried.id)) return;
    this.moving = true;
    this.app.remove(tried.id);
    this.moving = false;
  }

  private moved(): void {
    const { app, puzzle } = this;
    if (this.moving || this.stage === "none" || !puzzle) return;
    const node = app.node();
    if (this.stage === "asked" && node.parent === puzzle.parent) {
      this.tried = { id: node.id, own: !this.known.has(node.id) };
      this.stage = "judging";
    } else if (this.stage === "asked" && node.id !== puzzle.parent) this.stop();
    this.draw();
  }

  private show(): void {
    const { puzzle } = this;
    if (!puzzle) return;
    this.leave();
    this.stage = "shown";
    this.go(puzzle.parent!);
    this.app.set({ hints: true });
    this.draw();
  }

  private stop(): void {
    if (this.stage === "none") return;
    this.leave();
    this.stage = "none";
    this.ids = [];
    this.app.set({ hints: this.hints });
    this.draw();
  }

  /** The chance of the one who is to move in the puzzle, at a position. */
  private chance(id: number): number | null {
    const { app, puzzle } = this;
    const p = app.network ? chanceOf(app.game.kind, app.result(app.network, id)) : null;
    if (p === null || !puzzle) return null;
    return app.node(puzzle.parent!).turn === (app.game.kind === "chess" ? "w" : "b") ? p : 1 - p;
  }

  private draw(): void {
    if (!this.host.offsetParent && this.stage === "none" && this.drawn) return;
    const { app, puzzle } = this;
    const running = this.stage !== "none" && puzzle;
    this.offerSides();
    if (!running) this.drawList();
    this.list.hidden = this.intro.hidden = this.side.element.hidden = Boolean(running);
    this.question.hidden = this.verdict.hidden = this.facts.hidden = !running;
    this.begin.hidden = Boolean(running) || !this.list.childElementCount;
    for (const each of [this.again, this.reveal, this.next, this.end]) each.hidden = !running;
    this.drawn = "yes";
    if (!running) return;
    const before = app.node(puzzle.parent!);
    const side = before.turn === "w" ? "White" : "Black";
    this.question.textContent = `${this.at + 1} of ${this.ids.length}. ${side} to move: ${named(app, puzzle)} was played. Find something better.`;
    this.again.hidden = this.stage === "asked";
    this.reveal.hidden = this.stage === "shown";
    this.next.textContent = this.at + 1 < this.ids.length ? "Next" : "Finish";
    this.judge(puzzle, before);
  }

  private judge(puzzle: Node, before: Node): void {
    const { app, tried } = this;
    const was = this.chance(before.id);
    const played = this.chance(puzzle.id);
    const now = tried && app.game.nodes.has(tried.id) ? this.chance(tried.id) : null;
    const facts: [string, number | null][] = [];
    let words = "";
    if (tried && app.game.nodes.has(tried.id)) {
      const move = app.node(tried.id).san;
      if (now !== null && this.stage === "judging") this.stage = "judged";
      if (now === null) words = `${move}: the network looks at it …`;
      else if (tried.id === puzzle.id) words = `${move} is what was played. Try another.`;
      else if (was !== null && now >= was - SLACK) words = `${move} is good: nothing is lost.`;
      else if (played !== null && now > played + SLACK) words = `${move} is better than the game, though not the best.`;
      else words = `${move} loses as much as the game did.`;
      facts.push(["before", was], [`after ${move}`, now], [`after ${puzzle.san}, as played`, played]);
    } else if (this.stage === "shown") {
      const best = app.network ? app.result(app.network, before.id)?.moves?.[0] : undefined;
      words = best ? `The network’s first move is ${best.san}.` : this.siblings(puzzle);
      facts.push(["before", was], [`after ${puzzle.san}, as played`, played]);
    }
    const side = before.turn === "w" ? "White" : "Black";
    const told = whose(app.game.kind);
    // Everywhere the same side's chance is told.
    const say = (p: number): string => `${told} ${percent(side === told ? p : 1 - p)}`;
    if (this.verdict.textContent !== words) this.verdict.textContent = words;
    this.verdict.classList.toggle("good", words.includes("is good"));
    this.facts.replaceChildren(
      ...facts.flatMap(([what, p]) => (p === null ? [] : [el("div", {}, el("dt", {}, what), el("dd", {}, say(p)))])),
    );
    this.again.disabled = this.stage === "judging";
  }

  /** Where the network names no moves: the best of the variations that are there. */
  private siblings(puzzle: Node): string {
    const others = this.app.node(puzzle.parent!).children.filter((id) => id !== puzzle.id);
    const known = others.flatMap((id) => {
      const p = this.chance(id);
      return p === null ? [] : [{ id, p }];
    });
    const best = known.sort((a, b) => b.p - a.p)[0];
    if (!best) return "This network judges positions and names no moves. Play some, and see what it says of them.";
    return `Of the variations, ${this.app.node(best.id).san} is the best.`;
  }

  private offerSides(): void {
    const { kind } = this.app.game;
    const names = (players(this.app.game) || " – ").split(" – ");
    const [first, other] = kind === "chess" ? ["w", "b"] : ["b", "w"];
    const said = (side: string | undefined, name: string | undefined): [string, string] => {
      const colour = side === "w" ? "White" : "Black";
      return [side ?? "", name?.trim() ? `${colour} (${name.trim()})` : colour];
    };
    this.side.offer([["both", "both sides"], said(first, names[0]), said(other, names[1])]);
  }

  private drawList(): void {
    const { app } = this;
    const network = app.named(app.network);
    const gives = network?.answers.some((each) => each !== "moves");
    const ids = this.find();
    this.intro.textContent =
      app.path.length < 2
        ? "Open a game, or play one. The positions where the network thinks most was lost come as puzzles."
        : !gives
          ? `${network?.name ?? "This network"} does not say who is winning. Choose another network.`
          : ids.length
            ? `${network?.name} thinks that here most was lost. Each opens at the position before.`
            : app.analyser.busy
              ? "The network is looking at the game …"
              : "The network finds no mistakes here.";
    const rows = ids.map((id, index) => {
      const lost = Math.round(100 * (lostBy(app, app.node(id)) ?? 0));
      const made = button("", () => this.open(index));
      const grade = this.mistakes.of(id);
      made.append(
        el("span", { class: "puzzle-move" }, named(app, app.node(id))),
        el("span", { class: `mark ${grade?.word ?? ""}` }, grade?.mark ?? ""),
        el("span", { class: "puzzle-lost" }, `−${lost} %`),
      );
      return el("li", {}, made);
    });
    this.list.replaceChildren(...rows);
  }
}
