/** PGN as people and programs write it, as kibitz.games.chess.io reads it: its games, their words, and which moves these mean. */

import type { Chess } from "chessops/chess";
import { ChildNode, Node, type PgnNodeData } from "chessops/pgn";
import type { NormalMove, Role } from "chessops/types";
import { makeSquare, makeUci, parseSquare } from "chessops/util";
import { legalMoves, NULL, NULLS } from "./chessrules";

/** A game of a text. The words of its moves are not looked up yet. */
export interface TextGame {
  headers: Map<string, string>;
  comments: string[];
  moves: Node<PgnNodeData>;
}

const TAG = /\[\s*([A-Za-z0-9_]+)\s*"((?:\\.|[^"\\\n])*)"\s*\]/y;
/** The dashes of results, as in kibitz.games.chess.io.tags. */
const DASHES = "-–—−‐‑‒:\\x96";
const RESULT = `(?<![\\w/.½-])(?:1/2[${DASHES}]1/2|½[${DASHES}]½|1[${DASHES}]0|0[${DASHES}]1|1/2|½|\\*)(?![\\w/½]|[-–:][\\w½])`;
const UNSEEN = "\\s\\u200b-\\u200f\\u2060\\ufeff\\0";
const TOKEN = new RegExp(
  `(?<space>[${UNSEEN}]+)|(?<comment>\\{[^}]*\\}?)|(?<line>;[^\\n]*)|(?<escape>(?<=^|\\n)%[^\\n]*)|(?<nag>\\$\\d+)|(?<open>\\()|(?<close>\\))|(?<result>${RESULT})` +
    "|(?<number>(?!0000)\\d{1,4}(?:(?:[ \\t]*[.…])+|(?=[\\s({])))|(?<bracket>\\[[^\\]\\n]*\\]?)" +
    `|(?<word>[a-h](?:x?[a-h])?[18]\\(=?[A-Za-z]\\)[^\\s(){};$\\[\\]]*|--|[^${UNSEEN}(){};$\\[\\]]+|[^])`,
  "y",
);
const SIGNS: Record<string, number> = {
  "!": 1, "?": 2, "!!": 3, "‼": 3, "??": 4, "⁇": 4, "!?": 5, "⁉": 5, "?!": 6, "⁈": 6, "□": 7, "=": 10, "∞": 13, "~": 13, "⩲": 14, "+=": 14, "+/=": 14, "⩱": 15, "=+": 15, "=/+": 15,
  "±": 16, "+/-": 16, "∓": 17, "-/+": 17, "+-": 18, "-+": 19, "⨀": 22, "⊙": 22, "○": 26, "⟳": 32, "↑": 36, "→": 40, "⯹": 44, "=∞": 44, "⇆": 132, "⊕": 138, "N": 146, "TN": 146, "D": 220,
};
const LONGEST_FIRST = [...Object.keys(SIGNS), "++", "+", "#", "†", "‡"].sort((a, b) => b.length - a.length);
/** Words beside a move that are none. */
const NOISE = /^\(?(?:e\.?p\.?|mate?|matt|checkmate|schach|check|ch\.?|dis\.?|disch|dbl\.?|dblch|RR|\d{1,2}:\d\d(?::\d\d)?(?:\.\d+)?)\)?$/;

/** The games of a text. A game ends before headers, and after its result. */
export function readGames(text: string): TextGame[] {
  const games: TextGame[] = [];
  let game = null as TextGame | null;
  // Where the next move stands: after the node `at`, or beside it in a variation that was opened. Of the outer lines too.
  let line: { before: Node<PgnNodeData>; at: ChildNode<PgnNodeData> | null; opening: string[] };
  let outer: (typeof line)[] = [];
  let [ended, skipped, blank, played] = [false, 0, false, false];
  const begin = (): TextGame => {
    game = { headers: new Map(), comments: [], moves: new Node<PgnNodeData>() };
    line = { before: game.moves, at: null, opening: [] };
    outer = [];
    [ended, skipped, played] = [false, 0, false];
    games.push(game);
    return game;
  };
  const say = (words: string): void => {
    const comment = words.replace(/^ | $/g, "");
    if (line.at) (line.at.data.comments ??= []).push(comment);
    else if (outer.length) line.opening.push(comment);
    else game!.comments.push(comment);
  };
  const sign = (nag: number): void => {
    if (line.at && !line.at.data.nags?.includes(nag)) (line.at.data.nags ??= []).push(nag);
  };
  for (let place = 0; place < text.length; ) {
    TAG.lastIndex = place;
    const tag = text[place] === "[" && (!game || !played || /\n\s*$/.test(text.slice(Math.max(0, place - 20), place))) ? TAG.exec(text) : null;
    if (tag) {
      const next = tag[1] === "Event" && game?.headers.has("Event");
      const { headers } = !game || ended || played || next ? begin() : game;
      const value = tag[2]!.replace(/\\(["\\])/g, "$1");
      headers.set(tag[1]!, tag[1] === "Result" ? (resultOf(value) ?? value) : value);
      place = TAG.lastIndex;
      continue;
    }
    TOKEN.lastIndex = place;
    const found = TOKEN.exec(text)!;
    const token = found[0];
    const [kind] = Object.entries(found.groups!).find(([, value]) => value !== undefined)!;
    place = TOKEN.lastIndex;
    if (kind === "space") {
      blank = /\n[^\S\n]*\r?\n/.test(token);
      continue;
    }
    const after = blank;
    blank = false;
    if (kind === "escape") continue;
    const first = kind === "number" && /^1[ \t]*\.(?![ \t]*[.…])/.test(token) && !/^[ \t]*[.…]/.test(text.slice(place));
    const another = ended && !outer.length && ["number", "word", "result"].includes(kind);
    if (!game || another || (first && after && played && !outer.length)) {
      // What stands before the first game belongs to none.
      if (!game && !["number", "word", "result", "comment"].includes(kind)) continue;
      begin();
    }
    if (kind === "open") {
      if (skipped || !line!.at) skipped += 1;
      else {
        outer.push(line!);
        line = { before: line!.before, at: null, opening: [] };
      }
    } else if (kind === "close") {
      if (skipped) skipped -= 1;
      else line = outer.pop() ?? line!;
    } else if (skipped) continue;
    else if (kind === "comment") say(token.slice(1).replace(/\}$/, ""));
    else if (token === "[]") sign(7);
    else if (kind === "line" || kind === "bracket") say(kind === "line" ? token.slice(1) : token);
    else if (kind === "nag") sign(Number(token.slice(1, 10)));
    else if (kind === "result" && !outer.length) {
      ended = true;
      game!.headers.set("Result", resultOf(token)!);
    } else if (kind === "word") {
      const { core, nags } = wordOf(token);
      if (core) {
        played = true;
        if (line!.at) line!.before = line!.at;
        line!.at = new ChildNode<PgnNodeData>({ san: core, ...(line!.opening.length ? { startingComments: line!.opening } : {}) });
        line!.opening = [];
        line!.before.children.push(line!.at);
      }
      nags.forEach(sign);
    }
  }
  // A text without headers is a game if it begins with a move.
  return games.filter(({ headers, moves }) => headers.size > 0 || moves.children.some(({ data: { san } }) => NULLS.includes(san) || CASTLING.test(san) || GENERAL.test(san)));
}

function resultOf(text: string): string | null {
  const plain = text.trim().replace(new RegExp(`[${DASHES}]`, "g"), "-").replaceAll("½", "1/2");
  if (plain === "1/2") return "1/2-1/2";
  return ["1-0", "0-1", "1/2-1/2", "*"].includes(plain) ? plain : null;
}

const FIGURINES: Record<string, string> = {
  ...Object.fromEntries([..."♔♕♖♗♘♙♚♛♜♝♞♟"].map((sign, at) => [sign, [..."KQRBN", ""][at % 6]!])),
  "\ufe0e": "", "\ufe0f": "", "–": "-", "—": "-", "−": "-", "‑": "-", "‐": "-", "‒": "-", "×": "x", "∶": ":",
};

/** A word without what stands after the move; the core is empty where it is no move. */
function wordOf(text: string): { core: string; nags: number[] } {
  if (NULLS.includes(text)) return { core: text, nags: [] };
  if (NOISE.test(text)) return { core: "", nags: [] };
  const plain = [...text].map((letter) => FIGURINES[letter] ?? letter).join("");
  const [, said = "", tail = plain] = SIGNS[plain] ? [] : (/^(.*[\p{L}\d])([^]*)$/su.exec(plain) ?? []);
  let core = said.replace(/(?<=[a-h][1-8]) ?\(?e\.?p$/, "").replace(/(?<=[1-8])(?:mate|matt|mat|dblch|dbl|disch|dis|ch)$/, "");
  let rest = tail;
  while (core && !/[\p{L}\d]$/u.test(core)) core = core.slice(0, -1);
  if (core.includes("(")) rest = rest.replace(/^\)/, "");
  const nags: number[] = [];
  while (rest) {
    const sign = LONGEST_FIRST.find((each) => rest.startsWith(each)) ?? rest[0]!;
    if (sign in SIGNS) nags.push(SIGNS[sign]!);
    rest = rest.slice(sign.length);
  }
  return { core, nags };
}

/** The letters of king, queen, rook, bishop and knight in each language, as in kibitz.games.chess.io.san. */
const LANGUAGES = ["KDTLS", "RDTFC", "RDTAC", "RDTBC", "RDTNC", "KDTLP", "KHWGS", "KDVSJ", "KVBFH", "KDTLR", "KDHBR", "KLVOR", "ŞVKFA", "КФЛСК", "КФТСК", "ЦДТОК", "КДТЛС", "ΡΒΠΑΙ"];
const LETTERS = "A-NP-ZŞА-ЯΑ-Ω";
const GENERAL = new RegExp(`^(Кр|КР|[${LETTERS}])?([a-h])?([1-8])?[-x:*]?([a-h])([1-8])?:?(?:[=/]?\\(?=?([${LETTERS}qrbn])\\)?)?$`);
const CASTLING = /^[O0oОо]-?[O0oОо](-?[O0oОо])?$/;
const FOREIGN = /^(Кр|[AC-JLMPS-ZŞА-ЯΑ-Ω])(?=[a-h1-8x:-])|(?<=[18])=?\(?([AC-JLMPS-ZА-ЯΑ-Ω])\)?$/g;
const ROLES: Record<string, Role> = { K: "king", Q: "queen", R: "rook", B: "bishop", N: "knight", P: "pawn" };

/** The English letter of each letter of a language; of none in English. */
type Letters = Record<string, string>;

/** The legal move that a word means; undefined where none fits, or several do. */
export function moveOf(board: Chess, core: string, letters: Letters): NormalMove | undefined {
  if (NULLS.includes(core)) return board.isCheck() ? undefined : NULL;
  const castling = CASTLING.exec(core);
  const legal = legalMoves(board);
  const castles = (long: boolean): NormalMove | undefined =>
    legal.find(({ from, to, move }) => board.board.getRole(from) === "king" && to !== move.to && to < from === long)?.move;
  if (castling) return castles(castling[1] !== undefined);
  const english = !Object.keys(letters).length;
  const lower = english && /^[nbrqk]../.test(core) ? [core[0]!.toUpperCase() + core.slice(1)] : [];
  const upper = english && core.length > 1 && core === core.toUpperCase() ? [core.toLowerCase(), core[0] + core.slice(1).toLowerCase()] : [];
  for (const word of [core, ...lower, ...upper]) {
    const found = GENERAL.exec(word);
    if (!found) continue;
    const [, said = "", file = "", rank = "", toFile, toRank = "", promoted = ""] = found;
    const role = (letter: string): Role | undefined => ROLES[(english || letter === "P" ? (letters[letter] ?? letter) : (letters[letter] ?? "")).toUpperCase()];
    const piece = said && role(said.toUpperCase().startsWith("КР") && said.length > 1 ? "Кр" : said);
    const promotion = promoted && role(promoted);
    if (piece === undefined || promotion === undefined) continue;
    const fits = legal.filter((each) => {
      const [kind, from, to] = [board.board.getRole(each.from), makeSquare(each.from), makeSquare(each.to)];
      if (to[0] !== toFile || (each.promotion ?? "") !== promotion || (file && from[0] !== file) || (rank && from[1] !== rank)) return false;
      // Only captures of pawns leave out the rank.
      if (toRank ? to[1] !== toRank : !(kind === "pawn" && file && !rank && from[0] !== toFile)) return false;
      return piece ? kind === piece : kind === "pawn" || Boolean(file && rank);
    });
    if (fits.length > 1) return undefined;
    if (fits.length) return fits[0]!.move;
    // Castling as the king's way to the rook.
    const [from, to] = [parseSquare(file + rank), parseSquare(toFile + toRank)];
    const rook = from !== undefined && to !== undefined && (!piece || piece === "king") && legal.find(({ move, to: king }) => move.from === from && move.to === to && king !== to);
    if (rook) return rook.move;
  }
  return undefined;
}

/** The letters of a game's language, and after how many moves its words could mean other moves in another one. */
export function languageOf(start: Chess, game: TextGame): { letters: Letters; limit: number } {
  const all: string[] = [];
  const main: string[] = [];
  const pile: Node<PgnNodeData>[] = [game.moves];
  for (let node = pile.pop(); node; node = pile.pop()) {
    all.push(...node.children.map(({ data }) => data.san));
    pile.push(...node.children);
  }
  for (let node = game.moves; node.children[0]; node = node.children[0]) main.push(node.children[0].data.san);
  const used = new Set(all.filter((core) => GENERAL.test(core)).flatMap((core) => [...core.matchAll(FOREIGN)].map((found) => found[1] ?? found[2]!)));
  if (!used.size) return { letters: {}, limit: Infinity };
  const known = LANGUAGES.map((language): Letters => ({ ...Object.fromEntries([...language].map((letter, at) => [letter, "KQRBN"[at]!])), ...(/[КЦ]/.test(language) ? { Кр: "K" } : {}) }));
  let languages: Letters[] = [{}, ...known.filter((letters) => [...used].every((letter) => letter in letters || letter === "P"))];
  // P is the Dutch knight, or a pawn where pawns have a letter.
  if (all.some((core) => core.startsWith("P"))) {
    const pawn = !all.some((core) => /^[a-h]/.test(core));
    languages = languages.filter((letters) => "P" in letters !== pawn);
  }
  const readings = languages.map((letters) => ({ letters, moves: played(start, main, letters) }));
  const most = Math.max(...readings.map(({ moves }) => moves.length));
  const best = readings.filter(({ moves }) => moves.length === most);
  const differ = best.map(({ moves }) => moves.findIndex((move, at) => move !== best[0]!.moves[at])).filter((at) => at >= 0);
  return { letters: best[0]?.letters ?? {}, limit: Math.min(Infinity, ...differ) };
}

/** The moves of these words up to the first that is none. */
function played(start: Chess, cores: readonly string[], letters: Letters): string[] {
  const board = start.clone() as Chess;
  const moves: string[] = [];
  for (const core of cores) {
    const move = moveOf(board, core, letters);
    if (!move || move === NULL) break;
    moves.push(makeUci(move));
    board.play(move);
  }
  return moves;
}
