/** The words of the page in the language that is chosen. They are known before any other module is loaded. */

import { keep, kept } from "../app/storage";
import { en, type Texts } from "./en";

/** All languages by their code: the name in the language itself, and its words. English comes with the page, others when they are asked for. */
export const LANGUAGES: Record<string, { name: string; words: () => Promise<Texts> }> = {
  en: { name: "English", words: () => Promise.resolve(en) },
  de: { name: "Deutsch", words: async () => (await import("./de")).de },
  fr: { name: "Français", words: async () => (await import("./fr")).fr },
};

export let texts: Texts = en;
export let language = "en";

/** The language that somebody chose, else the first of the browser's that there is. */
function wanted(): string {
  const chosen = kept("local", "language");
  const all = [chosen ?? "", ...navigator.languages.map((each) => each.split("-")[0]!)];
  return all.find((each) => each in LANGUAGES) ?? "en";
}

/** Loads the words; English stays where they cannot be had. */
export async function loadTexts(): Promise<void> {
  const name = wanted();
  try {
    texts = await LANGUAGES[name]!.words();
    language = name;
  } catch {
    // The server is away; the page says so itself.
  }
  document.documentElement.lang = language;
}

/** Chooses a language for this browser and begins the page anew in it: the game is kept, as in every reload. */
export function chooseLanguage(name: string): void {
  keep("local", "language", name);
  location.reload();
}

/** Letters of pieces that are in a move, not in a word that was quoted as it is. */
const PIECE = /(?<![\w'‘„“"]|«\s?)[KQRBN](?=[a-h]?[1-8]?[x:]?[a-h][1-8](?![a-z\d]|-[a-z]{2}))|(?<=[a-h][18]=)[QRBN]\b/g;

/**
 * Moves of chess with the language's letters of pieces, for display: "Nf3" is "Sf3" in German. The text may have other
 * words. Data, records and requests keep the English letters; what has the language's letters must not come here again.
 */
export function lettered(text: string): string {
  const own = texts.common.pieces;
  return own === en.common.pieces ? text : text.replace(PIECE, (letter) => own[en.common.pieces.indexOf(letter)]!);
}

/** The text in the chosen language, or else in English. A sign of punctuation stays in the line of its word. */
export function inLanguage(by: Record<string, string> | null | undefined): string | undefined {
  return (by?.[language] ?? by?.["en"])?.replace(/ (?=[:;?!%])/g, "\u00a0");
}

/** A path or a file's name, which stays as it is. */
const NAMED = /[/\\]|\.(pgn|sgf|gib|fen|zst|gz|bz2|store|onnx|safetensors)\b/i;

/** What the server says in English, as the chosen language has it; what is not in its list stays English. */
export function fromServer(text: string): string {
  const words = translated(text);
  return NAMED.test(text) ? words : lettered(words);
}

function translated(text: string): string {
  return (texts.server[text] ?? reasons(text) ?? filled(text)).replace(/(?<=\w)'(?=\w)/g, "’");
}

let sentences: [RegExp, string][] | null = null;

/** "no result (12), duplicate (3)": reasons, each with its number. */
const COUNTED = /^(.+) (\([\d,]+\))$/;

/** Reasons with their numbers, one by one; null of what is something else. */
function reasons(text: string): string | null {
  const parts = text.split(", ").map((part) => COUNTED.exec(part));
  return parts.every((part) => part !== null) ? parts.map((part) => `${translated(part[1]!)} ${part[2]!}`).join(", ") : null;
}

/** A sentence in which {1}, {2} stand for names, moves and numbers; they are looked up in turn. */
function filled(text: string): string {
  sentences ??= Object.entries(texts.server)
    .filter(([english]) => english.includes("{"))
    .sort(([one], [other]) => other.length - one.length)
    .map(([english, words]) => [new RegExp(`^${english.replace(/[.*+?^$()|[\]\\]/g, "\\$&").replace(/\{\d\}/g, "([^]+?)")}$`), words]);
  for (const [pattern, words] of sentences) {
    const found = pattern.exec(text);
    if (found) return words.replace(/\{(\d)\}/g, (_, place: string) => translated(found[Number(place)] ?? ""));
  }
  return text;
}

/** Numbers of a text with the decimal sign of the language, for display: "+0.38" is "+0,38" in German. */
export function decimals(text: string): string {
  return text.replace(/\.(?=\d)/g, texts.common.number(0.5, 1).replace(/\d/g, ""));
}
