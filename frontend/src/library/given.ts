/** The first file of games on the command line, opened when the page begins. */

import type { App } from "../app/state";
import { sentence } from "./load";
import { fromServer, texts } from "../texts";

export async function openGiven(app: App): Promise<void> {
  const { opened } = app;
  // Whoever begins to play while the file is read goes on.
  const played = new AbortController();
  const off = app.on("tree", () => played.abort());
  try {
    const { name = "", text, problem } = await app.api.given();
    if (!name || opened !== app.opened || played.signal.aborted) return;
    if (text === undefined) return app.say(problem ? fromServer(problem) : texts.load.inExplorer(name), problem !== undefined, true);
    const { count, problems } = await app.during(texts.load.reading, app.load(text, 0, played.signal, name), texts.load.slow);
    if (problems.length) app.say(sentence(problems[0]!), true);
    else app.say(count > 1 ? texts.load.games(count) : texts.load.game);
  } catch (error) {
    if (!played.signal.aborted) app.notOpened(error);
  } finally {
    off();
  }
}
