/** Divides a file into its games on this side, so that a large one need not be sent whole. */

import { texts } from "./texts";

export interface Part {
  begin: number;
  end: number;
  title: string;
}

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
    if (part) Object.assign(part, { end, title: titled(known, "White", "Black", ["Result", "Event", "Date"], parts.length - 1) });
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
      parts.push({ begin: at, end: text.length, title: "" });
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
      parts.push({ begin, end, title: sgfTitle(text.slice(begin, Math.min(end, begin + 4000)), parts.length) });
      if (performance.now() - turn > TURN) {
        await new Promise((next) => window.setTimeout(next));
        turn = performance.now();
      }
    }
  }
  return parts;
}

function sgfTitle(head: string, index: number): string {
  const known = new Map<string, string>();
  for (const [, name = "", value = ""] of head.matchAll(/(?<![A-Z])(PB|PW|RE|EV|DT)\s*\[((?:\\[^]|[^\]\\])*)\]/g)) {
    if (value.trim() && !known.has(name)) known.set(name, value.replace(/\\([^])/g, "$1").trim());
  }
  return titled(known, "PB", "PW", ["RE", "EV", "DT"], index);
}
