/** What the whole page shares: the game, the position that is looked at, the networks and what they have said. */

import { Api, type Loaded } from "./api";
import { Analyser } from "./analyser";
import { fitting, usual } from "./choosing";
import { add, ancestry, empty, loaded, prune, through } from "./tree";

export interface Network {
  name: string;
  system: string;
  title: string;
  game: "chess" | "go";
  /** Of "white" (White's chance), "moves", "owners". */
  answers: string[];
  plays: boolean;
  methods: string[];
  /** What each method does, in the same order. */
  ways: { name: string; title: string; searches: boolean }[];
  planes: boolean;
  sizes?: number[];
  /** Whether it is told ratings, and can play like people of one. */
  rated?: boolean;
  metrics: boolean;
  snapshots: number;
  from: "run" | "package";
  /** What its chance is the probability of; null where it gives none. */
  claim?: { name: string; short: string; note: string } | null;
  problem: string | null;
}

export interface Node {
  id: number;
  parent: number | null;
  children: number[];
  ply: number;
  move: string | null;
  san: string;
  turn: "w" | "b";
  end: string | null;
  comment: string;
  nags: number[];
  fen?: string;
  check?: boolean;
  dests?: Record<string, string[]>;
  stones?: string;
  legal?: string;
  captured?: { B: number; W: number };
}

export interface Line {
  game: "chess" | "go";
  fen?: string;
  size?: number;
  komi?: number;
  rules?: string;
  setup?: { B: string[]; W: string[] };
  side?: "b" | "w";
  moves: string[];
}

export interface Result {
  ply: number;
  white?: number | null;
  black?: number | null;
  moves?: { move: string; san: string; p: number }[] | null;
  /** Of a network that is told ratings: the likely moves of players of each. */
  by_rating?: { rating: number; moves: { move: string; san: string; p: number }[] }[];
  origin?: number[] | null;
  owners?: number[] | null;
  score?: number | null;
}

export interface Game {
  kind: "chess" | "go";
  headers: Record<string, string>;
  start: Line;
  nodes: Map<number, Node>;
  root: number;
  /** Of a file with several games: the file, and which they are. */
  file?: { text: string; index: number; count: number; games: { index: number; title: string }[]; problems: string[] };
}

/** "game": another one. "tree": a move was added or taken out. "path": another line of it is looked at. */
export type Event = "game" | "tree" | "path" | "cursor" | "results" | "judgements" | "networks" | "settings" | "status";

export interface Settings {
  flipped: boolean;
  coordinates: boolean;
  hints: boolean;
  sound: boolean;
}

export class App {
  readonly api = new Api((answers) => this.reached(answers));
  networks: Network[] = [];
  /** Names of the command line. */
  given: string[] = [];
  network: string | null = null;
  second: string | null = null;
  game: Game = empty("chess");
  cursor = this.game.root;
  /** The line that is looked at, from the root to its end; the cursor is on it. */
  path: number[] = [this.game.root];
  flipped = false;
  coordinates = true;
  hints = true;
  sound = false;
  /** What was said last. */
  status = "";
  connected = true;
  readonly analyser = new Analyser(this);
  private places = new Map<number, number>([[this.game.root, 0]]);
  private readonly listeners = new Map<Event, Set<() => void>>();
  private moving: Promise<unknown> = Promise.resolve();
  /** The other game, kept while this one is looked at. */
  private readonly shelf = new Map<"chess" | "go", { game: Game; cursor: number }>();

  on(event: Event, f: () => void): () => void {
    const known = this.listeners.get(event) ?? new Set();
    this.listeners.set(event, known);
    known.add(f);
    return () => known.delete(f);
  }

  emit(event: Event): void {
    for (const f of [...(this.listeners.get(event) ?? [])]) f();
  }

  say(text: string): void {
    this.status = text;
    this.emit("status");
  }

  set(settings: Partial<Settings>): void {
    Object.assign(this, settings);
    this.emit("settings");
  }

  node(id = this.cursor): Node {
    const found = this.game.nodes.get(id);
    if (!found) throw new Error(`no position ${id}`);
    return found;
  }

  line(id = this.cursor): Line {
    const moves = ancestry(this.game, id).slice(1);
    return { ...this.game.start, moves: moves.map((each) => this.node(each).move ?? "") };
  }

  /** The cursor's place on the path. */
  get place(): number {
    return this.places.get(this.cursor) ?? 0;
  }

  placeOf(id: number): number | undefined {
    return this.places.get(id);
  }

  go(id: number): void {
    if (id === this.cursor || !this.game.nodes.has(id)) return;
    this.cursor = id;
    if (!this.places.has(id)) this.repath();
    this.emit("cursor");
  }

  step(by: number): void {
    this.go(this.path[Math.max(0, Math.min(this.path.length - 1, this.place + by))]!);
  }

  /** Plays a move at the cursor, or follows it where it is known. One after the other. */
  play(move: string): Promise<Node> {
    const made = this.moving.then(() => this.playNow(move));
    this.moving = made.catch(() => undefined);
    return made;
  }

  private async playNow(move: string): Promise<Node> {
    const { game, cursor } = this;
    const known = game.nodes.get(cursor)!.children.map((id) => game.nodes.get(id)!);
    const follow = (names: (string | null)[]): Node | undefined => known.find((each) => names.includes(each.move));
    let next = follow([move]);
    if (!next) {
      const written = await this.api.move(this.line(), move);
      if (game !== this.game || !game.nodes.has(cursor)) throw new Error("Another game was opened meanwhile.");
      next = follow([written.move]);
      if (!next) {
        next = add(game, cursor, written);
        this.cursor = next.id;
        this.repath();
        this.emit("tree");
        this.emit("cursor");
        return next;
      }
    }
    this.go(next.id);
    return next;
  }

  /** Takes a position and all after it out of the game. */
  remove(id: number): void {
    const parent = this.game.nodes.get(id)?.parent;
    if (parent === null || parent === undefined) return;
    const inside = ancestry(this.game, this.cursor).includes(id);
    prune(this.game, id);
    if (inside) this.cursor = parent;
    this.repath();
    this.emit("tree");
    if (inside) this.emit("cursor");
  }

  result(network: string, id: number): Result | undefined {
    return this.analyser.result(network, id);
  }

  /** Whose network it is, by name. */
  named(name: string | null): Network | undefined {
    return this.networks.find((each) => each.name === name);
  }

  /** Whether there is anything that would be missed. */
  get touched(): boolean {
    return this.game.nodes.size > 1 || Object.keys(this.game.headers).length > 0 || Boolean(this.game.start.fen);
  }

  /** An empty board: of this game and size, or of another. */
  async fresh(kind = this.game.kind, size = this.game.start.size ?? 19): Promise<void> {
    this.open(empty(kind, size));
  }

  /** Reads PGN, SGF or FEN. Rejects with the server's words where nothing of it can be shown. */
  async load(text: string, index = 0, signal?: AbortSignal): Promise<Loaded> {
    const from = await this.api.load(text, index, signal);
    const game = loaded(from);
    game.file = { text, index, count: from.count, games: from.games, problems: from.problems };
    this.open(game);
    return from;
  }

  /** Looks at a game from its beginning, or from a position of it. */
  open(game: Game, cursor = game.root): void {
    if (game.kind !== this.game.kind && this.touched) this.shelf.set(this.game.kind, { game: this.game, cursor: this.cursor });
    this.shelf.delete(game.kind);
    this.game = game;
    this.cursor = cursor;
    this.repath();
    const before = this.network;
    if (!fitting(this.networks, game.kind, this.network)) this.network = usual(this.networks, this.given, game.kind);
    if (!fitting(this.networks, game.kind, this.second)) this.second = null;
    this.emit("game");
    if (before !== this.network) this.emit("networks");
  }

  /** Chooses a network; one of the other game brings that game, as it was left, or an empty board. */
  choose(name: string): void {
    const network = this.named(name);
    if (!network || name === this.network) return;
    this.network = name;
    if (this.second === name) this.second = null;
    if (network.game !== this.game.kind) {
      const kept = this.shelf.get(network.game);
      const sizes = network.sizes ?? [];
      const size = sizes.length && !sizes.includes(19) ? Math.max(...sizes) : 19;
      if (kept) this.open(kept.game, kept.cursor);
      else this.open(empty(network.game, size));
    }
    this.emit("networks");
  }

  chooseSecond(name: string | null): void {
    this.second = name;
    this.emit("networks");
  }

  /** What the server knows now; the choice is kept where it can be. */
  async findNetworks(wanted?: string | null): Promise<void> {
    const { networks, given } = await this.api.networks();
    const same = JSON.stringify([networks, given]) === JSON.stringify([this.networks, this.given]);
    if (same && wanted === undefined) return;
    this.networks = networks;
    this.given = given;
    const kept = [wanted ?? null, this.network].find((name) => fitting(networks, this.game.kind, name));
    this.network = kept ?? usual(networks, given, this.game.kind);
    this.emit("networks");
  }

  private repath(): void {
    this.path = through(this.game, this.cursor);
    this.places = new Map(this.path.map((id, place) => [id, place]));
    this.emit("path");
  }

  private reached(answers: boolean): void {
    if (answers === this.connected) return;
    this.connected = answers;
    this.say(answers ? "The server answers again." : "The server does not answer. Trying again …");
    if (!answers) this.retry();
  }

  private retry(): void {
    window.setTimeout(() => {
      if (this.connected) return;
      this.findNetworks(null).catch(() => this.retry());
    }, 1500);
  }
}
