/** Elements whose line has a small board, see linepreview.ts. The small board is loaded when it is first needed. */

import type { App } from "../app/state";

/** On an element: the moves up to this one. from: the position before them, or else the one on the board. */
export const onPoint = (moves: readonly string[], from?: number): { "data-line": string; "data-from"?: number } => ({ "data-line": moves.join(" "), ...since(from) });
/** The same, for the focus alone. */
export const onFocus = (moves: readonly string[], from?: number): { "data-focus-line": string; "data-from"?: number } => ({ "data-focus-line": moves.join(" "), ...since(from) });

const since = (from?: number): { "data-from"?: number } => (from === undefined ? {} : { "data-from": from });

export function mountLinePreview(app: App): void {
  let last: Event | null = null;
  let loading: Promise<(event: Event) => void> | null = null;
  let reached = (event: Event): void => {
    last = event;
    if (loading || !(event.target as Element).closest("[data-line], [data-focus-line]")) return;
    loading = import("./linepreview").then(({ LinePreview }) => {
      const preview = new LinePreview(app);
      return (one: Event) => preview.reached(one);
    });
    void loading.then(
      (found) => {
        reached = found;
        if (last) found(last);
      },
      () => (loading = null),
    );
  };
  for (const name of ["pointerover", "click", "focusin"]) document.addEventListener(name, (event) => reached(event));
}
