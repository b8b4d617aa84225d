/** What the chosen network's search, or the engine that judges, says of single moves: the value after each, and how the game would go on. */

import type { ByRating, Opinion, OpinionLine } from "../server/api";
import { Kept, Latest } from "../server/asking";
import type { Judging } from "../server/judging";
import type { App, Network } from "../app/state";

/** Whether its search has values of single moves. */
export const values = (network: Network | undefined): boolean => Boolean(network && !network.problem && network.methods.includes("puct"));

/** A position that is only passed asks nothing, ms. */
const PAUSE = 350;
/** So many likely moves have values, even where they are not among the best. */
const VALUED = 5;

export interface Searched {
  lines: OpinionLine[];
  /** How likely players of each rating lose much, by the network's whole search; of an engine nothing. */
  risk: ByRating["risk"];
  /** Whether values of likely moves are still missing. */
  part?: boolean;
  /** Whether the search goes on: its values will change. */
  running?: boolean;
}

const NOTHING: Searched = { lines: [], risk: null };
const BEGUN: Searched = { ...NOTHING, running: true };
const searchedIn = ({ lines = [], risk }: Opinion): Searched => ({ lines, risk: risk ?? null });

export class Candidates {
  private readonly latest = new Latest(PAUSE);
  private readonly kept = new Kept<Searched>(500);
  private asked = "";
  /** What has come of the position that is asked about. */
  private partly = NOTHING;
  /** The last position whose search failed. */
  private failed = "";
  /** Node numbers begin anew with every game. */
  private game = 0;

  constructor(
    private readonly app: App,
    private readonly host: HTMLElement,
    private readonly changed: () => void,
    private readonly judging: Judging,
  ) {
    app.on("game", () => {
      this.game += 1;
    });
    app.on("networks", () => this.latest.again() && (this.asked = ""));
    document.addEventListener("visibilitychange", changed);
    new IntersectionObserver(changed).observe(host);
  }

  /** What is known by now of moves in the position that is shown, the best first; asks for it where nothing is known. */
  of(network: Network | undefined): Searched {
    const { app } = this;
    const node = app.node();
    const searches = network && this.searches(network);
    const seen = app.hints && this.host.offsetParent !== null && document.visibilityState === "visible";
    // The network's own answer comes first, and the game's.
    const ready = searches && seen && app.result(network.name, node.id) && !app.analyser.busy;
    const key = searches ? JSON.stringify([this.game, app.weights(network.name), app.checker.now, node.id]) : "";
    const known = this.kept.get(key);
    if (ready && (!known || known.part)) this.ask(key, network.name);
    else if (this.asked && (this.asked !== key || !seen)) this.cancel();
    const found = key && key === this.asked && this.partly.lines.length ? this.partly : known;
    if (found) return { ...found, lines: this.withPlayed(found.lines, network) };
    return key && seen && this.failed !== key ? BEGUN : NOTHING;
  }

  /** Lines with the values that positions after their moves have, where moves were played and judged. The best line's value is the position's own. */
  private withPlayed(lines: OpinionLine[], network: Network | undefined): OpinionLine[] {
    const { app } = this;
    if (app.game.kind !== "chess" || network?.name !== app.network) return lines;
    const played = new Map(app.node().children.map((id) => [app.node(id).move, this.judging.value(id)]));
    return lines.map((line, at) => {
      const white = at ? played.get(line.moves[0] ?? null) : undefined;
      return typeof white === "number" && !line.mate ? { ...line, white } : line;
    });
  }

  /** Whether values of moves in the position that is shown come sooner or later. */
  searches(network: Network | undefined): boolean {
    const { checker } = this.app;
    const { end } = this.app.node();
    const over = end === "checkmate" || end === "stalemate" || end === "passes";
    return Boolean(network) && (Boolean(checker.now) || values(network)) && !checker.waits && !over;
  }

  private ask(key: string, network: string): void {
    if (key === this.asked) return;
    this.cancel();
    this.asked = key;
    const line = this.app.line();
    const { id } = this.app.node();
    const { game } = this;
    const engine = this.app.checker.now;
    const before = this.kept.get(key);
    const lines = before?.lines ?? [];
    const likely = (this.app.result(network, id)?.moves ?? []).slice(0, VALUED).map(({ move }) => move);
    const moves = likely.filter((move) => !lines.some((each) => each.moves[0] === move));
    const asked = { network, line, moves, ...(engine ? { checked_by: engine } : {}), ...(before ? { searched: true } : {}) };
    const all = (found: Opinion): Searched => (before ? { ...before, lines: [...lines, ...(found.lines ?? [])], part: false } : searchedIn(found));
    const heard = (searched: Searched): void => {
      if (this.asked !== key) return;
      this.partly = searched;
      this.changed();
    };
    // Kept as soon as the search is done: the next step may come before the values of more moves.
    const done = (searched: Searched): void => {
      this.kept.set(key, searched);
      const best = searched.lines[0];
      const value = best?.white ?? best?.black;
      if (typeof value === "number" && game === this.game && !engine) this.judging.learn(id, network, value, best?.score ?? null);
      heard(searched);
    };
    const some = (found: Opinion): Searched => ({ ...all(found), running: !before && !this.kept.get(key) });
    this.latest.ask(
      (signal) => this.app.api.candidates(asked, (found) => (found.searched ? done({ ...searchedIn(found), part: true }) : heard(some(found))), signal),
      (found) => done(all(found)),
      // Where it cannot be known, the moves stand without it.
      () => {
        this.failed = key;
        this.changed();
      },
    );
  }

  /** Gives up what nobody looks at; what was not finished is asked for again. */
  private cancel(): void {
    this.latest.cancel();
    this.asked = "";
    this.partly = NOTHING;
  }
}
