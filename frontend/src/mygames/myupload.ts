/** Sends a file of games to the server in parts, since a request may not be as large as a file. */

import type { Api } from "../server/api";
import type { MyGames } from "./myanswers";
import { texts } from "../texts";

/** Of a part, bytes; in base64 it is a third more. */
const PART = 3 << 20;

/** One file of several, which a folder of SGF records is. Those of one format can be joined, unless they are packed. */
export function joined(files: readonly File[]): File {
  if (files.length === 1) return files[0]!;
  const endings = new Set(files.map(({ name }) => /\.(pgn|sgf|gib)$/i.exec(name)?.[1]!.toLowerCase() ?? ""));
  const [ending] = endings;
  if (endings.size > 1 || !ending || ending === "gib") throw new Error(texts.mygo.mixed);
  return new File(files.flatMap((each) => [each, "\n"]), `${files.length}.${ending}`);
}

/** Resolves with what the server finds in the file; rejects with its words. */
export async function readInParts(file: File, api: Api, told: (share: number) => void): Promise<MyGames> {
  for (let at = 0; ; at += PART) {
    told(file.size ? at / file.size : 0);
    const last = at + PART >= file.size;
    const answer = await api.myCall("upload", { name: file.name, at, last, data: await base64(file.slice(at, at + PART)) });
    if (last) return answer;
  }
}

function base64(part: Blob): Promise<string> {
  return new Promise((done, failed) => {
    const reader = new FileReader();
    // "data:…;base64,AAAA"; of an empty part nothing follows the comma.
    reader.onload = () => done(String(reader.result).split(",")[1] ?? "");
    reader.onerror = () => failed(new Error(texts.myupload.unreadable));
    reader.readAsDataURL(part);
  });
}
