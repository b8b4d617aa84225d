/** What the chosen network says of the position, and what of it is shown on the board. */

import "./panels.css";

import type { OpinionLine } from "../server/api";
import { Kept, Latest } from "../server/asking";
import { Candidates, values } from "./candidates";
import { Chance, claimant, whose } from "../app/chance";
import { displayedChance, displayedLead } from "../app/displayed";
import { button, Choice, el, fresh, write } from "../ui/elements";
import type { Judging } from "../server/judging";
import { grainOf, layersOf, NAMES, pieceAt, type Plane } from "../app/layers";
import { ending } from "../app/naming";
import { asksRatings, MoveBars, MovesByRating } from "./movebars";
import type { OpinionPanel } from "./opinion";
import type { CheckerChoice } from "./checkedby";
import type { RatingPanel } from "./ratings";
import { shown, type Candidate, type Heat, type Layer } from "../board/overlays";
import type { App, Network, Node, Result } from "../app/state";
import { fromServer, texts } from "../texts";

/** What only a page with a server has. */
export interface ServerParts {
  /** What players of each rating would play. */
  Ratings: typeof RatingPanel;
  /** Who judges the moves. */
  Checkers: typeof CheckerChoice;
  Opinion: typeof OpinionPanel;
}

/** parts: null on a page without a server. */
export function mountNetwork(host: HTMLElement, app: App, judging: Judging, parts: ServerParts | null = null): void {
  new NetworkPanel(host, app, judging, parts);
}

class NetworkPanel {
  private readonly title = el("h2", { class: "network-title" });
  private readonly about = el("p", { class: "note network-about" });
  private readonly note = el("p", { class: "note" });
  private readonly chance = new Chance();
  private readonly bars: MoveBars;
  private readonly candidates: Candidates;
  private readonly likely = el("span");
  private readonly columns = el("span", { class: "bar-columns" });
  private readonly byRating: MovesByRating;
  private readonly ratings: RatingPanel | null;
  private readonly movesPart: HTMLElement;
  private readonly boardPart: HTMLElement;
  private readonly unhide = button(texts.network.unhide, () => this.app.set({ hints: true }));
  private readonly layers = el("div", { class: "chips", role: "radiogroup", "aria-label": texts.network.colours });
  private readonly arrows = el("input", { type: "checkbox" });
  private readonly arrowsWords = el("span");
  private readonly arrowsLabel: HTMLLabelElement;
  private readonly piece: Choice;
  private readonly plane: Choice;
  private readonly planeRow: HTMLElement;
  private readonly legend = el("div", { class: "legend-place" });
  private readonly state = el("p", { class: "note state", role: "status" });
  private readonly again = button(texts.common.askAgain, () => {
    this.asked = "";
    this.draw();
  });
  private readonly group = fresh("layer");
  private readonly latest = new Latest();
  private readonly planes = new Kept<Plane[]>(60);
  private readonly heats = new Kept<{ heat: Heat; what: string }>();
  private offered = "";
  private asked = "";
  private legendKey = "";
  private planeName = "";
  private what = "";

  constructor(
    private readonly host: HTMLElement,
    private readonly app: App,
    private readonly judging: Judging,
    parts: ServerParts | null,
  ) {
    this.bars = new MoveBars(app);
    this.byRating = new MovesByRating(app);
    this.ratings = parts && new parts.Ratings(app, host, () => this.draw());
    this.candidates = new Candidates(app, host, () => this.draw(), judging);
    this.movesPart = el("section", {}, el("h3", { class: "bar-heads" }, this.likely, this.columns), this.bars.element, this.byRating.element, this.ratings?.element ?? "");
    this.arrowsLabel = el("label", { class: "switch" }, this.arrows, this.arrowsWords);
    this.arrows.addEventListener("change", () => {
      shown.moves = this.arrows.checked;
      shown.changed();
    });
    this.piece = new Choice(texts.network.piece, (square) => shown.pick(square || null));
    this.plane = new Choice(texts.network.plane, (name) => this.choosePlane(name));
    this.planeRow = el(
      "div",
      { class: "plane-row" },
      button("‹", () => this.stepPlane(-1), { class: "square", "aria-label": texts.network.previous }),
      this.plane.element,
      button("›", () => this.stepPlane(1), { class: "square", "aria-label": texts.network.next }),
    );
    this.boardPart = el(
      "section",
      { class: "on-board" },
      el("div", { class: "bar-heads" }, el("h3", {}, texts.network.onBoard), this.arrowsLabel),
      this.layers,
      this.piece.element,
      this.planeRow,
      this.legend,
      this.state,
      this.again,
    );
    const checkers = parts && new parts.Checkers(app);
    host.classList.add("panel");
    host.replaceChildren(
      this.title,
      this.about,
      this.note,
      this.unhide,
      this.chance.element,
      parts ? new parts.Opinion(host, app, checkers?.field).element : "",
      checkers?.element ?? "",
      this.movesPart,
      this.boardPart,
    );
    app.on("networks", () => this.latest.again() && (this.asked = ""));
    for (const event of ["cursor", "results", "settings", "networks", "checker"] as const) app.on(event, () => this.draw());
    app.on("judgements", () => this.drawChance());
    app.on("game", () => {
      this.planes.clear();
      this.heats.clear();
      this.asked = "";
      this.draw();
    });
    shown.on(() => this.draw());
    this.draw();
  }

  private get kind(): "chess" | "go" {
    return this.app.game.kind;
  }

  private network(): Network | undefined {
    return this.app.networks.find((each) => each.name === this.app.network);
  }

  private drawChance(): void {
    const { app, kind } = this;
    const network = this.network();
    const says = app.hints && network ? app.result(network.name, app.cursor) : undefined;
    const value = says ? displayedChance(app, this.judging) : null;
    const found = says && kind === "go" ? displayedLead(app, this.judging) : null;
    // The network's own lead does not belong to the chance of a search: the two may be far apart.
    const lead = found && !(found.source === "network" && value?.source === "search") ? found.lead : null;
    this.chance.by = app.checker.about()?.engine ?? "";
    this.chance.draw(kind, claimant(app), value, lead);
  }

  private draw(): void {
    const { app, kind } = this;
    const network = this.network();
    const node = app.node();
    const result = network ? app.result(network.name, node.id) : undefined;
    const known = app.networks.length > 0;
    this.title.textContent = network ? network.name : known ? texts.network.none : texts.network.loading;
    // The header names it too: once there is a game, the room is for what it says of that.
    const begun = app.path.length > 1 && Boolean(result);
    this.title.classList.toggle("unseen", begun);
    this.about.hidden = begun;
    this.about.textContent = fromServer(network?.title ?? "");
    this.note.textContent = !network
      ? known ? texts.network.noneOf(kind === "chess" ? texts.common.ofChess : texts.common.go) : ""
      : (network.problem ??
        (!app.hints ? texts.network.hidden : ending(node)));
    this.note.hidden = !this.note.textContent;
    const says = app.hints && Boolean(network);
    this.drawChance();
    this.unhide.hidden = app.hints;
    this.boardPart.hidden = !says;
    this.movesPart.hidden = !says || !result?.moves?.length;
    // A server says it of all ratings.
    const byRating = (says && !asksRatings(network) && result?.by_rating) || [];
    const searched = this.candidates.of(says ? network : undefined);
    const { lines } = searched;
    const best = lines[0];
    if (network && best?.moves[0]) {
      const move = best.moves[0];
      const p = result?.moves?.find((each) => each.move === move)?.p ?? best.p ?? 0;
      shown.found(node, network.name, { move, san: best.san[0] ?? move, p });
    }
    const likely = says ? (result?.moves ?? []).slice(0, asksRatings(network) ? 4 : byRating.length || values(network) ? 5 : 8) : [];
    // The values come later. Their room is kept from the start, so that nothing moves away under the pointer.
    const awaited = likely.length > 0 && this.candidates.searches(network);
    this.bars.draw(withBest(likely, result?.moves ?? [], lines), lines, undefined, awaited, searched.running);
    this.likely.textContent = likelyTitle(network, result);
    this.columns.textContent = lines.length || awaited ? texts.network.columns(whose(kind)) : "";
    this.byRating.draw(byRating);
    this.ratings?.draw(says ? network : undefined, searched);
    this.arrows.checked = shown.moves;
    this.arrowsWords.textContent = kind === "chess" ? texts.network.arrows : texts.network.onPoints;
    this.arrowsLabel.hidden = !network?.answers.includes("moves");
    const layer = this.offer(layersOf(network, kind));
    this.piece.element.hidden = layer !== "target";
    if (layer === "target") this.offerPieces(node);
    this.planeRow.hidden = layer !== "planes";
    // These take the room of what is said of other ratings, where there is little.
    this.host.classList.toggle("layered", layer === "planes" || layer === "target");
    // So do the words about a layer, of the lines.
    this.host.classList.toggle("explained", layer === "origin" || layer === "target" || layer === "matters" || layer === "planes");
    this.explain(layer);
    this.ask(layer, network, node);
  }

  /** The chips; gives the layer that is chosen, "none" where this network does not have it. */
  private offer(layers: Layer[]): Layer {
    const key = `${this.kind} ${layers.join(" ")}`;
    if (key !== this.offered) {
      this.offered = key;
      this.layers.replaceChildren(
        ...layers.map((layer) => {
          const input = el("input", { type: "radio", name: this.group, value: layer });
          // Of a pointer: the arrow keys are for the moves again.
          input.addEventListener("click", (event) => event.detail && input.blur());
          input.addEventListener("change", () => {
            shown.layers[this.kind] = layer;
            shown.answer(this.app.node(), null);
          });
          return el("label", { class: "chip" }, input, layer === "matters" && this.kind === "go" ? texts.layers.mattersGo : NAMES[layer]);
        }),
      );
    }
    const wanted = shown.layers[this.kind];
    const layer = layers.includes(wanted) ? wanted : "none";
    for (const input of this.layers.querySelectorAll("input")) input.checked = input.value === layer;
    return layer;
  }

  private offerPieces(node: Node): void {
    const squares = Object.keys(node.dests ?? {}).sort();
    const men = squares.map((square) => [square, `${pieceAt(node.fen ?? "", square)} ${square}`] as const);
    this.piece.offer([["", texts.network.click], ...men], shown.square ?? "");
  }

  private explain(layer: Layer): void {
    const key = `${layer} ${this.kind} ${this.what}`;
    if (key === this.legendKey) return;
    this.legendKey = key;
    if (layer === "none") this.legend.replaceChildren();
    else
      void import("../board/legend").then(
        ({ legend }) => {
          if (key !== this.legendKey) return;
          const made = legend(layer, this.kind, this.what);
          this.legend.replaceChildren(...(made ? [made] : []));
        },
        () => (this.legendKey = ""),
      );
  }

  /** Asks for what the layer needs and is not known; a position that is only passed asks nothing. */
  private ask(layer: Layer, network: Network | undefined, node: Node): void {
    const grain = layer === "liberties" && network?.planes && !shown.grains.has(network.name);
    const needs = layer === "matters" || layer === "planes" || grain || (layer === "target" && shown.square);
    if (!network || !needs || !this.app.hints) {
      this.asked = "";
      this.latest.cancel();
      this.tell("");
      return;
    }
    const key = `${this.app.weights(network.name)} ${layer} ${node.id} ${layer === "target" ? shown.square : ""}`;
    if (key === this.asked) return;
    this.asked = key;
    const known = this.heats.get(key);
    const planes = this.planes.get(key);
    if (planes) this.showPlanes(node, planes);
    else if (known) this.show(node, known);
    else {
      this.tell("…");
      const line = this.app.line();
      this.latest.ask(
        (signal) => this.fetch(layer, network.name, line, signal),
        (answer) => {
          this.tell("");
          if (layer === "liberties") {
            shown.grains.set(network.name, grainOf(answer as Plane[]));
            shown.changed();
          } else if (Array.isArray(answer)) {
            this.planes.set(key, answer);
            this.showPlanes(node, answer);
          } else {
            this.heats.set(key, answer);
            this.show(node, answer);
          }
        },
        (problem) => {
          this.tell(problem);
          this.again.hidden = false;
        },
      );
    }
  }

  private async fetch(
    layer: Layer,
    network: string,
    line: ReturnType<App["line"]>,
    signal: AbortSignal,
  ): Promise<Plane[] | { heat: Heat; what: string }> {
    const { api } = this.app;
    if (layer === "planes" || layer === "liberties") return api.planes(network, line, signal);
    if (layer === "target") {
      const targets = await api.targets(network, line, shown.square ?? "", signal);
      return { heat: { kind: "target", values: targets }, what: "" };
    }
    const { values, what } = await api.occlusion(network, line, signal);
    return { heat: { kind: "signed", values }, what };
  }

  private show(node: Node, { heat, what }: { heat: Heat; what: string }): void {
    this.what = what;
    this.tell("");
    shown.answer(node, heat);
  }

  private showPlanes(node: Node, planes: Plane[]): void {
    this.tell("");
    // At first one that has something to show.
    const first = planes.find(({ values }) => values.some((value) => value !== 0))?.name;
    const known = planes.some(({ name }) => name === this.planeName);
    this.plane.offer(
      planes.map(({ name }) => [name, fromServer(name)] as const),
      known ? this.planeName : first,
    );
    this.planeName = this.plane.value;
    const chosen = planes.find(({ name }) => name === this.planeName);
    this.what = chosen?.values.some((value) => value < 0) ? texts.network.belowZero : "";
    shown.answer(node, chosen ? { kind: "plane", values: chosen.values } : null);
  }

  private choosePlane(name: string): void {
    this.planeName = name;
    const planes = this.asked ? this.planes.get(this.asked) : undefined;
    if (planes) this.showPlanes(this.app.node(), planes);
  }

  private stepPlane(by: number): void {
    const { select } = this.plane;
    const count = select.options.length;
    if (!count) return;
    select.selectedIndex = (select.selectedIndex + by + count) % count;
    this.choosePlane(select.value);
    this.app.say(fromServer(select.value));
  }

  private tell(text: string): void {
    write(this.state, text);
    this.again.hidden = true;
  }
}

/** Whose moves are likely: of a rating, where the game has one. */
export function likelyTitle(network: Network | undefined, result: Result | undefined): string {
  if (result?.rating) return texts.network.likelyOf(result.rating);
  const rated = network?.rated && network.game === "chess" && !network.person;
  return rated ? texts.network.likelyUnrated : texts.network.likely;
}

/** The likely moves, and the one that the search likes best where it is not among them. */
function withBest(likely: Candidate[], all: Candidate[], lines: readonly OpinionLine[]): Candidate[] {
  const best = lines[0];
  const move = best?.moves[0];
  if (!best || !move || likely.some((each) => each.move === move)) return likely;
  return [{ move, san: best.san[0] ?? move, p: all.find((each) => each.move === move)?.p ?? best.p ?? 0 }, ...likely];
}
