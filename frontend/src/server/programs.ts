/** Programs of this machine: which there are, and which ratings they can play like. */

import type { Api, Program } from "./api";
import { message } from "./asking";

/** ratings: the least and the most; null where it has no such setting. problem: why nothing is known. */
export interface About {
  ratings: [number, number] | null;
  problem: string;
}

/** Who plays: a network, or a program of this machine. */
export interface Player {
  name: string;
  program: boolean;
}

const MARK = "//";

/** How a choice names a player; no network's name begins like a program's. */
export const keyOf = ({ name, program }: Player): string => (program ? MARK + name : name);

export function playerOf(key: string): Player {
  return key.startsWith(MARK) ? { name: key.slice(MARK.length), program: true } : { name: key, program: false };
}

/** How requests name a player. */
export const asked = ({ name, program }: Player): { program: string } | { network: string } => (program ? { program: name } : { network: name });

export class Programs {
  /** null until the server has told. */
  known: Program[] | null = null;
  /** The engines of the command line that judge moves, by game. */
  checkedBy: Partial<Record<Program["game"], string>> = {};
  /** Whether the server has told, or could not. */
  tried = false;
  private readonly abouts = new Map<string, About | null>();

  /** changed: called when more is known. */
  constructor(
    private readonly api: Api,
    private readonly changed: () => void,
  ) {}

  /** Looks for them once. */
  async find(): Promise<void> {
    if (this.known) return;
    try {
      const { programs, checked_by: checkedBy } = await this.api.programs();
      this.checkedBy = checkedBy ?? {};
      this.known = programs;
    } catch {
      // The server is away; the list comes with the next page.
    }
    this.tried = true;
    this.changed();
  }

  of(game: "chess" | "go"): Program[] {
    return (this.known ?? []).filter((each) => each.game === game);
  }

  /** What it can do; null until it is known: the program is started for that. */
  about(name: string): About | null {
    const known = this.abouts.get(name);
    if (known === undefined) {
      this.abouts.set(name, null);
      void this.ask(name);
    }
    return known ?? null;
  }

  private async ask(name: string): Promise<void> {
    try {
      this.abouts.set(name, { ratings: (await this.api.aboutProgram(name)).ratings ?? null, problem: "" });
    } catch (error) {
      this.abouts.set(name, { ratings: null, problem: message(error) });
    }
    this.changed();
  }
}
