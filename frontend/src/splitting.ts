/** Divides a file into its games on this side, so that a large one need not be sent whole. */

export interface Part {
  begin: number;
  end: number;
  title: string;
}

/** A pause for the page after so long, ms. */
const TURN = 20;

/** The games of a text; fewer than two where it is no file of games with headers. */
export async function split(text: string): Promise<Part[]> {
  return /^\s*\(\s*;/.test(text) ? splitSgf(text) : splitPgn(text);
}

/** A game begins at the first header after moves. Headers inside comments are none. */
async function splitPgn(text: string): Promise<Part[]> {
  const begins: number[] = [];
  const header = /^[ \t]*\[[A-Za-z]\w*[ \t]+"/gm;
  let turn = performance.now();
  // The end of the header before: what lies between them tells whether moves do.
  let last = -1;
  for (let match = header.exec(text); match; match = header.exec(text)) {
    const line = text.indexOf("\n", match.index);
    const end = line < 0 ? text.length : line;
    const between = last < 0 ? "" : text.slice(last, match.index);
    const starts = last < 0 || (/\S/.test(between) && !(inComment(between) && !match[0].includes("[Event")));
    if (starts) begins.push(match.index);
    if (starts || !inComment(between)) last = end;
    header.lastIndex = end;
    if (performance.now() - turn > TURN) {
      await new Promise((next) => window.setTimeout(next));
      turn = performance.now();
    }
  }
  // Moves before the first header: the server knows better what that is.
  if (/\S/.test(text.slice(0, begins[0] ?? 0))) return [];
  return begins.map((begin, index) => {
    const end = begins[index + 1] ?? text.length;
    return { begin, end, title: pgnTitle(text.slice(begin, Math.min(end, begin + 4000)), index) };
  });
}

function inComment(text: string): boolean {
  return text.lastIndexOf("{") > text.lastIndexOf("}");
}

function pgnTitle(head: string, index: number): string {
  const known = new Map<string, string>();
  for (const [, name = "", value = ""] of head.matchAll(/^[ \t]*\[(\w+)[ \t]+"(.*)"[ \t]*\]/gm)) {
    if (/[^\s?.]/.test(value) && !known.has(name)) known.set(name, value);
  }
  return titled(known, "White", "Black", ["Result", "Event", "Date"], index);
}

function titled(known: Map<string, string>, first: string, second: string, others: string[], index: number): string {
  const players = `${known.get(first) ?? "?"} – ${known.get(second) ?? "?"}`;
  const rest = others.flatMap((name) => known.get(name) ?? []);
  return [players === "? – ?" ? `game ${index + 1}` : players, ...rest].join(", ");
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
