/** Two networks side by side on the same position, or two snapshots of one. */

import "./compare.css";
import { Answers, snapshotName } from "../server/answers";
import type { Snapshot } from "../server/api";
import { Latest } from "../server/asking";
import { aloneOf, Chance, whose } from "../app/chance";
import type { Displayed } from "../app/displayed";
import { SmallBoard } from "./smallboard";
import { Choice, el, percent } from "../ui/elements";
import type { App, Network, Node, Result } from "../app/state";
import { lettered, texts } from "../texts";

export function mountCompare(host: HTMLElement, app: App): void {
  new ComparePanel(host, app);
}

class ComparePanel {
  private readonly sides: [Side, Side];
  private readonly verdict = el("p", { class: "note", role: "status" });
  private readonly none = el("p", { class: "note" }, texts.compare.none);
  private readonly pair: HTMLElement;

  constructor(
    private readonly host: HTMLElement,
    private readonly app: App,
  ) {
    const answers = new Answers(app);
    const changed = (): void => this.draw();
    this.sides = [
      new Side(app, answers, texts.compare.left, changed),
      new Side(app, answers, texts.compare.right, changed, (name) => app.chooseSecond(name)),
    ];
    this.pair = el("div", { class: "pair" }, this.sides[0].element, this.sides[1].element);
    host.classList.add("panel");
    host.replaceChildren(el("h2", { class: "pair-title" }, texts.compare.title), this.none, this.verdict, this.pair);
    for (const event of ["game", "cursor", "results", "networks", "settings"] as const)
      app.on(event, () => this.draw());
    // What is hidden asks nothing; it catches up when it is shown.
    new IntersectionObserver((seen) => seen.some((each) => each.isIntersecting) && this.draw()).observe(host);
    this.draw();
  }

  private draw(): void {
    const { app } = this;
    const here = app.networks.filter((each) => each.game === app.game.kind && !each.problem);
    this.none.hidden = here.length > 0;
    this.pair.hidden = here.length === 0;
    if (!here.length || !this.host.offsetParent) return;
    const [left, right] = this.sides;
    const first = here.find((each) => each.name === app.network) ?? here[0]!;
    left.offer(here, first.name);
    right.offer(
      here,
      here.find((each) => each.name === app.second)?.name ?? usualSecond(here, left.chosenNetwork),
    );
    for (const side of this.sides) side.align(left.hasSnapshots || right.hasSnapshots);
    // Only values of one kind are compared: snapshots are not searched.
    const alone = left.ofSnapshot || right.ofSnapshot || !left.searches || !right.searches;
    const a = left.draw(alone);
    const b = right.draw(alone);
    left.list(a, b);
    right.list(b, a);
    this.verdict.textContent = app.hints ? verdict(app, a, b, left.value, right.value) : texts.common.hintsOff;
  }
}

function verdict(app: App, a: Result | undefined, b: Result | undefined, first: Displayed | null, second: Displayed | null): string {
  if (!a || !b) return "";
  const kind = app.game.kind;
  const said: string[] = [];
  if (first && second && (first.source === "network") === (second.source === "network")) {
    // As it is written on the two sides.
    const points = Math.abs(Math.round(100 * first.chance) - Math.round(100 * second.chance));
    said.push(
      points === 0
        ? texts.compare.agree(whose(kind))
        : texts.compare.apart(points, whose(kind)),
    );
  }
  const [x, y] = [a.moves?.[0], b.moves?.[0]];
  if (x && y)
    said.push(x.move === y.move ? texts.compare.both(lettered(x.san)) : texts.compare.each(lettered(x.san), lettered(y.san)));
  if (a.owners && b.owners) {
    const other = b.owners;
    const count = a.owners.filter((value, point) => value > 0.5 !== (other[point] ?? 0.5) > 0.5).length;
    said.push(count ? texts.compare.pointsApart(count) : texts.compare.noneApart);
  }
  return said.join(" ");
}

class Side {
  private readonly network: Choice;
  private readonly snapshot: Choice;
  private readonly chance = new Chance();
  private readonly moves = el("ol", { class: "small-list" });
  private readonly board: SmallBoard;
  readonly element: HTMLElement;
  private readonly latestValue = new Latest();
  private readonly latestSnapshots = new Latest(0);
  private valueAsked = "";
  /** What is shown of the position. */
  value: Displayed | null = null;
  private chosen: string | null = null;
  hasSnapshots = false;
  private snapshotsOf = "";
  private listed = "";

  constructor(
    private readonly app: App,
    private readonly answers: Answers,
    name: typeof texts.compare.left,
    private readonly changed: () => void,
    choose?: (name: string) => void,
  ) {
    this.network = new Choice(name.network, (value) => {
      if (choose) choose(value);
      else this.chosen = value;
      changed();
    });
    this.snapshot = new Choice(name.checkpoint, () => changed());
    this.board = new SmallBoard(app, answers, "small-place", { small: true, answered: changed });
    app.on("networks", () => {
      if (this.latestValue.again()) this.valueAsked = "";
      if (this.latestSnapshots.again()) this.snapshotsOf = "";
    });
    this.element = el(
      "div",
      { class: "side" },
      this.network.element,
      this.snapshot.element,
      this.board.place,
      this.board.note,
      this.chance.element,
      this.moves,
    );
  }

  /** The networks of this game; `usual` is taken as long as nobody has chosen. */
  offer(here: readonly Network[], usual: string): void {
    const chosen = here.some((each) => each.name === this.chosen) ? this.chosen : usual;
    this.network.offer(
      here.map((each) => [each.name, each.name] as const),
      chosen,
    );
    const network = here.find((each) => each.name === chosen);
    this.hasSnapshots = Boolean(network?.snapshots);
    if (network && network.name !== this.snapshotsOf) {
      this.snapshotsOf = network.name;
      this.snapshot.offer([["", texts.compare.itself]], "");
      this.latestSnapshots.cancel();
      if (network.snapshots) this.offerSnapshots(network.name);
    }
  }

  /** Both boards stand at the same height, though one network has no snapshots. */
  align(either: boolean): void {
    this.snapshot.element.hidden = !either;
    this.snapshot.element.style.visibility = this.hasSnapshots ? "" : "hidden";
  }

  private offerSnapshots(run: string): void {
    this.latestSnapshots.ask(
      (): Promise<Snapshot[]> => this.app.api.snapshots(run),
      (found) => this.snapshot.offer([["", texts.compare.itself], ...found.map((each) => [each.id, snapshotName(each)] as const)]),
      // Then there is only the network itself to choose.
      () => undefined,
    );
  }

  get chosenNetwork(): string {
    return this.network.value;
  }

  get ofSnapshot(): boolean {
    return Boolean(this.snapshot.value);
  }

  /** Whether the network has values of a search. */
  get searches(): boolean {
    const network = this.app.named(this.network.value);
    if (!network || network.problem) return false;
    return network.game === "chess" ? network.answers.includes("white") : network.methods.includes("puct");
  }

  /** Draws what is known and asks for what is not. `alone`: the network's own value is shown, without a search. */
  draw(alone: boolean): Result | undefined {
    const { app } = this;
    const node = app.node();
    const network = this.network.value;
    const snapshot = this.snapshot.value || null;
    const result = app.hints ? this.answers.known(network, snapshot, node) : undefined;
    this.board.draw(result);
    const own = aloneOf(app.game.kind, result);
    const searched = alone || !app.hints ? null : this.answers.value(network, node);
    this.value = own && (searched ?? own);
    this.chance.draw(app.game.kind, app.named(network), this.value, this.value?.lead ?? result?.score ?? null, true);
    this.askValue(network, node, Boolean(own) && !alone && searched === undefined);
    this.board.ask(network, snapshot, Boolean(result) || !app.hints);
    return result;
  }

  private askValue(network: string, node: Node, wanted: boolean): void {
    const key = wanted ? `${this.app.weights(network)} ${node.id}` : "";
    if (key === this.valueAsked) return;
    this.valueAsked = key;
    this.latestValue.cancel();
    if (!wanted) return;
    this.latestValue.ask(
      (signal) => this.answers.fetchValue(network, node, signal),
      () => this.changed(),
      // Then the network's own value stays.
      () => undefined,
    );
  }

  /** The first moves; those that the other one has among its own stand out. */
  list(mine: Result | undefined, other: Result | undefined): void {
    const moves = mine?.moves?.slice(0, 5) ?? [];
    const others = new Set(other?.moves?.slice(0, 5).map((each) => each.move));
    const key = JSON.stringify([moves, [...others]]);
    if (key === this.listed) return;
    this.listed = key;
    this.moves.replaceChildren(
      ...moves.map(({ move, san, p }) =>
        el("li", { class: others.has(move) ? "both" : null }, el("span", {}, lettered(san)), el("span", {}, percent(p))),
      ),
    );
  }
}

/** The network that another one is compared with at first: that which it was made from, else any other one. */
export function usualSecond(here: readonly Network[], first: string): string {
  const base = here.find((each) => each.name === first)?.base;
  return (here.find((each) => each.name === base) ?? here.find((each) => each.name !== first) ?? here[0]!).name;
}
