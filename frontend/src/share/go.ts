/** Lines of Go, and what the network says of them: of both sides to move and in two symmetries, as the board's server asks it. */

import { type Counted, Refused, type Thinking, type Written } from "../server/api";
import type { Line, Result } from "../app/state";
import { drawn, rounded } from "./chances";
import { BLACK, encode, type GoBoard, GRID, handicapOf, komiOf, mirrored, PASS, pointNamed, readPoint, replay, rulesOf, settle } from "./gorules";
import { type Read, readOwners, readResults, type Said, type Terms } from "./goreading";
import type { Ask } from "./local";
import { limitsOf, type Look, search, type SearchRules, type Thought } from "./puct";
import type { Answer, Shared } from "./network";
import { texts } from "../texts";

/** Moves that are listed. */
const LISTED = 8;
/** Moves of a position that a search follows. */
const FOLLOWED = 40;

type Row = { codes: number[]; state: number[] };

export function nodesOf(line: Line): Written[] {
  const found: Written[] = [];
  replay(line, (board, move) => found.push(board.node(move)));
  return found;
}

export function after(line: Line, move: string): Written {
  const board = replay(line);
  const point = readPoint(move, board.size);
  board.play(point);
  return board.node(pointNamed(point, board.size));
}

function termsOf(line: Line): Terms {
  const { territory } = rulesOf(line.rules);
  return { komi: komiOf(line), territory, stones: handicapOf(line) };
}

/** The inputs beside the position: komi, and the rules if they count territory; all others are as usual. rank: of both players, "" if it is not told. */
function told({ codes, state }: Row, { komi, territory, stones: handicap }: Terms, shared: Shared, rank = ""): Row {
  const scoring = territory ? "territory" : "area";
  const ranks = rank ? shared.ranks : null;
  const own = ranks?.inputs[rank];
  const known: Record<string, number> = {
    komi: Math.min(255, Math.max(1, 128 + Math.round(2 * komi))),
    handicap: 0,
    rules: shared.rules?.[scoring] ?? 0,
    ...(ranks && own ? { rank: own, opponent_rank: own, rules: ranks.rules[scoring], handicap: Math.min(255, ranks.handicap + handicap) } : {}),
  };
  // A pass in the opening is not told: in records, players pass at the end (without_early_passes in ownership.py).
  const stones = codes.filter((code) => code % 16 >= 1 && code % 16 <= 12).length;
  const position = state.map((value, at) => (at === 2 && 4 * stones < state[1]! ** 2 ? 0 : value));
  return { codes, state: [...position, ...shared.side_inputs.map(([name, usual]) => known[name] ?? usual)] };
}

/** The same with the other side to move, who has not passed. */
const turned = ({ codes, state }: Row): Row => ({ codes, state: state.map((value, at) => (at === 0 ? 1 - value : at === 2 ? 0 : value)) });

/** What the network says of a position. */
async function read(board: GoBoard, terms: Terms, shared: Shared, ask: Ask): Promise<Read> {
  const row = told(encode(board), terms, shared);
  const { size } = board;
  const black = board.turn === BLACK;
  if (!shared.side_inputs.length) {
    // Only the owners: as they are, since the passes are left as they were.
    const other = { codes: row.codes, state: row.state.map((value, at) => (at === 0 ? 1 - value : value)) };
    const [own, their] = await ask([row, other]);
    return readOwners(own!["black_owns"]!, their!["black_owns"]!, board.points(), black, terms);
  }
  const mirror = (each: Row): Row => ({ codes: mirrored(each.codes, size), state: each.state });
  const rows = [row, mirror(row), turned(row), mirror(turned(row))];
  const [own, ownMirrored, their, theirMirrored] = (await ask(rows)) as [Answer, Answer, Answer, Answer];
  return readResults(mean(own, ownMirrored, size), mean(their, theirMirrored, size), board.points(), size, black, terms);
}

/** The mean of two answers, the second one of the mirror image. */
function mean(one: Answer, other: Answer, size: number): Said {
  const both = (name: string): number[] => {
    const values = one[name]!;
    const back = values.length > 1 ? mirrored(other[name]!, size) : Array.from(other[name]!);
    return Array.from(values, (value, at) => (value + back[at]!) / 2);
  };
  return { policy: both("policy"), value: both("value")[0]!, owners: both("black_owns"), lead: both("lead")[0]!, spread: both("spread")[0]! };
}

/** What the network says of the positions from..to of a line, as it comes. */
export async function analyse(asked: { line: Line; from: number; to: number }, shared: Shared, ask: Ask, found: (result: Result) => void, signal?: AbortSignal): Promise<void> {
  const { line, from, to } = asked;
  const terms = termsOf(line);
  const boards: GoBoard[] = [];
  replay({ ...line, moves: line.moves.slice(0, to) }, (board) => boards.push(board.copy()));
  // From where only passes follow, the count of the board says it all.
  let passes = 0;
  while (passes < line.moves.length && line.moves.at(-1 - passes)?.toLowerCase() === "pass") passes += 1;
  const counted = passes >= 2 ? line.moves.length - passes : Infinity;
  let final: Counted | null = null;
  for (let ply = from; ply <= to && !signal?.aborted; ply += 1) {
    const board = boards[ply]!;
    const said = await read(board, terms, shared, ask);
    if (signal?.aborted) return;
    const result: Result = {
      ply,
      black: rounded(said.black),
      origin: null,
      owners: said.owners.map((value) => Math.round(value * 1e3) / 1e3),
      score: Math.round(said.lead * 100) / 100,
      moves: said.policy ? likely(said.policy, board.size) : null,
    };
    if (ply >= counted) {
      final ??= count(line, deadOf(board, said.owners));
      const lead = final.black - final.white;
      // Nobody moves after two passes.
      if (ply >= counted + 2) result.moves = null;
      Object.assign(result, { black: lead > 0 ? 1 : lead < 0 ? 0 : 0.5, score: lead, owners: final.owners });
    }
    found(result);
  }
}

function likely(policy: readonly number[], size: number): NonNullable<Result["moves"]> {
  const order = policy.map((p, point) => ({ p, point })).filter(({ p }) => p > 0);
  return order
    .sort((a, b) => b.p - a.p)
    .slice(0, LISTED)
    .map(({ p, point }) => ({ move: pointNamed(point, size), san: pointNamed(point, size), p: rounded(p) }));
}

/** The network's move. It answers a pass with a pass where it leads, and passes once a game is very long. */
export async function think(asked: Thought, shared: Shared, ask: Ask, thought: (thinking: Thinking) => void, signal?: AbortSignal): Promise<string | null> {
  const { line, temperature } = asked;
  const began = performance.now();
  if (!shared.network.plays) throw new Refused(texts.play.cannotPlay(shared.network.name));
  const board = replay(line);
  const said = await read(board, termsOf(line), shared, ask);
  thought({ score: said.lead });
  const leads = board.turn === BLACK ? said.lead > 0 : said.lead < 0;
  if ((board.passes && leads) || board.ply >= 3 * board.size ** 2 || !said.policy) return "pass";
  if (asked.rank) return imitated(board, asked, said.owners, shared, ask);
  if (asked.searches) {
    const found = await search(board, searchRules(termsOf(line), shared, ask), limitsOf(asked, performance.now() - began, signal));
    if (found) {
      thought({ score: said.lead, nodes: found.evaluated, seconds: found.milliseconds / 1000 });
      return pointNamed(found.move, board.size);
    }
  }
  const points = [...board.legal(), PASS];
  const chances = points.map((point) => said.policy![point]!);
  const most = Math.max(...chances);
  if (most <= 0) return "pass";
  // What is next to never played is not drawn by chance.
  return pointNamed(points[drawn(chances.map((p) => (p < most / 20 ? 0 : p)), temperature)]!, board.size);
}

/** Of the points, how many may be uncertain if a player of a rank passes first; and the least expected chance of a pass. As in kibitz.play.go.puct. */
const UNSURE = 0.3;
const PASS_SHARE_OF_PLAYERS = 0.1;

/** The move of a player of a rank: drawn from what the network expects of such players, a pass only where the owners of the points are known. owners: Black's chances, 0..1. */
async function imitated(board: GoBoard, { line, rank = "", temperature }: Thought, owners: readonly number[], shared: Shared, ask: Ask): Promise<string> {
  const [answer] = await ask([told(encode(board), termsOf(line), shared, rank)]);
  const points = board.legal().filter((point) => !board.isOwnEye(point));
  const chances = points.map((point) => answer!["policy"]![point]!);
  const most = Math.max(0, ...chances);
  const passing = answer!["policy"]![PASS]!;
  if (most <= 0 || (board.passes && most < passing)) return "pass";
  const unsure = owners.reduce((sum, p) => sum + 2 * Math.min(p, 1 - p), 0);
  if (unsure <= UNSURE * board.size ** 2 && passing >= PASS_SHARE_OF_PLAYERS * (passing + chances.reduce((sum, p) => sum + p, 0))) {
    points.push(PASS);
    chances.push(passing);
  }
  return pointNamed(points[drawn(chances, temperature)]!, board.size);
}

/** The points of both sides. dead: vertices of the stones that are taken off. */
export function count(line: Line, dead: readonly string[]): Counted {
  return { dead: [...dead], seki: [], ...counted(replay(line), dead, termsOf(line)) };
}

function counted(board: GoBoard, dead: readonly string[], { komi, territory }: Terms): Pick<Counted, "owners" | "black" | "white"> {
  const off = new Set(dead.map((each) => readPoint(each, board.size)));
  const owner = settle(board, off);
  const points = (colour: 1 | 2): number => {
    const own = board.points().filter((point) => owner[point] === colour);
    if (!territory) return own.length;
    const empty = own.filter((point) => board.colours[point] === 0).length;
    return empty + 2 * own.filter((point) => board.colours[point] === 3 - colour).length + board.lost[3 - colour]!;
  };
  const owners = board.points().map((point) => (owner[point] === 1 ? 1 : owner[point] === 2 ? 0 : 0.5));
  return { owners, black: points(1), white: points(2) + komi };
}

/** The rules and the network as a search needs them. The network is asked once a position: of the side to move, in one symmetry. */
export function searchRules(terms: Terms, shared: Shared, ask: Ask): SearchRules<GoBoard, number> {
  return {
    after(board, point) {
      const then = board.copy();
      then.play(point);
      return then;
    },
    over: () => null,
    wins: () => null,
    async look(boards) {
      const answers = await ask(boards.map((board) => told(encode(board), terms, shared)));
      return boards.map((board, at): Look<number> => {
        const answer = answers[at]!;
        const owners = board.points().map((point) => answer["black_owns"]![point]!);
        if (board.passes >= 2) {
          const { black, white } = counted(board, deadOf(board, owners), terms);
          return { value: Math.sign(board.turn === BLACK ? black - white : white - black), moves: [] };
        }
        const likely = (move: number): { move: number; prior: number } => ({ move, prior: answer["policy"]![move]! });
        const moves = board.legal().map(likely).sort((a, b) => b.prior - a.prior);
        const some = [...moves.slice(0, FOLLOWED), likely(PASS)];
        const sum = some.reduce((all, { prior }) => all + prior, 0) || 1;
        return { value: answer["value"]![0]!, moves: some.map(({ move, prior }) => ({ move, prior: prior / sum })) };
      });
    },
  };
}

/** The stones that the network takes for dead: those of chains whose points it gives to the other side. */
export async function deadBy(line: Line, shared: Shared, ask: Ask): Promise<string[]> {
  const board = replay(line);
  return deadOf(board, (await read(board, termsOf(line), shared, ask)).owners);
}

function deadOf(board: GoBoard, owners: readonly number[]): string[] {
  const dead: string[] = [];
  const seen = new Set<number>();
  const there = (point: number): number => owners[Math.floor(point / GRID) * board.size + (point % GRID)]!;
  for (const start of board.points()) {
    const colour = board.colours[start];
    if (!colour || seen.has(start)) continue;
    const { stones } = board.chain(start);
    const black = stones.reduce((sum, point) => sum + there(point), 0) / stones.length;
    for (const point of stones) seen.add(point);
    if (colour === BLACK ? black < 0.5 : black > 0.5) dead.push(...stones.map((point) => pointNamed(point, board.size)));
  }
  return dead;
}
