/** All languages have the same words, and the page's modules have none of their own. */

import { expect, test, vi } from "vitest";

import { fromServer, LANGUAGES } from "../src/texts";
import { de } from "../src/texts/de";
import { en } from "../src/texts/en";
import { fr } from "../src/texts/fr";
import { toolsOf } from "../src/texts/tools";

type Words = { [key: string]: string | ((...given: any[]) => string) | Words };

/** "play.title" → the word. `server` has English sentences as keys, and what is not there stays English. */
function flat(words: Words, prefix = ""): Map<string, string | ((...given: any[]) => string)> {
  return new Map(
    Object.entries(words).flatMap(([key, value]) =>
      prefix + key === "server" ? [] : typeof value === "object" ? [...flat(value, `${prefix}${key}.`)] : [[prefix + key, value] as const],
    ),
  );
}

const english = flat(en as unknown as Words);

test("there are several languages, and each is loaded by its code", async () => {
  expect(Object.keys(LANGUAGES)).toEqual(expect.arrayContaining(["en", "de"]));
  expect(await LANGUAGES["de"]!.words()).toBe(de);
  expect(english.size).toBeGreaterThan(500);
});

for (const [code, { words }] of Object.entries(LANGUAGES)) {
  test(`${code} has every word, and none that nobody knows`, async () => {
    const own = flat((await words()) as unknown as Words);
    expect([...own.keys()].sort()).toEqual([...english.keys()].sort());
    for (const [key, word] of own) {
      expect(typeof word, key).toBe(typeof english.get(key));
      if (typeof word === "string") expect(word.trim().length > 0, key).toBe(english.get(key) !== "");
    }
  });

  test(`${code} puts in what English puts in`, async () => {
    const wrong: string[] = [];
    for (const [key, word] of flat((await words()) as unknown as Words)) {
      const model = english.get(key);
      if (typeof word !== "function" || typeof model !== "function") continue;
      if (word.length > model.length) wrong.push(`${key} takes more`);
      // What is put into each place must be found in the text: a name, or a number.
      const places = Array.from({ length: model.length }, (_, place) => place);
      const said = (of: (...given: any[]) => string): number[] =>
        places.filter((place) =>
          [places.map((each) => `«${each}»`), places.map((each) => 11 + each)].some((given) => {
            try {
              return of(...given).includes(String(given[place]));
            } catch {
              return false;
            }
          }),
        );
      const [mine, theirs] = [said(word), said(model)];
      if (JSON.stringify(mine) !== JSON.stringify(theirs)) wrong.push(`${key}: ${JSON.stringify(mine)}, in English ${JSON.stringify(theirs)}`);
    }
    expect(wrong).toEqual([]);
  });

  test(`${code} keeps the places of the server's sentences`, async () => {
    const { server } = await words();
    const places = (text: string): string[] => [...new Set(text.match(/\{\d\}/g))].sort();
    for (const [sentence, translated] of Object.entries(server)) expect(places(translated), sentence).toEqual(places(sentence));
  });
}

test("what the server says stays English where it is not in the list", () => {
  expect(fromServer("nobody has ever said this")).toBe("nobody has ever said this");
  expect(fromServer("White's chance")).toBe("White’s chance");
});

test("a sentence of the server is translated with the names in it", async () => {
  vi.resetModules();
  vi.stubGlobal("navigator", { languages: ["xx", "de-AT"] });
  vi.stubGlobal("document", { documentElement: { lang: "" } });
  const texts = await import("../src/texts");
  await texts.loadTexts();
  expect(texts.language).toBe("de");
  expect(texts.texts).toBe((await LANGUAGES["de"]!.words()) && texts.texts);
  const [sentence, translated] = Object.entries(texts.texts.server).find(([key]) => key.includes("{1}") && !key.includes("{2}"))!;
  expect(texts.fromServer(sentence.replace("{1}", "Qxe5"))).toBe(translated.replace("{1}", "Dxe5"));
  vi.resetModules();
});

test("reasons with their numbers are translated one by one", async () => {
  vi.resetModules();
  vi.stubGlobal("navigator", { languages: ["de"] });
  vi.stubGlobal("document", { documentElement: { lang: "" } });
  const texts = await import("../src/texts");
  await texts.loadTexts();
  const said = "the opened file: no game counts. Skipped: no result (1,200), duplicate (2), board of 8×8 (1). The explorer needs complete games with a result";
  expect(texts.fromServer(said)).toContain("ohne Ergebnis (1,200), doppelt (2), Brett 8×8 (1).");
  expect(texts.fromServer("no result (1)")).toBe("ohne Ergebnis (1)");
  vi.resetModules();
});

test("German addresses the reader as du everywhere", () => {
  const said = [...[...flat(de as unknown as Words)].map(([, word]) => (typeof word === "string" ? word : String(word))), ...Object.values(de.server)];
  // At the beginning of a sentence "Sie" is "they".
  const formal = /(?<![.!?…:„«"`]\s*)(?<!^)\b(Sie|Ihnen|Ihr(e|en|em|er|es)?)\b/;
  expect(said.length).toBeGreaterThan(500);
  expect(said.filter((text) => formal.test(text))).toEqual([]);
  expect(["Wählen Sie die Datei.", "Das ist hier nicht Ihr Zug."].every((text) => formal.test(text))).toBe(true);
});

test("one of something is said as the language says it", () => {
  expect([de.openings.checked(1), de.openings.neverLeft(1)]).toEqual(["Durch Suche geprüft: dein üblicher Zug.", "In der neuesten Partie bist du bei deinen Eröffnungen geblieben."]);
  expect([fr.openings.checking(1, 24), fr.openings.over(1, 1)]).toEqual(["Coups habituels vérifiés par recherche : 1 sur 24 …", "Terminé : 1 juste, 1 manqué."]);
});

test("French signs of punctuation stay in the line of their word", () => {
  const said = [...flat(fr as unknown as Words).values(), ...Object.values(fr.server)].flatMap((word) => {
    if (typeof word === "string") return [word];
    return ["x", 12].flatMap((given) => {
      try {
        return [word(...Array<string | number>(word.length).fill(given))];
      } catch {
        return [];
      }
    });
  });
  expect(said.length).toBeGreaterThan(800);
  expect(said.filter((text) => / [:;?!%»]|« /.test(text))).toEqual([]);
});

test("reasons for which the explorer skips games are translated", () => {
  for (const reason of ["no result", "duplicate", "no moves", "illegal move", "unreadable move", "cut short", "contradicting results", "variant", "void", "handicap stones missing", "set-up position", "set-up stones among the moves", "another game", "unreadable"])
    for (const { server } of [de, fr]) expect(server[reason], reason).toBeTruthy();
});

test("numbers and plurals as a language has them", () => {
  const { number, percent, count } = toolsOf("en");
  expect([number(1234.5), number(0.25, 1), percent(0.634)]).toEqual(["1,235", "0.3", "63%"]);
  expect([0, 1, 2, 1200, 1.5].map((n) => count(n, { one: "# game", other: "# games" }))).toEqual(["0 games", "1 game", "2 games", "1,200 games", "1.5 games"]);
  expect(toolsOf("de").number(1234)).toBe("1.234");
  expect([1, 2, 5].map((n) => toolsOf("pl").count(n, { one: "# a", few: "# b", many: "# c", other: "# d" }))).toEqual(["1 a", "2 b", "5 c"]);
});

// Modules

const SENTENCE = /["`][A-Z][a-z’]+(?: [A-Za-z0-9’,]+)+[^"`]*["`]/g;
const WORDS = /el\("[a-z]+\d?", \{[^{}]*\}, "([A-Za-z][a-z]+)"[,)]/g;
const NAMES = ["kibitz", "FEN"];
/** Values of PGN's tags, which are English everywhere. */
const OF_RECORDS = ['"Time forfeit"'];

test("modules have no sentences of their own", () => {
  const sources = import.meta.glob<string>(["../src/**/*.ts", "!../src/**/texts/*.ts", "!../src/**/examples.ts"], { query: "?raw", import: "default", eager: true });
  expect(Object.keys(sources).length).toBeGreaterThan(50);
  const own = Object.entries(sources).flatMap(([path, source]) => {
    const code = source.replace(/\/\*[^]*?\*\/|^\s*\/\/.*$/gm, "");
    const sentences = [...code.matchAll(SENTENCE)].map(([text]) => text).filter((text) => !OF_RECORDS.includes(text));
    const words = [...code.matchAll(WORDS)].map(([, word]) => word!).filter((word) => !NAMES.includes(word));
    return [...sentences, ...words].map((text) => `${path}: ${text}`);
  });
  expect(own).toEqual([]);
});
