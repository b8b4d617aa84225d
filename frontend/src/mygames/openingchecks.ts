/** Moves of openings, judged by search: whether a usual move loses much. What is known stays for the tab, and the server keeps it on disk. */

import type { Judgement } from "../server/judging";
import { digest, Remembered } from "../app/remembered";
import type { App } from "../app/state";
import { type Flaw, flawOf, type Position, usual } from "./repertoire";

type Known = Pick<Judgement, "loss" | "best">;

export class OpeningChecks {
  private readonly known = new Remembered<Known>("openings");
  private readonly asked = new Map<string, Promise<Known | undefined>>();

  /** network: the one that judges; undefined where none can. */
  constructor(
    private readonly app: App,
    readonly network: () => string | undefined,
  ) {}

  /** What is known of a usual move: null if it loses little, undefined before it was judged. */
  flaw(position: Position): Flaw | null | undefined {
    const move = usual(position)?.move;
    const found = move === undefined ? undefined : this.known.get(this.key(position.line, move));
    return found && flawOf(position, found);
  }

  /** Judges a position's usual move; null also where it cannot be judged. */
  async find(position: Position): Promise<Flaw | null> {
    const move = usual(position)?.move;
    return move === undefined ? null : flawOf(position, await this.judge(position.line, move));
  }

  /** What a move after a line loses, 0..1; undefined where it cannot be judged. */
  async judge(line: readonly string[], move: string): Promise<Known | undefined> {
    const network = this.network();
    if (!network) return undefined;
    const key = this.key(line, move);
    const known = this.known.get(key);
    if (known) return known;
    const asked = this.asked.get(key) ?? this.ask(key, network, [...line, move]);
    this.asked.set(key, asked);
    return asked;
  }

  private async ask(key: string, network: string, moves: string[]): Promise<Known | undefined> {
    let found: Known | undefined;
    try {
      const at = moves.length;
      await this.app.api.judge({ network, line: { game: "chess", moves }, from: at, to: at }, ({ exact, loss, best }) => exact && (found = { loss, best }));
      if (found) this.known.set(key, found);
    } catch {
      // The moves are practiced without it.
    } finally {
      this.asked.delete(key);
    }
    return found;
  }

  private key(line: readonly string[], move: string): string {
    return digest([this.app.weights(this.network() ?? ""), ...line, move].join(" "));
  }
}
