/** Which pieces and boards are drawn: choices of this browser, said at the page's root, which the style sheets read. */

import { keep, kept } from "./storage";

/** The choices of each; the first is the usual one. */
export const LOOKS = {
  pieces: ["classic", "plain", "letters"],
  board: ["wood", "green", "blue", "grey"],
  goban: ["wood", "light", "paper"],
  numbers: ["none", "last", "all"],
} as const;
export type Look = keyof typeof LOOKS;

/** What the document hears when a look was chosen. */
export const LOOK_CHOSEN = "lookchosen";

let sheet: Promise<void> | null = null;

/** As early as can be, like the colours. */
export function restoreLooks(): void {
  for (const name of Object.keys(LOOKS) as Look[]) show(name, lookOf(name));
}

export function lookOf(name: Look): string {
  const known: readonly string[] = LOOKS[name];
  const chosen = kept("local", name) ?? "";
  return known.includes(chosen) ? chosen : known[0]!;
}

export function chooseLook(name: Look, look: string): void {
  keep("local", name, look === LOOKS[name][0] ? null : look);
  show(name, look);
  document.dispatchEvent(new Event(LOOK_CHOSEN));
}

/** The next choice of a look after the present one. */
export function nextLook(name: Look): string {
  const known: readonly string[] = LOOKS[name];
  const next = known[(known.indexOf(lookOf(name)) + 1) % known.length]!;
  chooseLook(name, next);
  return next;
}

function show(name: Look, look: string): void {
  const { dataset } = document.documentElement;
  if (look === LOOKS[name][0]) delete dataset[name];
  else dataset[name] = look;
  if (name === "pieces" && look !== "classic") sheet ??= drawPieces();
}

/** Other pieces than the usual ones come when they are wanted; until then, and where they cannot be had, there are the usual ones. */
async function drawPieces(): Promise<void> {
  try {
    const { pieceSheet } = await import("../board/pieces");
    document.adoptedStyleSheets.push(pieceSheet());
  } catch {
    sheet = null;
  }
}
