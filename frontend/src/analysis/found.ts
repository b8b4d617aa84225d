/** What the page has found of a game, for a record with evaluations: values, marks and reasons. */

import { recordedChance } from "../app/displayed";
import type { Mistake, Mistakes } from "./mistakes";
import type { CheckedBy } from "../server/checker";
import { type Judged, judgedGame, judgedLine, leadOf } from "./summary";
import type { App } from "../app/state";
import { language, texts } from "../texts";

/** What is known of a move and the position after it. */
export interface Note {
  /** White's chance in chess, Black's in Go. */
  value: number | null;
  /** Black's, in points. */
  lead: number | null;
  mark: Mistake["mark"] | "";
  loss: number;
  points: number | null;
  best: string;
  /** The best move, and how the game would go on. */
  line: string[];
  reasons: Record<string, string>;
  /** Moves to a mate, above 0 if White mates. */
  mate?: number;
}

/** What is known of the whole game. */
export interface Analysis {
  meaning: string;
  language: string;
  checked_by: CheckedBy | null;
  summary: Judged | null;
}

export interface Found {
  analysis: Analysis;
  notes: Map<number, Note>;
}

/** What is known of the game; undefined if that is nothing. `line`: the summary is of the line shown, also of a variation. */
export function found(app: App, mistakes: Mistakes, line = false): Found | undefined {
  const notes = new Map<number, Note>();
  for (const id of app.game.nodes.keys()) {
    const note = noteOf(app, mistakes, id);
    if (note) notes.set(id, note);
  }
  if (!notes.size) return undefined;
  const engine = Boolean(app.checker.now);
  const meaning = engine ? "" : (app.named(app.network)?.claim?.note ?? "");
  return { analysis: { meaning, language, checked_by: app.checker.about(), summary: (line ? judgedLine : judgedGame)(app, mistakes) }, notes };
}

function noteOf(app: App, mistakes: Mistakes, id: number): Note | undefined {
  const { judging } = mistakes;
  const go = app.game.kind === "go";
  const value = recordedChance(app, judging, id);
  const judged = judging.exact(id);
  const lead = go ? leadOf(app, judging, id) : null;
  if (value === null && lead === null && !judged) return undefined;
  const mistake = mistakes.graded(id);
  return {
    value,
    lead,
    mark: mistake?.mark ?? "",
    loss: mistake?.lost ?? 0,
    points: judged?.points ?? null,
    best: judged?.best.san ?? "",
    line: judged?.line ?? [],
    reasons: judged?.reason?.texts ?? {},
    ...(judged?.mate ? { mate: judged.mate } : {}),
  };
}

/** "Only 12 of 80 moves are checked so far."; nothing where all are. */
export function progress({ judging }: Mistakes): string {
  if (!judging.possible) return "";
  const [done, all] = judging.counts;
  return done < all ? texts.save.part(done, all) : "";
}
