/** Moves that lost much, where a search has confirmed it. */

import type { ReasonLine } from "./reasonlines";
import type { Judgement, Judging } from "../server/judging";
import { named } from "../app/naming";
import type { App, Node } from "../app/state";
import { inLanguage, lettered, texts } from "../texts";

type Grade = keyof typeof texts.mistakes.grades;

export interface Mistake {
  /** The position after the mistake. */
  id: number;
  /** Of the chance of the one who moved, 0..1. */
  lost: number;
  mark: "?!" | "?" | "??";
  word: Grade;
}

/** What stands after a move: a mistake's mark, a dot where one is being checked, a square after an only move. */
export interface Sign {
  text: Mistake["mark"] | "•" | "□";
  /** Its class. */
  name: string;
  words: string;
  /** The same for those who do not see it, with what a click does. */
  label: string;
  mistake: boolean;
  /** Why the move was bad, in a sentence with English letters of pieces. Without a proven reason: its loss and the better line. */
  reason?: string;
  /** The lines in it. */
  lines?: readonly ReasonLine[];
}

const GRADES: readonly [number, Mistake["mark"], Grade][] = [
  [0.3, "??", "blunder"],
  [0.2, "?", "mistake"],
  [0.1, "?!", "inaccuracy"],
];
/** A loss of chess in percent, with as many decimals as it takes to stay below the next mark: 19.96, not 20, with "?!". */
export function lostPercent(loss: number): number {
  const gradeOf = (lost: number): number => GRADES.findIndex(([least]) => lost >= least);
  const digits = [0, 1, 2, 3].find((each) => gradeOf(Number((100 * loss).toFixed(each)) / 100) === gradeOf(loss)) ?? 4;
  return Number((100 * loss).toFixed(digits));
}

/** What a quick look must say was lost for a dot. */
const DOUBTFUL = 0.1;

const plain = (text: Sign["text"], name: string, words: string): Sign => ({ text, name, words, label: words, mistake: false });

/** The reason of a marked move. percent: of its chance, lost. */
function why({ reason, points, line, best }: Judgement, percent: number, { comment }: Node): Pick<Sign, "reason" | "lines"> {
  const proven = inLanguage(reason?.texts);
  if (proven) return { reason: proven, lines: reason?.lines ?? [] };
  // A record that was written with evaluations names the better move already.
  if (!line.length || comment.includes("better: ")) return {};
  const written = line.join(" ");
  const instead = typeof points === "number" ? texts.mistakes.insteadPoints(points, written) : texts.mistakes.instead(percent, written);
  return { reason: instead, lines: line[0] === best.san ? [{ instead: true, moves: [best.move], written: best.san }] : [] };
}

/** The mistakes of the line that is shown, kept up to date. Others listen to the app after this. */
export class Mistakes {
  private found = new Map<number, Mistake>();
  private network = "";

  constructor(
    private readonly app: App,
    readonly judging: Judging,
  ) {
    app.on("game", () => this.found.clear());
    for (const event of ["path", "results", "networks", "checker", "judgements"] as const) app.on(event, () => this.find());
  }

  of(id: number): Mistake | undefined {
    return this.app.hints ? this.found.get(id) : undefined;
  }

  /** Of the line, in its order. */
  get all(): Mistake[] {
    return this.app.path.map((id) => this.of(id)).filter((each) => each !== undefined);
  }

  /** The positions after moves that may be mistakes and are being checked. */
  get doubts(): number[] {
    return this.app.path.filter((id) => this.doubtful(id));
  }

  /** What the move that led to a position lost, 0..1; null where no search has said so. */
  lost(id: number): number | null {
    return this.judging.exact(id)?.loss ?? null;
  }

  /** What the search says of the move that led to a position, also where the page hides it. */
  graded(id: number): Mistake | undefined {
    const lost = this.lost(id);
    if (lost === null) return undefined;
    // Of Go a search tells the points on the board too.
    const sign = this.app.game.kind === "go" ? this.judging.exact(id)?.mark : undefined;
    const grade = GRADES.find(([least, mark]) => (sign === undefined ? lost >= least : mark === sign));
    return grade && { id, lost, mark: grade[1], word: grade[2] };
  }

  sign(id: number): Sign | undefined {
    const node = this.app.game.nodes.get(id);
    if (!this.app.hints || !node) return undefined;
    const mistake = this.found.get(id);
    if (mistake) return this.marked(mistake, node);
    if (this.doubtful(id)) return plain("•", "doubt", texts.mistakes.doubt);
    return this.judging.exact(id)?.only ? plain("□", "only", texts.mistakes.only) : undefined;
  }

  private marked({ id, mark, word }: Mistake, node: Node): Sign {
    const judged = this.judging.exact(id);
    const before = named(this.app, node);
    const sign = { text: mark, name: word, mistake: true };
    if (!judged) {
      const short = texts.mistakes.opens(texts.mistakes.grades[word], before);
      return { ...sign, words: short, label: short };
    }
    const move = `${lettered(node.san)}${mark}`;
    const percent = this.percent(judged.loss);
    const line = lettered(judged.line.join(" "));
    const words =
      typeof judged.points === "number" ? texts.mistakes.lostPoints(move, judged.points, percent, line) : texts.mistakes.lost(move, percent, line);
    return { ...sign, words, label: texts.mistakes.label(words, before), ...why(judged, percent, node) };
  }

  /** A loss of chance in percent. Of Go it has no decimals: points decide on the mark. */
  percent(loss: number): number {
    return this.app.game.kind === "go" ? Math.round(100 * loss) : lostPercent(loss);
  }

  private doubtful(id: number): boolean {
    const shown = this.app.hints && this.app.placeOf(id) !== undefined;
    if (this.app.game.kind === "go") return shown && this.judging.possible && !this.judging.exact(id) && this.judging.searched(id);
    const judged = shown ? this.judging.of(id) : undefined;
    return judged !== undefined && !judged.exact && judged.loss >= DOUBTFUL;
  }

  private find(): void {
    const { app } = this;
    const network = app.checker.key(app.network ?? "");
    if (this.network !== network) this.found.clear();
    this.network = network;
    for (const id of app.path) {
      const mistake = this.graded(id);
      if (mistake) this.found.set(id, mistake);
      else this.found.delete(id);
    }
  }
}
