/** Moves with the letters of pieces that the chosen language has, as they are shown and as they are typed. */

import { afterEach, expect, test, vi } from "vitest";

import { english } from "../src/app/typing";
import { fromServer, inLanguage, LANGUAGES, lettered } from "../src/texts";
import { speak } from "./support/speak";
import { Played } from "../src/share/chessrules";
import { parseFen } from "chessops/fen";
import { Chess } from "chessops/chess";

afterEach(async () => {
  await speak("en");
  vi.unstubAllGlobals();
});

/** A position as the page has it. */
const at = (fen: string) => new Played(Chess.fromSetup(parseFen(fen).unwrap()).unwrap()).node();

const MOVES = ["Nf3", "Qxd5", "Bb5+", "Rae1", "R1e2", "Qh4xe1#", "Kf1", "Nbd7", "e4", "exd8=N+", "e8=Q", "O-O-O", "--", "Nf3?!", "12… Qxe4"];

test("moves have the letters of the language", async () => {
  const own: Record<string, string[]> = {
    en: MOVES,
    de: ["Sf3", "Dxd5", "Lb5+", "Tae1", "T1e2", "Dh4xe1#", "Kf1", "Sbd7", "e4", "exd8=S+", "e8=D", "O-O-O", "--", "Sf3?!", "12… Dxe4"],
    fr: ["Cf3", "Dxd5", "Fb5+", "Tae1", "T1e2", "Dh4xe1#", "Rf1", "Cbd7", "e4", "exd8=C+", "e8=D", "O-O-O", "--", "Cf3?!", "12… Dxe4"],
  };
  for (const [language, moves] of Object.entries(own)) {
    await speak(language);
    expect(MOVES.map(lettered), language).toEqual(moves);
    expect(lettered(MOVES.join(" ")), language).toBe(moves.join(" "));
  }
});

test("every language has five letters for pieces", async () => {
  for (const { words } of Object.values(LANGUAGES)) expect(new Set((await words()).common.pieces).size).toBe(5);
});

test("words, points of Go, names, squares and quoted words keep their letters", async () => {
  for (const language of ["de", "fr"]) {
    await speak(language);
    for (const text of ["Q16", "B2", "B+4.3", "Black", "King’s Indian", "Bb", "ABb5", "g1f3", "‘Nf3’", "„Nf3“", "« Nf3 »", "'Nf3'"]) expect(lettered(text), text).toBe(text);
  }
});

test("moves in sentences and reasons have them too", async () => {
  const reason = { en: "It leaves the knight on f3 without protection: Qxf3 wins it.", de: "Der Springer auf f3 ist ungedeckt: Qxf3 gewinnt ihn." };
  await speak("de");
  expect(lettered(inLanguage(reason)!)).toBe("Der Springer auf f3 ist ungedeckt: Dxf3 gewinnt ihn.");
  expect(fromServer("the probability of Qxf3")).toContain("Dxf3");
  // Names of files and programs are no moves.
  for (const name of ["Nf3 games.pgn", "/home/me/Nf3/my.store"]) expect(fromServer(`${name}: the file is empty`)).toContain(name);
  expect(fromServer("Kf3-bot plays a move now")).toContain("Kf3-bot");
  // A language that the server does not have.
  await speak("fr");
  expect(lettered(inLanguage(reason)!)).toBe("It leaves the knight on f3 without protection: Dxf3 wins it.");
  expect(inLanguage(undefined)).toBeUndefined();
  expect(inLanguage({ en: "Wins: Nf3.", fr: "Gagne : Nf3." })).toBe("Gagne\u00a0: Nf3.");
});

test("a typed move may have the letters of the language, and English ones", async () => {
  const start = at("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1");
  expect(english("Sf3", start)).toBe("Sf3");
  await speak("de");
  const typed = ["Sf3", "sf3", "Nf3", "Bc4", "Lc4", "Dxe5+", "Tad1", "Kf1", "e4", "exd5", "bxc3", "e8D", "exd8=S+", "e8=T", "e8=Q", "e8=B", "O-O", "0-0", "g1f3", "♘f3", "Cf3"];
  const sent = ["Nf3", "Nf3", "Nf3", "Bc4", "Bc4", "Qxe5+", "Rad1", "Kf1", "e4", "exd5", "bxc3", "e8Q", "exd8=N+", "e8=R", "e8=Q", "e8=B", "O-O", "0-0", "g1f3", "♘f3", "Cf3"];
  expect(typed.map((each) => english(each, start))).toEqual(sent);
  expect(english("D4", { turn: "b" })).toBe("D4");
});

test("French R is the king, unless only a rook can go there", async () => {
  await speak("fr");
  // King e1, rooks a1 and h1, which can castle.
  const both = at("4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1");
  const all = ["Rd1", "Re2", "Rb1", "Rg1", "Rh5", "Ta5", "Re5", "Ce5", "e8=R", "e8=T", "Rab1"].map((each) => [each, english(each, both)]);
  expect(Object.fromEntries(all)).toEqual({
    Rd1: "Kd1", // the king, though a rook can go there too
    Re2: "Ke2",
    Rb1: "Rb1",
    Rg1: "Rg1", // castling is not written so
    Rh5: "Rh5",
    Ta5: "Ra5",
    Re5: "Ke5", // neither can: refused as the language has it
    Ce5: "Ne5",
    "e8=R": "e8=R",
    "e8=T": "e8=R",
    Rab1: "Rab1",
  });
  expect(english("Rd8", at("4k3/8/8/8/8/8/8/4K3 b - - 0 1"))).toBe("Kd8");
});

test("what shows moves does not show the English letters of the data", () => {
  // Moves of nodes and answers that come into the page's words or elements without the letters of the language.
  const raw = /(?:texts\.\w+(?:\.\w+|\[\w+\])\([^\n]*?|el\("\w+", \{[^}]*\}, |button\()(?<!lettered\()(?<![\w.!])(?:\w+!?\.)+san\b/;
  expect(raw.test("texts.match.plays(this.title, node.san)")).toBe(true);
  expect(raw.test("texts.match.plays(this.title, lettered(node.san))")).toBe(false);
  const sources = import.meta.glob<string>("../src/**/*.ts", { query: "?raw", import: "default", eager: true });
  expect(Object.keys(sources).length).toBeGreaterThan(50);
  const found = Object.entries(sources).flatMap(([path, source]) => source.split("\n").flatMap((line) => (raw.test(line) ? [`${path}: ${line.trim()}`] : [])));
  expect(found).toEqual([]);
});
