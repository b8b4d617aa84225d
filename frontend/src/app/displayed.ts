/** What a position is worth: the one value that the headline, the bar, the curve and the lists show. */

import { chanceOf } from "./chance";
import type { Judging } from "../server/judging";
import { type Count, shown } from "../board/overlays";
import type { App, Node } from "./state";

/** Where a value comes from: the rules, where the game is over; a search; or one evaluation without a search. */
export type Source = "rules" | "search" | "network";

export interface Displayed {
  /** White's chance in chess, Black's in Go, 0..1. */
  chance: number;
  source: Source;
  /** Black's lead in points, of a search in Go. */
  lead?: number | null;
}

/** What may be known of a position. */
export interface Known {
  /** Whether the rules have ended the game there. */
  over: boolean;
  /** The result of a game of Go that was counted. */
  counted?: number | null;
  searched?: number | null;
  network?: number | null;
}

/** The value that is shown: the result, else the best searched line, else the network's own value. */
export function chooseValue({ over, counted, searched, network }: Known): Displayed | null {
  if (typeof counted === "number") return { chance: counted, source: "rules" };
  if (over && typeof network === "number") return { chance: network, source: "rules" };
  if (typeof searched === "number") return { chance: searched, source: "search" };
  return typeof network === "number" ? { chance: network, source: "network" } : null;
}

/** The end of the game if only passes come before it from here, and it has ended by two of them; undefined otherwise. */
export function endAfterPasses(app: Pick<App, "node">, id: number): Node | undefined {
  let node = app.node(id);
  while (node.end !== "passes") {
    const next = node.children[0] === undefined ? undefined : app.node(node.children[0]);
    if (next?.move !== "pass") return undefined;
    node = next;
  }
  return node;
}

/** Whether the move that led to a position is one of the passes that end the game. They cost nothing. */
export const closingPass = (app: App, id: number): boolean => app.node(id).move === "pass" && endAfterPasses(app, id) !== undefined;

/** The count of the game, in a position from which only passes follow to its end; undefined in others, and where it was not counted. */
export function countOf(app: Pick<App, "game" | "node">, id: number): Count | undefined {
  const end = app.game.kind === "go" && shown.counts.size && app.game.nodes.has(id) ? endAfterPasses(app, id) : undefined;
  return end && shown.counts.get(end.id);
}

/** The value of a position for the chosen network; null if nothing is known. */
export function displayedChance(app: App, judging: Judging, id = app.cursor): Displayed | null {
  const { end } = app.node(id);
  return chooseValue({
    over: Boolean(end) && end !== "passes",
    counted: countOf(app, id)?.black,
    searched: judging.value(id),
    network: app.network ? chanceOf(app.game.kind, app.result(app.network, id)) : null,
  });
}

/** Black's lead in a position of Go: of the count, else of a search, else the network's own; null if nothing is known. */
export function displayedLead(app: App, judging: Judging, id = app.cursor): { lead: number; source: Source } | null {
  const counted = countOf(app, id);
  if (counted) return { lead: counted.score, source: "rules" };
  const searched = judging.lead(id);
  if (searched !== null) return { lead: searched, source: "search" };
  const own = app.network ? app.result(app.network, id)?.score : null;
  return typeof own === "number" ? { lead: own, source: "network" } : null;
}

/** The value of a position for a record of the game; null if none is known that fits the others: where moves are searched, the network's own does not. */
export function recordedChance(app: App, judging: Judging, id: number): number | null {
  const known = displayedChance(app, judging, id);
  return known && (app.game.kind === "go" || known.source !== "network" || !judging.possible) ? known.chance : null;
}

/** Whether a record of the game would have values. */
export function hasValues(app: App, judging: Judging): boolean {
  return [...app.game.nodes.keys()].some((id) => recordedChance(app, judging, id) !== null || judging.exact(id));
}
