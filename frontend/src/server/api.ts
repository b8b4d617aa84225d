/** What the server is asked, and its answers. The only place that talks to it. */

import type { ReasonLine } from "../analysis/reasonlines";
import type { Filtered } from "../library/explorerfilters";
import type { Wanted } from "../library/gamelist";
import type { CheckedBy } from "./checker";
import type { Judgement } from "./judging";
import type { Judged } from "../analysis/summary";
import type { Analysis } from "../analysis/found";
import type { MyGames, GivenReport } from "../mygames/myanswers";
import type { Openings } from "../mygames/repertoire";
import type { Line, Network, Node, Result } from "../app/state";
import { fromServer, texts } from "../texts";

/** The server answered that it cannot: its own words. */
export class Refused extends Error {
  constructor(
    message: string,
    readonly status = 400,
  ) {
    super(message);
  }
}

/** No answer came: the server is gone, or was restarted while it answered. */
export class Unreachable extends Error {
  constructor() {
    super(texts.api.silent);
  }
}

/** A node as the server writes it; of a loaded game also with its place in the tree. */
export type Written = Omit<Node, "id" | "parent" | "children" | "comment" | "nags"> &
  Partial<Pick<Node, "id" | "parent" | "comment" | "nags">>;

export interface Loaded {
  game: "chess" | "go";
  headers: Record<string, string>;
  line: Line;
  tree: Written[];
  games: { index: number; title: string }[];
  count: number;
  problems: string[];
}

/** The method of a page without a server that searches for less than a second. */
export const SHORT_SEARCH = "short-puct";

export interface Thinking {
  depth?: number | null;
  nodes?: number | null;
  seconds?: number | null;
  score?: number | null;
  /** White's chance, of chess. */
  white?: number | null;
  pv?: string[] | null;
  san?: string[] | null;
  move?: string | null;
  /** How long a person would think, where that was asked. */
  people_seconds?: number;
}

/** What a player has chosen. */
export interface Chosen {
  move: string | null;
  /** Seconds that a person would think; 0 where nobody asked. */
  people: number;
}

/** Asked of a network, or of a program. */
export interface Think {
  network?: string;
  program?: string;
  line: Line;
  method?: string | null;
  /** Null of a rank: as its players vary their moves. */
  temperature?: number | null;
  nodes?: number | null;
  seconds?: number | null;
  /** Of one that can be told ratings: the player to play like. */
  rating?: number | null;
  /** Of one of Go with rank inputs: the rank to play like, "5k". */
  rank?: string;
  /** Seconds on the clock of the side to move, added after each move, and at the start of the game: the answer then says how long a person would think. */
  clock?: number;
  increment?: number;
  start?: number;
}

export interface Analyse {
  network: string;
  line: Line;
  from?: number;
  to?: number;
  snapshot?: string | null;
}

export interface Judge {
  network: string;
  /** The engine that judges in place of the network's search. */
  checked_by?: string;
  line: Line;
  /** Moves, counted from 1. */
  from: number;
  to: number;
}

export interface Snapshot {
  id: string;
  stage: string;
  iteration: number;
}

/** How games ended. */
interface Tally {
  games: number;
  white: number;
  draws: number;
  black: number;
  average_rating: number | null;
}

export interface Played extends Tally {
  move: string;
  san: string;
}

/** A game of a store. */
export interface StoredGame {
  game: number;
  white: string | null;
  black: string | null;
  white_rating?: number | null;
  black_rating?: number | null;
  white_rank?: string | null;
  black_rank?: string | null;
  /** 1, 0, -1: of chess as White sees it, of Go as Black does. */
  result: 1 | 0 | -1;
  date: string | null;
  /** Of a game of a file: its number in it, from 1. */
  number?: number;
}

/** What a store knows of a position; without a store only the opening, while its index is made only how far that is. */
export interface Explored extends Tally {
  /** Stores and files of the command line. */
  stores: string[];
  /** The games of the report in My games. */
  mine?: { store: string; player: string; games: number };
  /** The server does not have the opened file. */
  missing?: boolean;
  /** What is known of any game of the store. */
  has?: { ratings: boolean; dates: boolean };
  /** Games of a file that do not count, by reason. */
  left_out?: Record<string, number>;
  store?: string;
  building?: number;
  /** Why the store cannot be asked; others may be. */
  problem?: string;
  opening: { eco: string; name: string } | null;
  moves: Played[];
  examples: StoredGame[];
}

/** What a search says of a move: chances 0..1 are of the one who moved. */
export interface Check {
  loss: number;
  mark: "" | "?!" | "?" | "??";
  before: number;
  after: number;
  /** Lost on the board, of Go. */
  points: number | null;
  /** Of the one who moved, in points before the move, of Go. */
  lead?: number;
  /** How it would be answered. */
  reply: string[];
  /** The best move and how the game would go on, of Go. */
  line?: string[];
  /** Why a marked move was bad, by language, if that is proven, and the lines that all its texts have; of Go. */
  reason?: { code: string; texts: Record<string, string>; lines?: ReasonLine[] };
}

/** A number of one game. */
interface GameFigure {
  value: number | null;
  n: number;
}

/** One player's game: accuracy 0..1, and the mean loss of a move, of the chance or in points of Go. */
export interface SideOf {
  accuracy: GameFigure;
  average_loss: GameFigure;
  marks: { inaccuracies: number; mistakes: number; blunders: number };
}

export interface Summary {
  white: SideOf;
  black: SideOf;
  /** The move after which the side that is ahead stays the same; null: neither is. */
  turning_point: { ply: number; ahead: "white" | "black" | null } | null;
}

/** What players of each rating would play in a position, and how often they lose much. */
export interface ByRating {
  ratings: number[];
  /** `p`: how likely it is at each rating. */
  moves: { move: string; san: string; p: number[] }[];
  /** The sum of both over the moves. */
  risk: (number | null)[] | null;
}

/** The count of a finished game of Go. */
export interface Counted {
  /** Vertices of dead stones, and of those that live in a seki. */
  dead: string[];
  seki: string[];
  /** Of each point: 1 Black's, 0 White's, 0.5 nobody's. */
  owners: number[];
  black: number;
  /** With komi, and what handicap stones are worth. */
  white: number;
}

/** What a position is worth: White's chance in chess, Black's in Go. */
export interface Value {
  /** Null where there is none. */
  source: "rules" | "search" | "network" | null;
  chance?: number;
  /** Moves to a proven mate, above 0 if White mates. */
  mate?: number | null;
  moves?: string[];
  /** Black's lead in points, of Go. */
  score?: number;
}

/** A UCI or GTP program of this machine. */
export interface Program {
  name: string;
  game: "chess" | "go";
  command: string;
}

/** A line of a program, as White sees it in chess, as Black sees it in Go. */
export interface OpinionLine {
  moves: string[];
  san: string[];
  white?: number | null;
  black?: number | null;
  /** Pawns or points. */
  score?: number | null;
  mate?: number | null;
  visits?: number;
  /** How likely a network takes it to be, 0..1. */
  p?: number;
}

/** What a program says of a position by now; at first only how it calls itself. */
export interface Opinion {
  program?: string;
  depth?: number;
  nodes?: number;
  /** Positions a second. */
  speed?: number;
  visits?: number;
  /** The scores are a program's estimates after single moves, by which it does not choose. */
  estimates?: boolean;
  lines?: OpinionLine[];
  /** How likely players of each rating lose much, by the network's search, 0..1. */
  risk?: (number | null)[];
  /** The search is done; values of more moves come. */
  searched?: boolean;
}

interface Streamed {
  seq: number;
  done?: boolean;
  error?: string;
  total?: number;
}

/** A game to write, with what was found of it. */
export interface Saving {
  tree: unknown[];
  headers: Record<string, string>;
  game: string;
  line: Line;
  analysis?: Analysis;
  /** Of a page of Go: vertices of the dead stones of the last position, as a person has marked them. */
  dead?: string[];
}

export class Api {
  /** Whether records can be written with evaluations. */
  readonly annotates: boolean = true;
  private seq = 0;

  /** Told of every answer: true, and of every one that did not come: false. */
  constructor(private readonly reached: (answers: boolean) => void = () => undefined) {}

  networks(): Promise<{ networks: Network[]; given: string[] }> {
    return this.get("networks");
  }

  /** The first file of games on the command line; without its text where it is too large or cannot be read. */
  given(): Promise<{ name?: string; text?: string; problem?: string }> {
    return this.get("given");
  }

  preparing(): Promise<{ is_running: boolean; done: number; total: number; left: number | null }> {
    return this.get("preparing");
  }

  load(text: string, index = 0, signal?: AbortSignal): Promise<Loaded> {
    return this.post("load", { text, index }, signal);
  }

  async save(body: Saving): Promise<string> {
    return (await this.post<{ text: string }>("save", body)).text;
  }

  /** The main line of a game as an HTML file. value: what the values are. */
  async gamePage(body: Saving & { value: string; by: string }): Promise<string> {
    return (await this.post<{ html: string }>("page", body)).html;
  }

  async line(line: Line, signal?: AbortSignal): Promise<Written[]> {
    return (await this.post<{ nodes: Written[] }>("line", { line }, signal)).nodes;
  }

  async move(line: Line, move: string): Promise<Written> {
    return (await this.post<{ node: Written }>("move", { line, move })).node;
  }

  /** The count of the last position of a line. `dead`: vertices of the dead stones; without it the server finds them. */
  count(line: Line, dead?: string[], signal?: AbortSignal): Promise<Counted> {
    return this.post("count", dead ? { line, dead } : { line }, signal);
  }

  summary(judged: Judged, signal?: AbortSignal): Promise<Summary> {
    return this.post("summary", judged, signal);
  }

  byRating(asked: { network: string; line: Line }, signal?: AbortSignal): Promise<ByRating> {
    return this.post("ratings", asked, signal);
  }

  async targets(network: string, line: Line, square: string, signal?: AbortSignal): Promise<number[]> {
    return (await this.post<{ targets: number[] }>("targets", { network, line, square }, signal)).targets;
  }

  async planes(network: string, line: Line, signal?: AbortSignal): Promise<{ name: string; values: number[] }[]> {
    return (await this.post<{ planes: { name: string; values: number[] }[] }>("planes", { network, line }, signal)).planes;
  }

  occlusion(network: string, line: Line, signal?: AbortSignal): Promise<{ values: number[]; what: string }> {
    return this.post("occlusion", { network, line }, signal);
  }

  explore(asked: { line: Line; store?: string | undefined; rating: string } & Filtered, signal?: AbortSignal): Promise<Explored> {
    return this.post("explore", asked, signal);
  }

  /** A part of the opened file, in base64; after the last one there is the name of its store. */
  exploreUpload(part: { upload: string; game: "chess" | "go"; at: number; last: boolean; data: string }): Promise<{ store?: string }> {
    return this.post("explore/upload", part);
  }

  /** A game of a store, as PGN or SGF. */
  async stored(store: string, game: number): Promise<string> {
    return (await this.post<{ text: string }>("stored", { store, game })).text;
  }

  /** Games of a store that have what is wanted, also this position and move: how many, and the first of them. */
  storedGames(store: string, wanted: Wanted & { side?: string; line?: Line; move?: string }, signal?: AbortSignal): Promise<{ of: number; count: number; games: StoredGame[] }> {
    return this.post("stored-games", { store, ...wanted }, signal);
  }

  /** One's own games: what the server has of them. */
  myGames(): Promise<MyGames> {
    return this.get("mygames");
  }

  myReport(): Promise<GivenReport> {
    return this.get("mygames/report");
  }

  /** The report as HTML. */
  async myPage(): Promise<string> {
    return (await this.get<{ html: string }>("mygames/page")).html;
  }

  /** A game of the report, or one of those that are opened now, as PGN or SGF. */
  async myGame(game: number, opened = false): Promise<string> {
    return (await this.post<{ text: string }>("mygames/game", opened ? { game, opened } : { game })).text;
  }

  /** The openings of a player. */
  myOpenings(players: string[], signal?: AbortSignal): Promise<Openings> {
    return this.post("mygames/repertoire", { players }, signal);
  }

  /** "upload", "open", "download", "analyse", "train" or "stop": all say what there is then; of an upload only after its last part. */
  myCall(what: string, body: object): Promise<MyGames> {
    return this.post(`mygames/${what}`, body);
  }

  metrics(run: string, after: number): Promise<{ rows: unknown[]; total: number; finished: boolean; stopped: boolean }> {
    return this.get(`runs/${encodeURIComponent(run)}/metrics?after=${after}`);
  }

  async snapshots(run: string): Promise<Snapshot[]> {
    return (await this.get<{ snapshots: Snapshot[] }>(`runs/${encodeURIComponent(run)}/snapshots`)).snapshots;
  }

  /** Every position from..to of a line, as they come. Resolves when all are there. */
  async analyse(asked: Analyse, found: (result: Result) => void, signal?: AbortSignal): Promise<void> {
    await this.stream<Result>("analyse", { ...asked }, (line) => line.total === undefined && found(line), signal);
  }

  /** Each of the moves from..to, by a quick look and then exactly, as they come. Resolves when all are there. */
  async judge(asked: Judge, found: (judgement: Judgement) => void, signal?: AbortSignal, begun: (by: CheckedBy) => void = () => undefined): Promise<void> {
    const heard = (line: Judgement & Streamed & { checked_by?: CheckedBy }): void => {
      if (line.total === undefined) found(line);
      else if (line.checked_by) begun(line.checked_by);
    };
    await this.stream<Judgement>("judge", { ...asked }, heard, signal);
  }

  /** The moves of a line that a network's search has judged before, by their plies: at once, and without a search. */
  async judged(asked: { network: string; line: Line }, signal?: AbortSignal): Promise<((Judgement | Check) & { ply: number })[]> {
    return (await this.post<{ judged: ((Judgement | Check) & { ply: number })[] }>("judged", asked, signal)).judged;
  }

  /** What a network's search, or an engine, says of moves in the last position, the best first, as it changes. searched: values of `moves` alone are wanted. */
  candidates(asked: { network: string; line: Line; checked_by?: string; moves?: string[]; searched?: boolean }, found: (opinion: Opinion) => void, signal?: AbortSignal): Promise<Opinion> {
    return this.stream<Opinion>("candidates", { ...asked }, found, signal);
  }

  /** What the last position of a line is worth by a search. */
  value(asked: { network: string; line: Line }, signal?: AbortSignal): Promise<Value> {
    return this.stream<Value>("value", { ...asked }, () => undefined, signal);
  }

  /** Judges the last move of a line. */
  check(asked: { network: string; line: Line; checked_by?: string }, signal?: AbortSignal): Promise<Check> {
    return this.stream<Check>("check", { ...asked }, () => undefined, signal);
  }

  programs(): Promise<{ programs: Program[]; checked_by?: Partial<Record<Program["game"], string>> }> {
    return this.get("programs");
  }

  /** The ratings that a program can play like; it is started for that. */
  aboutProgram(program: string): Promise<{ ratings?: [number, number] | null }> {
    return this.stream("programs/about", { program }, () => undefined);
  }

  /** What a program says of the last position, as it changes. Resolves when it has said all, which some never have. */
  async opinion(asked: { program: string; lines: number; line: Line }, found: (opinion: Opinion) => void, signal?: AbortSignal): Promise<void> {
    await this.stream<Opinion>("opinion", { ...asked }, found, signal);
  }

  /** Resolves with the move, null where there is none. */
  async think(asked: Think, thought: (thinking: Thinking) => void, signal?: AbortSignal): Promise<Chosen> {
    const last = await this.stream<Thinking>(asked.program === undefined ? "think" : "programs/think", { ...asked }, thought, signal);
    return { move: last.move ?? null, people: last.people_seconds ?? 0 };
  }

  /** Lines of an answer that comes bit by bit. Resolves with the last one; those of another number are dropped. */
  private async stream<T>(
    path: string,
    body: Record<string, unknown>,
    each: (line: T & Streamed) => void,
    signal?: AbortSignal,
  ): Promise<T & Streamed> {
    const seq = ++this.seq;
    const response = await this.fetch(path, { ...body, seq }, signal);
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    if (!reader) throw new Unreachable();
    let rest = "";
    for (;;) {
      const { value, done } = await this.reading(reader.read(), signal);
      if (done) throw this.lost();
      const lines = (rest + value).split("\n");
      rest = lines.pop() ?? "";
      for (const text of lines) {
        if (!text) continue;
        const line = JSON.parse(text) as T & Streamed;
        if (line.seq !== seq || signal?.aborted) continue;
        if (line.error) throw new Refused(fromServer(line.error));
        if (line.done) return line;
        each(line);
      }
    }
  }

  private get<T>(path: string): Promise<T> {
    return this.whole(path);
  }

  private post<T>(path: string, body: unknown, signal?: AbortSignal): Promise<T> {
    return this.whole(path, body, signal);
  }

  private async whole<T>(path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
    const response = await this.fetch(path, body, signal);
    const answer = await this.reading(response.json() as Promise<T & { error?: string }>, signal);
    if (answer.error) throw new Refused(fromServer(answer.error));
    return answer;
  }

  protected async fetch(path: string, body?: unknown, signal?: AbortSignal): Promise<Response> {
    const asked: RequestInit = { cache: "no-store", credentials: "same-origin", signal: signal ?? null };
    if (body !== undefined) {
      asked.method = "POST";
      asked.headers = { "content-type": "application/json" };
      asked.body = JSON.stringify(body);
    }
    const response = await this.reading(fetch(`/api/${path}`, asked), signal);
    this.reached(true);
    if (response.ok) return response;
    let said = "";
    try {
      said = ((await response.json()) as { error?: string }).error ?? "";
    } catch {
      // An answer without words.
    }
    throw new Refused(fromServer(said) || texts.api.refused(response.status), response.status);
  }

  /** What a promise of the browser gives; where the connection broke, that in our own words. */
  private async reading<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    try {
      return await promise;
    } catch (error) {
      if (signal?.aborted) throw error;
      throw this.lost();
    }
  }

  private lost(): Unreachable {
    this.reached(false);
    return new Unreachable();
  }
}
