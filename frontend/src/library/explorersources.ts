/** Where the games of the explorer are from: a store or file of the command line, the file that is open, or one's own games. */

import { type Api, type Explored, Unreachable } from "../server/api";
import { message } from "../server/asking";
import type { GameFile } from "../app/state";
import { texts } from "../texts";

/** Ids of the sources that have no name of their own. */
export const FILE = "@file";
export const MINE = "@my-games";
/** Of a part that is sent, bytes; in base64 it is a third more. */
const PART = 3 << 20;

/** What the server has of a game. */
export type Known = Pick<Explored, "stores" | "mine">;

export type Source = readonly [id: string, name: string];

/** All sources. games: how many the opened file has; 0 without such a file. */
export function sourcesOf({ stores, mine }: Known, games: number): Source[] {
  const found: Source[] = stores.map((name) => [name, name.split("/").pop() || name]);
  if (games) found.push([FILE, texts.explorer.file(games)]);
  if (mine) found.push([MINE, texts.explorer.mine(mine.games)]);
  return found;
}

/** A text that is one position: moves that were played from it are in no file. */
const POSITION = /^\s*(?:[1-8pnbrqk]+\/){7}[1-8pnbrqk]+(?:\s|$)/i;

/** How many games of the opened file can be counted; 0 of a file of the command line, which is a source itself. moves: whether the one on the board has any. */
export function gamesOf({ text, count, given }: Pick<GameFile, "text" | "count" | "given">, moves: boolean): number {
  if (given !== undefined) return 0;
  return count > 1 || (moves && !POSITION.test(text)) ? count : 0;
}

/** The source that was chosen if there still is one; else stores come first, then a file of several games, then one's own games. */
export function preferred(sources: readonly Source[], chosen: string | null, games: number): string | undefined {
  const ids = sources.map(([id]) => id);
  if (chosen !== null && ids.includes(chosen)) return chosen;
  return ids.find((id) => id !== FILE && id !== MINE) ?? [...(games > 1 ? [FILE] : []), MINE, FILE].find((id) => ids.includes(id));
}

/** How far the opened file is: its name on the server, what was sent of it, or why it could not be. */
export type Sent = { store: string } | { share: number } | { problem: string };

/** Sends the opened file to the server, once: only one file is known at a time. */
export class OpenedFile {
  private text: string | null = null;
  private state: Sent = { share: 0 };
  private number = 0;

  constructor(
    private readonly api: Pick<Api, "exploreUpload">,
    private readonly changed: () => void,
  ) {}

  /** The state of a file; it is sent where it was not. */
  of({ text }: Pick<GameFile, "text">, game: "chess" | "go"): Sent {
    if (text !== this.text) {
      this.text = text;
      void this.send(text, game);
    }
    return this.state;
  }

  /** The server does not have it any more. */
  forget(): void {
    this.text = null;
  }

  private async send(text: string, game: "chess" | "go"): Promise<void> {
    const number = (this.number += 1);
    const say = (state: Sent): void => {
      if (number !== this.number) return;
      this.state = state;
      this.changed();
    };
    this.state = { share: 0 };
    try {
      const file = new Blob([text]);
      const upload = Array.from({ length: 20 }, () => Math.floor(36 * Math.random()).toString(36)).join("");
      for (let at = 0; number === this.number; at += PART) {
        const last = at + PART >= file.size;
        const data = await base64(file.slice(at, at + PART));
        const { store } = await this.api.exploreUpload({ upload, game, at, last, data });
        if (store) return say({ store });
        say({ share: (at + PART) / file.size });
      }
    } catch (error) {
      say({ problem: message(error) });
      // A server that was away for a moment gets it when the explorer asks for it next.
      if (error instanceof Unreachable && number === this.number) this.text = null;
    }
  }
}

async function base64(part: Blob): Promise<string> {
  const bytes = new Uint8Array(await part.arrayBuffer());
  let binary = "";
  // So many arguments a call may have everywhere.
  for (let at = 0; at < bytes.length; at += 8192) binary += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return btoa(binary);
}
