/** Divides a file into its games on this side, so that a large one need not be sent whole. */

import { texts } from "../texts";

/** What the headers of a game say, as far as lists ask for it. */
export interface Facts {
  /** As the first player sees it: White of chess, Black of Go. */
  result: "1" | "0" | "-1" | "";
  /** 0: unknown. */
  year: number;
  /** The mean of both players' ratings, or the one that is known; of Go their ranks, 1 for 1d, 0 for 1k, 11 for 1p. */
  rating: number | null;
}

export interface Part {
  begin: number;
  end: number;
  title: string;
  facts: Facts;
}

const UNKNOWN: Facts = { result: "", year: 0, rating: null };

/** A pause for the page after so long, ms. */
const TURN = 30;

/** The games of a text; fewer than two where it is no file of games with headers. */
export async function split(text: string): Promise<Part[]> {
  return /^\s*\(\s*;/.test(text) ? splitSgf(text) : splitPgn(text);
}

/** A game begins at the first header after moves. Headers inside comments are none. */
async function splitPgn(text: string): Promise<Part[]> {
  const parts: Part[] = [];
  const header = /[ \t]*\[([A-Za-z]\w*)[ \t]+"(.*)/y;
  let known = new Map<string, string>();
  const close = (end: number): void => {
    const part = parts.at(-1);
    if (!part) return;
    part.end = end;
    part.title = titled(known, "White", "Black", ["Result", "Event", "Date"], parts.length - 1);
    part.facts = factsOf(known.get("Result"), known.get("Date"), [known.get("WhiteElo"), known.get("BlackElo")].map(eloOf));
  };
  let turn = performance.now();
  // The end of the header before: what lies between them tells whether moves do.
  let last = -1;
  for (let at = nextLine(text, -1); at >= 0; at = nextLine(text, at)) {
    header.lastIndex = at;
    const match = header.exec(text);
    if (!match) continue;
    const between = last < 0 ? "" : text.slice(last, at);
    const inside = inComment(between);
    if (inside && match[1] !== "Event") continue;
    if (last < 0 || inside || /\S/.test(between)) {
      close(at);
      known = new Map();
      parts.push({ begin: at, end: text.length, title: "", facts: UNKNOWN });
    }
    const value = match[2]!.replace(/"[ \t]*\][ \t\r]*$/, "");
    if (/[^\s?.]/.test(value) && !known.has(match[1]!)) known.set(match[1]!, value);
    last = header.lastIndex;
    if (performance.now() - turn > TURN) {
      await new Promise((next) => window.setTimeout(next));
      turn = performance.now();
    }
  }
  close(text.length);
  // Moves before the first header: the server knows better what that is.
  return /\S/.test(text.slice(0, parts[0]?.begin ?? 0)) ? [] : parts;
}

/** Where the next line that begins with a bracket does. */
function nextLine(text: string, after: number): number {
  if (after < 0 && text.startsWith("[")) return 0;
  const at = text.indexOf("\n[", Math.max(0, after));
  return at < 0 ? -1 : at + 1;
}

function inComment(text: string): boolean {
  return text.lastIndexOf("{") > text.lastIndexOf("}");
}

function titled(known: Map<string, string>, first: string, second: string, others: string[], index: number): string {
  const players = `${known.get(first) ?? "?"} – ${known.get(second) ?? "?"}`;
  const rest = others.flatMap((name) => known.get(name) ?? []);
  return [players === "? – ?" ? texts.splitting.game(index + 1) : players, ...rest].join(", ");
}

/** Games of SGF are what stands in outer brackets; brackets inside values are none. */
async function splitSgf(text: string): Promise<Part[]> {
  const parts: Part[] = [];
  const sign = /[()]|\[(?:\\[^]|[^\]\\])*\]/g;
  let turn = performance.now();
  let depth = 0;
  let begin = 0;
  for (let match = sign.exec(text); match; match = sign.exec(text)) {
    if (match[0] === "(" && depth++ === 0) begin = match.index;
    else if (match[0] === ")" && depth > 0 && --depth === 0) {
      const end = match.index + 1;
      const known = sgfHeaders(text.slice(begin, Math.min(end, begin + 4000)));
      const title = titled(known, "PB", "PW", ["RE", "EV", "DT"], parts.length);
      parts.push({ begin, end, title, facts: factsOf(known.get("RE"), known.get("DT"), [known.get("BR"), known.get("WR")].map(rankOf)) });
      if (performance.now() - turn > TURN) {
        await new Promise((next) => window.setTimeout(next));
        turn = performance.now();
      }
    }
  }
  return parts;
}

function sgfHeaders(head: string): Map<string, string> {
  const known = new Map<string, string>();
  for (const [, name = "", value = ""] of head.matchAll(/(?<![A-Z])(PB|PW|BR|WR|RE|EV|DT)\s*\[((?:\\[^]|[^\]\\])*)\]/g)) {
    if (value.trim() && !known.has(name)) known.set(name, value.replace(/\\([^])/g, "$1").trim());
  }
  return known;
}

function factsOf(result = "", date = "", ratings: (number | null)[]): Facts {
  const known = ratings.filter((rating) => rating !== null);
  return {
    result: resultOf(result),
    year: Number(/\d{4}/.exec(date)?.[0] ?? 0),
    rating: known.length ? Math.floor(known.reduce((sum, each) => sum + each, 0) / known.length) : null,
  };
}

function resultOf(text: string): Facts["result"] {
  if (/^(1-0|B\+)/i.test(text)) return "1";
  if (/^(0-1|W\+)/i.test(text)) return "-1";
  return /^(1\/2|½|0$|draw|jigo)/i.test(text) ? "0" : "";
}

function eloOf(text = ""): number | null {
  const rating = Number.parseInt(text, 10);
  return rating > 0 ? rating : null;
}

/** "3k" is -2, "1d" 1, "2p" 12; null for what is no rank. */
export function rankOf(text = ""): number | null {
  const [, digits = "", kind = ""] = /^(\d+)\s*([kdp])/i.exec(text) ?? [];
  const number = Number(digits);
  return digits ? { k: 1 - number, d: number, p: 10 + number }[kind.toLowerCase()]! : null;
}
