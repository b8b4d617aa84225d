/** Games of Go as text, read and written in the visitor's browser. */

import type { Loaded, Written } from "../server/api";
import type { Line } from "../app/state";
import { type GoBoard, GRID, PASS, pointNamed, readPoint, refuse, startOf } from "./gorules";
import type { SavedNode } from "./saved";

type Properties = Record<string, string[]>;

/** A node of the file and the nodes after it. */
interface Parsed {
  props: Properties;
  children: Parsed[];
}

const HEADERS = ["PB", "BR", "BT", "PW", "WR", "WT", "GN", "EV", "RO", "DT", "PC", "RE", "RU", "KM", "HA", "TM", "OT", "ON", "AN", "CP", "SO", "US", "GC"];
const MARKS: Record<string, number> = { TE: 1, BM: 2, IT: 5, DO: 6 };
const WRITTEN: Record<number, string> = { 1: "TE[1]", 2: "BM[1]", 3: "TE[2]", 4: "BM[2]", 5: "IT[]", 6: "DO[]" };
const READ = new Set(["B", "W", "C", ...Object.keys(MARKS)]);
const OF_START = new Set([...READ, "AB", "AW", "AE", "PL", "FF", "GM", "CA", "AP", "SZ", ...HEADERS]);
const TOKEN = /\s*(?:([()])|(;)|([A-Za-z]+)|\[((?:\\[\s\S]|[^\]\\])*)\])/y;
const LISTED = 500;

/** The first node of each game of a text. */
function parse(text: string): { games: Parsed[]; closed: boolean } {
  const games: Parsed[] = [];
  // Where each bracket that is open began.
  const open: Parsed[] = [];
  const top: Parsed = { props: {}, children: games };
  let at = top;
  let name = "";
  TOKEN.lastIndex = Math.max(0, text.search(/\(\s*;/));
  for (let token = TOKEN.exec(text); token; token = TOKEN.exec(text)) {
    const [, bracket, semicolon, word, value] = token;
    if (bracket === "(") open.push(at);
    else if (bracket === ")") {
      at = open.pop() ?? top;
      // What stands between two games belongs to none.
      if (!open.length) {
        const next = text.slice(TOKEN.lastIndex).search(/\(\s*;/);
        if (next < 0) break;
        TOKEN.lastIndex += next;
      }
    } else if (semicolon) {
      const node: Parsed = { props: {}, children: [] };
      at.children.push(node);
      at = node;
      name = "";
    } else if (word) name = word.replace(/[a-z]/g, "");
    else if (name && at !== top) (at.props[name] ??= []).push(value ?? "");
  }
  return { games, closed: open.length === 0 };
}

/** A value without its escapes. */
const plain = (value = ""): string => value.replace(/\\(\r\n|\n|\r)/g, "").replace(/\\([\s\S])/g, "$1").trim();

/** A point, PASS, or null for what is none. */
function point(value: string, size: number): number | null {
  const word = value.trim().toLowerCase();
  if (word === "" || (word === "tt" && size < 20)) return PASS;
  const [column, row] = [word.charCodeAt(0) - 97, word.charCodeAt(1) - 97];
  return word.length === 2 && column >= 0 && row >= 0 && column < size && row < size ? row * GRID + column : null;
}

/** The points of a list, in which "aa:cc" is a rectangle. */
function points(values: string[] = [], size: number): number[] {
  return values.flatMap((value) => {
    const ends = value.split(":").map((each) => point(each, size));
    const [first, last = first] = ends;
    if (first === null || last === null || first === undefined || last === undefined || first === PASS || last === PASS) return refuse(`a stone is set up outside the board: '${value.slice(0, 20)}'`);
    const found: number[] = [];
    for (let row = Math.floor(first / GRID); row <= Math.floor(last / GRID); row += 1) for (let column = first % GRID; column <= last % GRID; column += 1) found.push(row * GRID + column);
    return found;
  });
}

function rulesNamed(text: string, stones: number): string {
  const said = text.toLowerCase();
  const known = [["jap", "japanese"], ["kor", "korean"], ["aga", "aga"], ["zealand", "new-zealand"], ["nz", "new-zealand"], ["tromp", "tromp-taylor"], ["ing", "ing"], ["chin", "chinese"]] as const;
  return known.find(([word]) => said.includes(word))?.[1] ?? (stones < 2 ? "chinese" : "new-zealand");
}

/** The game of that number, from 0, and the titles of all. */
export function loadSgf(text: string, index: number): Loaded {
  const { games, closed } = parse(text);
  const root = games[index] ?? refuse("no game found in this text. Use PGN, SGF or FEN");
  const problems: string[] = closed ? [] : ["the end of the game is missing"];
  if (!["", "1"].includes(plain(root.props["GM"]?.[0]))) refuse(`this SGF is not a Go game (got GM['${plain(root.props["GM"]?.[0])}']). Open the SGF file of a Go game`);
  const size = Number.parseInt(plain(root.props["SZ"]?.[0]) || "19", 10);
  if (![9, 13, 19].includes(size)) refuse(`board size '${plain(root.props["SZ"]?.[0])}' is not supported. Use 9, 13, 19`);
  const [black, white] = [new Set<number>(), new Set<number>()];
  const headers: Record<string, string> = {};
  const kept: Properties = {};
  const comments: string[] = [];
  let named = "";
  // The start: all nodes before the first move.
  let at = root;
  for (;;) {
    const { props } = at;
    for (const each of points(props["AB"], size)) black.add(each), white.delete(each);
    for (const each of points(props["AW"], size)) white.add(each), black.delete(each);
    for (const each of points(props["AE"], size)) black.delete(each), white.delete(each);
    for (const name of HEADERS) if (props[name]?.[0]) headers[name] ??= plain(props[name][0]).replace(/\s+/g, " ");
    if (props["PL"]) named = /^[w2]/i.test(plain(props["PL"][0])) ? "w" : "b";
    if (props["C"]) comments.push(plain(props["C"][0]));
    for (const [name, values] of Object.entries(props)) if (!OF_START.has(name)) kept[name] = values;
    const next = at.children[0];
    if (!next || at.children.length > 1 || next.props["B"] || next.props["W"]) break;
    at = next;
  }
  let first: Parsed | undefined = at.children[0];
  while (first && !first.props["B"] && !first.props["W"]) first = first.children[0];
  const handicap = black.size > 1 && !white.size;
  const moved = first ? (first.props["B"] ? "b" : "w") : "";
  const names = (stones: Set<number>): string[] => [...stones].map((each) => pointNamed(each, size));
  const line: Line = {
    game: "go",
    size,
    komi: Number.parseFloat(headers["KM"] ?? "") || 0,
    rules: rulesNamed(headers["RU"] ?? "", black.size),
    setup: { B: names(black), W: names(white) },
    side: (moved || named || (handicap ? "w" : "b")) as "b" | "w",
    moves: [],
  };
  const assumed = ["KM", "RU"].filter((name) => !headers[name]);
  if (assumed.length) line.assumed = assumed;
  const board = startOf(line);
  const tree: Written[] = [{ ...board.node(), id: 0, parent: null, comment: comments.join("\n"), nags: [], ...(Object.keys(kept).length ? { props: kept } : {}) }];
  grow(at.children, board, tree, problems);
  const titles = games.slice(0, LISTED).map(({ props }, place) => ({ index: place, title: titleOf(props, place) }));
  return { game: "go", headers, line, tree, games: titles, count: games.length, problems };
}

function grow(first: Parsed[], start: GoBoard, tree: Written[], problems: string[]): void {
  const pile = first.map((node) => ({ node, before: start, parent: 0 })).reverse();
  for (let task = pile.pop(); task; task = pile.pop()) {
    const { node, before } = task;
    let { parent } = task;
    const { props, children } = node;
    let board = before;
    if (props["AB"] || props["AW"] || props["AE"]) {
      problems.push(`stones are set up after move ${before.ply}; left out from there on`);
      continue;
    }
    const name = props["B"] ? "B" : props["W"] ? "W" : "";
    if (name) {
      board = before.copy();
      board.turn = name === "B" ? 1 : 2;
      const to = point(props[name]![0] ?? "", board.size);
      const why = to === null ? "not on the board" : board.whyNot(to);
      if (to === null || why) {
        problems.push(`move ${before.ply + 1}, ${to === null ? plain(props[name]![0]) : pointNamed(to, board.size)}, is illegal (${why}); left out from there on`);
        continue;
      }
      board.play(to);
      const nags = Object.entries(MARKS).flatMap(([mark, nag]) => (props[mark] ? [nag + (nag < 3 && plain(props[mark][0]) === "2" ? 2 : 0)] : []));
      const kept = Object.fromEntries(Object.entries(props).filter(([each]) => !READ.has(each)));
      tree.push({ ...board.node(pointNamed(to, board.size)), id: tree.length, parent, comment: plain(props["C"]?.[0]), nags, ...(Object.keys(kept).length ? { props: kept } : {}) });
      parent = tree.length - 1;
    } else if (props["C"]) {
      const last = tree[parent]!;
      last.comment = [last.comment, plain(props["C"][0])].filter(Boolean).join("\n");
    }
    pile.push(...children.map((next) => ({ node: next, before: board, parent })).reverse());
  }
}

function titleOf(props: Properties, index: number): string {
  const known = (name: string): string => plain(props[name]?.[0]);
  const players = known("PB") || known("PW") ? `${known("PB") || "?"} – ${known("PW") || "?"}` : `game ${index + 1}`;
  return [players, known("RE"), known("EV"), known("DT")].filter(Boolean).join(", ");
}

const escaped = (text: string): string => text.replace(/[\]\\]/g, "\\$&");

/** A tree of the page as SGF. */
export function saveSgf(tree: SavedNode[], headers: Record<string, string>, line: Line): string {
  const size = line.size ?? 19;
  const coordinates = (word: string): string => {
    const found = readPoint(word, size);
    return found === PASS ? "" : String.fromCharCode(97 + (found % GRID), 97 + Math.floor(found / GRID));
  };
  const list = (name: string, words: readonly string[] = []): string => (words.length ? name + words.map((word) => `[${coordinates(word)}]`).join("") : "");
  const assumed = line.assumed ?? [];
  const said: Record<string, string> = { ...headers };
  if (!assumed.includes("KM")) said["KM"] = String(line.komi ?? 0);
  if (!assumed.includes("RU")) said["RU"] ??= line.rules ?? "chinese";
  const known = HEADERS.filter((name) => said[name]).map((name) => `${name}[${escaped(said[name]!)}]`);
  const stones = list("AB", line.setup?.B) + list("AW", line.setup?.W) + (line.side === "w" ? "PL[W]" : "");
  const about = ({ comment, nags = [], props = {} }: SavedNode): string =>
    nags.map((nag) => WRITTEN[nag] ?? "").join("") + Object.entries(props).map(([name, values]) => name + values.map((value) => `[${value}]`).join("")).join("") + (comment ? `C[${escaped(comment)}]` : "");
  const first = tree[0] ?? refuse("tree must have a root");
  const children = new Map<number, SavedNode[]>();
  const turn = new Map<number, "B" | "W">([[first.id, line.side === "w" ? "W" : "B"]]);
  for (const each of tree.slice(1)) {
    children.set(each.parent!, [...(children.get(each.parent!) ?? []), each]);
    turn.set(each.id, turn.get(each.parent!) === "B" ? "W" : "B");
  }
  let text = `(;GM[1]FF[4]CA[UTF-8]AP[kibitz]SZ[${size}]${known.join("")}${stones}${about(first)}`;
  // What is still to be written: nodes, and brackets that close.
  const pile: (SavedNode | string)[] = [")"];
  const after = (node: SavedNode): void => {
    const next = children.get(node.id) ?? [];
    if (next.length === 1) pile.push(next[0]!);
    else for (const each of [...next].reverse()) pile.push(")", each, "(");
  };
  after(first);
  for (let task = pile.pop(); task !== undefined; task = pile.pop()) {
    if (typeof task === "string") text += task;
    else {
      text += `;${turn.get(task.parent!)}[${coordinates(task.move ?? "pass")}]${about(task)}`;
      after(task);
    }
  }
  return `${text}\n`;
}
