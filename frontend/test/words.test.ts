/** The style of the page's words: short buttons, short sentences, the field's terms. docs/how-to/translate-the-board.md names the rules. */

import { describe, expect, test } from "vitest";

import { LANGUAGES } from "../src/texts";

type Word = string | ((...given: any[]) => string);
type Words = { [key: string]: Word | Words };

/** The longest text of a button, in characters. */
const LONGEST_BUTTON = 25;
/** The longest sentence, in words. */
const LONGEST_SENTENCE = 30;

/** English words that have a better one. The pattern, and what to write. `server` keeps the server's own sentences as keys. */
const BETTER: readonly [RegExp, string][] = [
  [/\b(winning )?chances?\b/i, "win probability, or expected score"],
  [/\bwinning probability\b/i, "win probability"],
  [/\blikel(iest|y is it)\b/i, "most likely"],
  [/\b(is|are|be) told\b|\btells?\b/i, "takes as input, predicts, shows"],
  [/\b(says?|said)\b/i, "predicts, shows"],
  [/\b(stands?|stood)\b/i, "is, is shown"],
  [/\bbeside\b/i, "next to, compared with"],
  [/\banew\b/i, "again"],
  [/\bgo(es)? on\b/i, "continue"],
  [/\bleft out\b|\bleaves? out\b/i, "skipped"],
  [/\b(a|one|quick) looks?\b|\blooks at\b/i, "network evaluation, search"],
  [/\bowners?\b|\bwill own\b/i, "territory"],
  [/\bfrom-squares?\b|\bto-squares?\b|\binput planes?\b/i, "Which piece, Where to, What the network sees"],
  [/\bsigns?\b/i, "annotation"],
  [/\bmade again\b|\btaken back\b/i, "Redone, Undone"],
  [/\bmove ahead\b/i, "premove"],
  [/\bpositions a (move|second)\b/i, "nodes per move, nodes per second"],
  [/\b(colour|analys(e|ed|ing)|grey|practis(e|ing)|cancelled)\b/i, "American spelling"],
  [/\bthis machine\b/i, "this computer"],
  [/\bby heart\b|\bof such\b|\bso many\b|\bwhoever\b|\bat a glance\b/i, "plain words"],
];

/** "play.title" → the text. Functions get names and numbers, and each of `true` and `false`. */
function flat(words: Words, prefix = ""): [string, string[]][] {
  return Object.entries(words).flatMap(([key, value]): [string, string[]][] => {
    if (typeof value === "object") return flat(value, `${prefix}${key}.`);
    if (typeof value === "string") return [[prefix + key, [value]]];
    const samples = [Array(6).fill("Nf3"), [1, 1, 1, 1, 1, 1], [12, 40, 12, 40, 12, 40], ["Nf3", false, "Nf3", false, "Nf3", false]];
    const made = samples.flatMap((given) => {
      try {
        return [value(...given)];
      } catch {
        // It wants a number there, or a name; another sample fits.
        return [];
      }
    });
    return [[prefix + key, made]];
  });
}

/** "A. B, c" as its sentences. */
const sentences = (text: string): string[] => text.split(/(?<=[.!?;])\s+/).filter(Boolean);

// Which texts are on buttons, in menus and in tabs is read from the modules.

const ON_BUTTONS = [/(?<![a-zA-Z])button\(\s*texts\.(\w+\.\w+)/g, /\btext: texts\.(\w+\.\w+),\s*act\b/g, /type: "submit"[^}]*\}, texts\.(\w+\.\w+)/g, /button\((?:\n|[^()])*?\? texts\.(\w+\.\w+)/g, /textContent = [^;]*?texts\.(mygames\.(?:other|choose|train|trainAgain|goOn))/g];
const sources = import.meta.glob<string>("../src/**/*.ts", { query: "?raw", import: "default", eager: true });
const buttons = new Set([
  ...Object.values(sources).flatMap((source) => ON_BUTTONS.flatMap((pattern) => [...source.matchAll(pattern)].map(([, key]) => key!))),
  ...["mygames.trainAgain", "mygames.goOn", "mygames.other", "puzzles.finish", "match.leave", "match.stay", "series.stop", "promotion.queen", "movemenu.delete"],
  ...["analysis", "compare", "explorer", "play", "puzzles", "mygames", "training"].map((tab) => `tabs.${tab}`),
  ...["none", "origin", "target", "owners", "matters", "mattersGo", "planes", "liberties", "chains"].map((layer) => `layers.${layer}`),
  ...["edit", "add", "promote", "main", "copy", "undraw", "delete", "save"].map((entry) => `movemenu.${entry}`),
]);

test("the buttons of the page are found", () => {
  expect(buttons.size).toBeGreaterThan(90);
  for (const known of ["play.rematch", "gamemenu.save", "tabs.mygames", "layers.planes", "mygames.train"]) expect([...buttons]).toContain(known);
});

for (const [code, { words }] of Object.entries(LANGUAGES)) {
  describe(code, () => {
    const known = async (): Promise<Map<string, string[]>> => new Map(flat((await words()) as unknown as Words));

    test(`buttons have at most ${LONGEST_BUTTON} characters`, async () => {
      const all = await known();
      const long = [...buttons].flatMap((key) => (all.get(key) ?? [`${key} is missing`]).filter((text) => text.length > LONGEST_BUTTON).map((text) => `${key}: ${text}`));
      expect(long).toEqual([]);
    });

    test(`sentences have at most ${LONGEST_SENTENCE} words and one parenthesis`, async () => {
      const long = [...(await known())].flatMap(([key, made]) =>
        made.flatMap(sentences).filter((each) => each.split(/\s+/).length > LONGEST_SENTENCE || each.split("(").length > 2).map((each) => `${key}: ${each}`),
      );
      expect(long).toEqual([]);
    });
  });
}

/** The faults of a text: "a, better: b". */
const faults = (text: string): string[] => BETTER.flatMap(([pattern, better]) => (pattern.exec(text) ? [`${text}: ${pattern.exec(text)![0]}, better: ${better}`] : []));

test("English uses the field's words", async () => {
  const all = flat((await LANGUAGES["en"]!.words()) as unknown as Words);
  expect(all.flatMap(([key, made]) => made.flatMap((text) => faults(text).map((fault) => `${key}: ${fault}`)))).toEqual([]);
});

test("a text in private words is found", () => {
  expect(faults("White’s chance after it")).toHaveLength(1);
  expect(faults("It is told the ratings, and says who wins.")).toHaveLength(2);
  expect(faults("White’s win probability")).toEqual([]);
});
