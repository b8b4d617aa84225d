/** Games of Go as text, read and written in the visitor's browser. */

import type { Loaded, Written } from "../server/api";
import type { Line } from "../app/state";
import { type GoBoard, GRID, PASS, POINTS, pointNamed, readPoint, refuse, startOf } from "./gorules";
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
const SETUP = new Set(["AB", "AW", "AE"]);
const OF_START = new Set([...READ, ...SETUP, "PL", "FF", "GM", "CA", "AP", "SZ", ...HEADERS]);
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
  const word = value.replace(/\s/g, "").toLowerCase();
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

/** Words that name rules: at the beginning of a text, those of more than three letters anywhere. As in kibitz.games.go.io.headers. */
const RULE_WORDS = [
  ["tromp", "tromp-taylor"], ["japan", "japanese"], ["jp", "japanese"], ["日本", "japanese"], ["nihon", "japanese"],
  ["chin", "chinese"], ["cn", "chinese"], ["中国", "chinese"], ["中國", "chinese"], ["korea", "korean"],
  ["kr", "korean"], ["韩", "korean"], ["韓", "korean"], ["한국", "korean"], ["aga", "aga"],
  ["zealand", "new-zealand"], ["nz", "new-zealand"], ["ing", "ing"], ["goe", "ing"], ["应", "ing"], ["応", "ing"],
  ["應", "ing"], ["tt", "tromp-taylor"],
] as const;

function rulesNamed(text: string): string | undefined {
  const said = text.trim().toLowerCase();
  return RULE_WORDS.find(([word]) => said.startsWith(word) || (word.length > 3 && said.includes(word)))?.[1];
}

/** Values of komi that nobody uses, but that servers write for 4.5 to 8.5. */
const IN_TENTHS = [45, 55, 65, 75, 85];

/** White's points; 0 where the record says none. A margin with half a point shows that a whole komi is wrong. As read_komi in kibitz.games.go.io.headers. */
function komiNamed(text: string, result: string, rules: string | undefined, stones: number): number {
  const [, said = "0", half = ""] = /^\s*([+-]?(?:\d+(?:[.,]\d+)?|[.,]\d+))(目?半)?/.exec(text) ?? [];
  let komi = Number(said.replace(",", "."));
  if (half) komi += komi < 0 ? -0.5 : 0.5;
  if (Math.abs(komi) >= 100) komi /= 100;
  else if (IN_TENTHS.includes(Math.abs(komi)) && /^\d+$/.test(text.trim())) komi /= 10;
  // Chinese records count stones: 3.75 of them are 7.5 points.
  if ((2 * komi) % 1) komi *= 2;
  const margin = Number(/^[BW]\+(\d+\.5)(?!\d)/i.exec(result.trim())?.[1] ?? 0);
  if (margin && komi % 1 === 0) komi = stones > 1 ? 0.5 : rules === undefined || rules === "japanese" || rules === "korean" || rules === "new-zealand" ? 6.5 : 7.5;
  return Math.abs(komi) <= POINTS ? komi : 0;
}

/** The size of "19" or "19:19"; refuses another one. */
function sizeOf(text: string): number {
  const sides = new Set((text || "19").split(":").map((each) => each.trim()));
  const size = sides.size === 1 ? Number([...sides][0]) : 0;
  return [9, 13, 19].includes(size) ? size : refuse(`board size '${text}' is not supported. Use 9, 13, 19`);
}

const moves = ({ props }: Parsed): boolean => Boolean(props["B"] ?? props["W"]);

/** The game of that number, from 0, and the titles of all. */
export function loadSgf(text: string, index: number): Loaded {
  const { games, closed } = parse(text);
  const root = games[index] ?? refuse("no game found in this text. Use PGN, SGF or FEN");
  const problems: string[] = closed ? [] : ["the end of the game is missing"];
  if (!["", "1"].includes(plain(root.props["GM"]?.[0]))) refuse(`this SGF is not a Go game (got GM['${plain(root.props["GM"]?.[0])}']). Open the SGF file of a Go game`);
  const size = sizeOf(plain(root.props["SZ"]?.[0]));
  const [black, white] = [new Set<number>(), new Set<number>()];
  const headers: Record<string, string> = {};
  const kept: Properties = {};
  const comments: string[] = [];
  let named = "";
  // The nodes up to the first variations. The start is what stands before the first move.
  const trunk = [root];
  for (let at = root; at.children.length === 1; at = at.children[0]!) trunk.push(at.children[0]!);
  let begin = trunk.findIndex(moves);
  if (begin < 0) begin = trunk.length;
  for (const { props } of trunk.slice(0, begin + 1)) {
    for (const each of points(props["AB"], size)) black.add(each), white.delete(each);
    for (const each of points(props["AW"], size)) white.add(each), black.delete(each);
    for (const each of points(props["AE"], size)) black.delete(each), white.delete(each);
    // Some programs write the setup and the first move into one node.
    if (props["B"] ?? props["W"]) break;
    if (props["PL"]) named = /^[w2]/i.test(plain(props["PL"][0])) ? "w" : "b";
    if (props["C"]) comments.push(plain(props["C"].join("\n")));
    keep(kept, props, OF_START);
  }
  // Several moves of Black's at the beginning are a handicap, as it was written once.
  if (!black.size && !white.size) {
    const run = handicapMoves(trunk.slice(begin), size);
    if (run.length > 1) {
      for (const each of run) black.add(each);
      for (const { props } of trunk.slice(begin, begin + run.length)) {
        if (props["C"]) comments.push(plain(props["C"].join("\n")));
        keep(kept, props, OF_START);
      }
      begin += run.length;
    }
  }
  for (const { props } of trunk.slice(0, begin + 1)) for (const name of HEADERS) if (props[name]?.[0]) headers[name] ??= plain(props[name][0]).replace(/\s+/g, " ");
  // A root that is a move has the properties of the game, which were read above.
  const first = trunk[begin];
  if (first) first.props = Object.fromEntries(Object.entries(first.props).filter(([name]) => READ.has(name) || !(begin ? SETUP : OF_START).has(name)));
  const rest = begin < trunk.length ? [trunk[begin]!] : trunk.at(-1)!.children;
  let begun: Parsed | undefined = rest[0];
  while (begun && !moves(begun)) begun = begun.children[0];
  const handicap = black.size > 1 && !white.size;
  const moved = begun ? (begun.props["B"] ? "b" : "w") : "";
  const names = (stones: Set<number>): string[] => [...stones].map((each) => pointNamed(each, size));
  const rules = rulesNamed(headers["RU"] ?? "");
  const line: Line = {
    game: "go",
    size,
    komi: komiNamed(headers["KM"] ?? "", headers["RE"] ?? "", rules, handicap ? black.size : 0),
    rules: rules ?? (black.size < 2 ? "chinese" : "new-zealand"),
    setup: { B: names(black), W: names(white) },
    side: (moved || named || (handicap ? "w" : "b")) as "b" | "w",
    moves: [],
  };
  const assumed = ["KM", "RU"].filter((name) => !headers[name]);
  if (assumed.length) line.assumed = assumed;
  const board = startOf(line);
  const tree: Written[] = [{ ...board.node(), id: 0, parent: null, comment: comments.join("\n"), nags: [], ...(Object.keys(kept).length ? { props: kept } : {}) }];
  grow(rest, board, tree, problems);
  const titles = games.slice(0, LISTED).map(({ props }, place) => ({ index: place, title: titleOf(props, place) }));
  return { game: "go", headers, line, tree, games: titles, count: games.length, problems };
}

/** The points of the moves of Black's that come first, one after the other. */
function handicapMoves(nodes: Parsed[], size: number): number[] {
  const run: number[] = [];
  for (const { props } of nodes) {
    const to = props["B"] && !props["W"] ? point(props["B"][0] ?? "", size) : null;
    if (to === null || to === PASS || run.includes(to)) break;
    run.push(to);
  }
  return run;
}

/** Adds the properties that are kept as they are. */
function keep(kept: Properties, props: Properties, known: ReadonlySet<string>): void {
  for (const [name, values] of Object.entries(props)) if (!known.has(name)) kept[name] = [...(kept[name] ?? []), ...values];
}

function grow(first: Parsed[], start: GoBoard, tree: Written[], problems: string[]): void {
  const pile = first.map((node) => ({ node, before: start, parent: 0 })).reverse();
  for (let task = pile.pop(); task; task = pile.pop()) {
    const board = task.before.copy();
    const parent = played(task.node.props, board, tree, task.parent, problems);
    if (parent === null) continue;
    note(tree[parent]!, task.node.props);
    pile.push(...task.node.children.map((next) => ({ node: next, before: board, parent })).reverse());
  }
}

/** Plays the moves of a node after a position; the place of the last one in the tree, null where the rest is skipped. Where a side moves twice, the other one passes between. */
function played(props: Properties, board: GoBoard, tree: Written[], from: number, problems: string[]): number | null {
  if (props["AB"] || props["AW"] || props["AE"]) {
    problems.push(`stones are set up after move ${tree[from]!.ply}; the rest is skipped`);
    return null;
  }
  let parent = from;
  const add = (to: number): void => {
    board.play(to);
    tree.push({ ...board.node(pointNamed(to, board.size)), id: tree.length, parent, comment: "", nags: [] });
    parent = tree.length - 1;
  };
  for (const [colour, value] of [...(props["B"] ?? []).map((each) => [1, each] as const), ...(props["W"] ?? []).map((each) => [2, each] as const)]) {
    const to = point(value, board.size);
    if (board.turn !== colour && to !== PASS) add(PASS);
    const why = to === null ? "not on the board" : board.turn === colour ? board.whyNot(to) : "";
    if (to === null || why) {
      problems.push(`move ${tree[parent]!.ply + 1}, ${to === null ? `'${plain(value)}'` : pointNamed(to, board.size)}, is illegal (${why}); the rest is skipped`);
      return null;
    }
    if (board.turn === colour) add(to);
  }
  return parent;
}

/** What a node says of the position in which it stands. */
function note(entry: Written, props: Properties): void {
  if (props["C"]) entry.comment = [entry.comment, plain(props["C"].join("\n"))].filter(Boolean).join("\n");
  const nags = Object.entries(MARKS).flatMap(([mark, nag]) => (props[mark] ? [nag + (nag < 3 && plain(props[mark][0]) === "2" ? 2 : 0)] : []));
  entry.nags = [...new Set([...(entry.nags ?? []), ...nags])].sort((a, b) => a - b);
  const kept = { ...entry.props };
  keep(kept, props, READ);
  if (Object.keys(kept).length) entry.props = kept;
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
