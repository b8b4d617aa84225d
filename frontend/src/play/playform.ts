/** What somebody chose for games against an opponent, for each game: it is there again after a reload. */

import { keep, kept } from "../app/storage";

export interface Form {
  /** As choices name players. */
  opponent?: string;
  side?: string;
  /** The level of each opponent. */
  levels?: Record<string, string>;
  handicap?: string;
  rules?: string;
  komi?: string;
}

type Kind = "chess" | "go";

const NAME = "play";

export class KeptForm {
  private readonly forms: Partial<Record<Kind, Form>> = read();

  of(kind: Kind): Form {
    return this.forms[kind] ?? {};
  }

  set(kind: Kind, choices: Form): void {
    this.forms[kind] = { ...this.of(kind), ...choices };
    keep("local", NAME, JSON.stringify(this.forms));
  }

  chooseLevel(kind: Kind, opponent: string, level: string): void {
    this.set(kind, { levels: { ...this.of(kind).levels, [opponent]: level } });
  }
}

/** Nothing where the browser has kept something else. */
function read(): Partial<Record<Kind, Form>> {
  try {
    const found: unknown = JSON.parse(kept("local", NAME) ?? "{}");
    return typeof found === "object" && found !== null && !Array.isArray(found) ? found : {};
  } catch {
    return {};
  }
}
