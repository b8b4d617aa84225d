/** Texts for the clipboard, or for the hand where the browser gives no clipboard. */

import { message } from "../server/asking";
import type { App } from "./state";
import { texts } from "../texts";

/** Copy a text, which is called so; a text that cannot be made, or not be copied, is said or shown. more: what else is said. */
export async function copy(app: App, what: string, make: () => string | Promise<string>, more = ""): Promise<void> {
  let text: string;
  try {
    text = await make();
  } catch (error) {
    app.say(message(error), true);
    return;
  }
  try {
    await navigator.clipboard.writeText(text);
    app.say([texts.copy.copied(what), more].filter(Boolean).join(" "));
  } catch {
    const { byHand } = await import("./byhand");
    byHand(what, text, () => app.say([texts.copy.copied(what), more].filter(Boolean).join(" ")));
  }
}
