/** What the server is asked, and its answers. The only place that talks to it. */

import type { Judgement } from "./judging";
import type { Line, Network, Node, Result } from "./state";

/** The server answered that it cannot: its own words. */
export class Refused extends Error {}

/** No answer came: the server is gone, or was restarted while it answered. */
export class Unreachable extends Error {
  constructor() {
    super("The server does not answer.");
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
}

export interface Think {
  network: string;
  line: Line;
  method?: string | null;
  temperature?: number;
  nodes?: number | null;
  seconds?: number | null;
  /** Of a network that is told ratings: the player to imitate. */
  rating?: number | null;
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

interface Streamed {
  seq: number;
  done?: boolean;
  error?: string;
  total?: number;
}

export class Api {
  private seq = 0;

  /** Told of every answer: true, and of every one that did not come: false. */
  constructor(private readonly reached: (answers: boolean) => void = () => undefined) {}

  networks(): Promise<{ networks: Network[]; given: string[] }> {
    return this.get("networks");
  }

  load(text: string, index = 0, signal?: AbortSignal): Promise<Loaded> {
    return this.post("load", { text, index }, signal);
  }

  async save(body: { tree: unknown[]; headers: Record<string, string>; game: string; line: Line }): Promise<string> {
    return (await this.post<{ text: string }>("save", body)).text;
  }

  async line(line: Line): Promise<Written[]> {
    return (await this.post<{ nodes: Written[] }>("line", { line })).nodes;
  }

  async move(line: Line, move: string): Promise<Written> {
    return (await this.post<{ node: Written }>("move", { line, move })).node;
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

  metrics(run: string, after: number): Promise<{ rows: unknown[]; total: number; finished: boolean }> {
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
  async judge(asked: Judge, found: (judgement: Judgement) => void, signal?: AbortSignal): Promise<void> {
    await this.stream<Judgement>("judge", { ...asked }, (line) => line.total === undefined && found(line), signal);
  }

  /** Resolves with the move, null where there is none. */
  async think(asked: Think, thought: (thinking: Thinking) => void, signal?: AbortSignal): Promise<{ move: string | null }> {
    const last = await this.stream<Thinking>("think", { ...asked }, thought, signal);
    return { move: last.move ?? null };
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
        if (line.error) throw new Refused(line.error);
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
    if (answer.error) throw new Refused(answer.error);
    return answer;
  }

  private async fetch(path: string, body?: unknown, signal?: AbortSignal): Promise<Response> {
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
    throw new Refused(said || `The server refused (${response.status}).`);
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
