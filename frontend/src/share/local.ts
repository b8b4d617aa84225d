/** Answers in place of the server: rules in the page, and the network in a worker. */

import { Api, type Analyse, type Chosen, type Counted, type Loaded, Refused, SHORT_SEARCH, type Think, type Thinking, type Written } from "../server/api";
import type { Line, Network, Result } from "../app/state";
import { texts } from "../texts";
import * as chess from "./chess";
import { Engine } from "./engine";
import type { Shared } from "./network";
import type { SavedNode } from "./saved";

/** Asks the network, which is loaded by then. */
export type Ask = Engine["ask"];

/** Seconds after which a search with one evaluation has stopped because the device is slow. */
const ONE_ONLY = 0.3;

export class LocalApi extends Api {
  /** The rating whose likely moves are shown where a game names none; 0 for none. */
  rating = 0;
  private readonly engine: Promise<Engine>;
  private problem: string | null = null;

  /** far: told the share of the files that is loaded. slow: told when a search had the time for one evaluation only. */
  constructor(
    readonly shared: Shared,
    far: (share: number) => void,
    private readonly slow: () => void = () => undefined,
  ) {
    super();
    this.engine = Engine.open(shared, far);
    this.engine.catch((error: unknown) => (this.problem = error instanceof Error ? error.message : String(error)));
  }

  /** Resolves when the network can be asked; rejects with one line. */
  async ready(): Promise<void> {
    await this.engine;
  }

  override networks(): Promise<{ networks: Network[]; given: string[] }> {
    const { network } = this.shared;
    const stamp = `${network.stamp} ${this.rating}`;
    return Promise.resolve({ networks: [{ ...network, stamp, problem: this.problem }], given: [network.name] });
  }

  override preparing(): ReturnType<Api["preparing"]> {
    return Promise.resolve({ is_running: false, done: 0, total: 0, left: null });
  }

  /** Nobody knows of any: then the page says nothing of them. */
  override programs(): Promise<never> {
    return Promise.reject(new Refused(texts.share.notHere));
  }

  override async load(text: string, index = 0): Promise<Loaded> {
    if (/^\s*\(\s*;/.test(text)) return (await import("./sgf")).loadSgf(text, index);
    const { isFen, loadFen, loadPgn } = await import("./pgn");
    return isFen(text) ? loadFen(text) : loadPgn(text, index);
  }

  override readonly annotates = false;

  override async save(body: { tree: unknown[]; headers: Record<string, string>; game: string; line: Line }): Promise<string> {
    const tree = body.tree as SavedNode[];
    if (body.game === "chess") return (await import("./pgn")).savePgn(tree, body.headers, body.line.fen);
    return (await import("./sgf")).saveSgf(tree, body.headers, body.line);
  }

  override async line(line: Line): Promise<Written[]> {
    return line.game === "chess" ? chess.nodesOf(line) : (await import("./go")).nodesOf(line);
  }

  override async move(line: Line, move: string): Promise<Written> {
    return line.game === "chess" ? chess.after(line, move) : (await import("./go")).after(line, move);
  }

  override async count(line: Line, dead?: string[]): Promise<Counted> {
    const go = await import("./go");
    return go.count(line, dead ?? (await go.deadBy(line, this.shared, await this.asker())));
  }

  /** Nothing is kept here. */
  override judged(): Promise<[]> {
    return Promise.resolve([]);
  }

  override async targets(_: string, line: Line, square: string): Promise<number[]> {
    return chess.targets(line, square, this.shared, await this.asker());
  }

  override async analyse({ line, from = 0, to = line.moves.length }: Analyse, found: (result: Result) => void, signal?: AbortSignal): Promise<void> {
    const ask = await this.asker();
    const rules = line.game === "chess" ? chess : await import("./go");
    await rules.analyse({ line: this.rated(line), from, to }, this.shared, ask, found, signal);
  }

  override async think({ line, temperature, rating, rank = "", method, nodes = null }: Think, thought: (thinking: Thinking) => void, signal?: AbortSignal): Promise<Chosen> {
    const ask = await this.asker();
    const rules = line.game === "chess" ? chess : await import("./go");
    const searches = method === SHORT_SEARCH;
    const noted = (thinking: Thinking): void => {
      if (searches && thinking.nodes === 1 && (thinking.seconds ?? 0) > ONE_ONLY) this.slow();
      thought(thinking);
    };
    const usual = rank ? (this.shared.ranks?.temperature ?? 0) : 0;
    return { move: await rules.think({ line, temperature: temperature ?? usual, rating: rating ?? 0, rank, searches, nodes }, this.shared, ask, noted, signal), people: 0 };
  }

  /** All else needs the server. */
  protected override fetch(): Promise<Response> {
    return Promise.reject(new Refused(texts.share.notHere));
  }

  private rated(line: Line): Line {
    const known = line.ratings?.some(Boolean) ?? false;
    return line.game === "chess" && !known && this.rating ? { ...line, ratings: [this.rating, this.rating] } : line;
  }

  private async asker(): Promise<Ask> {
    const engine = await this.engine;
    return (positions) => engine.ask(positions);
  }
}
