/** What networks say of single positions: of the game's own analysis where it has come so far, else asked for. */

import type { Snapshot } from "./api";
import { Kept } from "./asking";
import type { Displayed } from "../app/displayed";
import type { App, Node, Result } from "../app/state";
import { texts } from "../texts";

export class Answers {
  private readonly kept = new Kept<Result>(3000);
  private readonly values = new Kept<Displayed | null>(1000);
  /** Node numbers begin anew with every game. */
  private game = 0;

  constructor(private readonly app: App) {
    app.on("game", () => {
      this.game += 1;
      this.kept.clear();
      this.values.clear();
    });
  }

  /** snapshot: one of a run's, or null for the network itself. */
  known(network: string, snapshot: string | null, node: Node): Result | undefined {
    const own = snapshot === null ? this.app.result(network, node.id) : undefined;
    return own ?? this.kept.get(this.key(network, snapshot, node));
  }

  async fetch(network: string, snapshot: string | null, node: Node, signal: AbortSignal): Promise<Result> {
    const known = this.known(network, snapshot, node);
    if (known) return known;
    const key = this.key(network, snapshot, node);
    const line = this.app.line(node.id);
    const at = line.moves.length;
    let found: Result | undefined;
    await this.app.api.analyse({ network, line, from: at, to: at, snapshot }, (result) => (found = result), signal);
    if (!found) throw new Error(texts.answers.none);
    this.kept.set(key, found);
    return found;
  }

  /** What a search says of a position; null where the network has none, undefined where it was not asked for. */
  value(network: string, node: Node): Displayed | null | undefined {
    return this.values.get(this.key(network, null, node));
  }

  async fetchValue(network: string, node: Node, signal: AbortSignal): Promise<void> {
    const key = this.key(network, null, node);
    const { chance, source, score } = await this.app.api.value({ network, line: this.app.line(node.id) }, signal);
    this.values.set(key, typeof chance === "number" && source ? { chance, source, lead: score ?? null } : null);
  }

  private key(network: string, snapshot: string | null, node: Node): string {
    return JSON.stringify([this.game, snapshot === null ? this.app.weights(network) : network, snapshot, node.id]);
  }
}

/** "moves, after 3,000 iterations". */
export function snapshotName({ stage, iteration }: Snapshot): string {
  return texts.answers.iterations(stage, iteration);
}
