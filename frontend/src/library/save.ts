/** Saves the game to a file: where the browser can, to one that is chosen and written again; else as a download. */

import type { Found } from "../analysis/found";
import type { Saving } from "../server/api";
import { message } from "../server/asking";
import { players } from "../app/naming";
import type { App } from "../app/state";
import { texts } from "../texts";
import { written } from "../app/tree";

interface Picker {
  showSaveFilePicker?: (options: object) => Promise<FileSystemFileHandle>;
}

/** What the server writes a record or a page from. found: what was found of the game. */
export function saving(app: App, found?: Found): Saving {
  const { game } = app;
  const tree = written(game).map((node) => {
    const judged = found?.notes.get(node.id);
    return judged ? { ...node, judged } : node;
  });
  return { tree, headers: game.headers, game: game.kind, line: { ...game.start, moves: [] }, ...(found ? { analysis: found.analysis } : {}) };
}

/** The game as PGN or SGF. found: what was found of it, which is written into it. */
export const record = (app: App, found?: Found): Promise<string> => app.api.save(saving(app, found));

/** A file that somebody chooses; undefined where the browser offers no choice. */
export function chosen(suggestedName: string, go: boolean): Promise<FileSystemFileHandle> | undefined {
  const types = [{ description: go ? "SGF" : "PGN", accept: { [go ? "application/x-go-sgf" : "application/vnd.chess-pgn"]: [go ? ".sgf" : ".pgn"] } }];
  return (window as Picker).showSaveFilePicker?.({ suggestedName, types });
}

export async function saveGame(app: App): Promise<void> {
  const { game } = app;
  const { revision } = game;
  const go = game.kind === "go";
  const name = fileName(players(game), go ? "sgf" : "pgn");
  try {
    // Asked first: a browser shows the choice only while the key or click is new.
    const file = game.saved ?? (await chosen(name, go));
    if (file) game.saved = file;
    const text = await record(app);
    if (game.saved) await write(game.saved, text);
    else download(name, text);
    if (game.revision === revision) game.changed = false;
    app.emit("saved");
    app.say(texts.save.saved(game.saved?.name ?? name));
  } catch (error) {
    // Nothing was chosen.
    if (error instanceof DOMException && error.name === "AbortError") return;
    delete game.saved;
    app.say(texts.save.failed(message(error)), true);
  }
}

export async function write(file: FileSystemFileHandle, text: string): Promise<void> {
  const stream = await file.createWritable();
  await stream.write(text);
  await stream.close();
}

export function download(name: string, text: string, type = "text/plain"): void {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  window.setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** "Ann - Bo.pgn": without what file systems do not take. */
export function fileName(players: string, ending: string): string {
  const plain = players
    .replace("–", "-")
    .replace(/[\\/:*?"<>|\p{Cc}]/gu, " ")
    .replace(/\s+/g, " ")
    .trim()
    .slice(0, 80);
  return `${plain || "game"}.${ending}`;
}
