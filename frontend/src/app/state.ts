/** What the whole page shares: the game, the position that is looked at, the networks and what they have said. */

import { Api, type Loaded } from "../server/api";
import { Checker } from "../server/checker";
import { Analyser } from "../server/analyser";
import { message } from "../server/asking";
import { fitting, usual } from "./choosing";
import { countOf } from "./displayed";
import { Store } from "./earlier";
import { grown } from "./hash";
import type { History } from "./history";
import { Programs } from "../server/programs";
import { type Part, split } from "./splitting";
import { fromServer, lettered, texts } from "../texts";
import { add, ancestry, attach, detach, empty, loaded, through, worth } from "./tree";

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
  /** Whether it has inputs for ranks, of Go, and can play like people of one. */
  ranked?: boolean;
  /** Whether it answers for single positions alone: nothing searches, and no piece is taken away to see what it matters. */
  single?: boolean;
  /** The person whose network it is; null if it is nobody's. */
  person?: string | null;
  /** The network that a person's was made from. */
  base?: string | null;
  /** Whether it is a person's and its training has not ended. */
  unfinished?: boolean;
  metrics: boolean;
  /** Whether it trains now. */
  live?: boolean;
  /** The personal network that it is only a step of; null for a network of its own. */
  part_of?: string | null;
  snapshots: number;
  from: "run" | "package";
  /** Changes with its weights. */
  stamp: string;
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
  /** What a PGN says of a move in signs of its own: "clk", "emt", "eval" and others. */
  commands?: Record<string, string>;
  /** Circles and arrows, as a PGN has them: "Gd4", "Rb1c3". */
  shapes?: string[];
  /** Properties of an SGF that are kept as they are. */
  props?: Record<string, string[]>;
  fen?: string;
  check?: boolean;
  /** Of chess: code and name of the opening that this position is. */
  opening?: string;
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
  /** Which of komi ("KM") and rules ("RU") an SGF does not say. */
  assumed?: string[];
  /** White's and Black's, of chess; 0 where unknown. */
  ratings?: [number, number];
  /** Those of the game that tell its speed and whose ratings they are, of chess. */
  headers?: Record<string, string>;
  moves: string[];
}

export interface Result {
  ply: number;
  white?: number | null;
  black?: number | null;
  moves?: { move: string; san: string; p: number }[] | null;
  /** Of whom the moves are likely, where a network is told ratings and the game has one. */
  rating?: number;
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
  /** Its name among the games that are kept. */
  key: string;
  /** Whether it has changes that are in no file. */
  changed: boolean;
  /** Counts its changes. */
  revision: number;
  history: History;
  /** The file that it was saved to. */
  saved?: FileSystemFileHandle | undefined;
  /** Of a file with several games: the file, and which they are. */
  file?: GameFile | undefined;
}

export interface GameFile {
  text: string;
  index: number;
  count: number;
  games: { index: number; title: string }[];
  problems: string[];
  /** On the command line: its name there, which is its name in the explorer. */
  given?: string;
  /** Of a large file: where each game stands in its text, and what its headers say. Only that part of it is sent. */
  parts?: Part[];
}

/** "checker": another one judges the moves. "saved": to a file. "game": another one. "tree": a move was added or taken out. "path": another line of it is looked at. */
export type Event = "saved" | "game" | "tree" | "path" | "cursor" | "results" | "judgements" | "networks" | "programs" | "checker" | "settings" | "status";

export interface Settings {
  flipped: boolean;
  coordinates: boolean;
  hints: boolean;
  sound: boolean;
}

/** A text beyond this is divided into its games before it is sent, in characters. */
const LARGE = 200_000;
/** Work that takes longer is said to take long, ms. */
const SLOW = 4000;
/** What the server takes for a rating at most. */
const HIGHEST_RATING = 4000;
/** The headers of a game of chess that networks are told of. */
const TOLD_HEADERS = ["Event", "Site", "TimeControl"];

/** Another game was opened, or asked for, before this one came. */
export class Overtaken extends Error {}

export class App {
  readonly api: Api;
  readonly programs: Programs;
  networks: Network[] = [];
  /** Steps of the training of a personal network, while they train: only the tab Training shows them. */
  steps: Network[] = [];
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
  /** What was said last, and whether it is a problem. */
  status = "";
  problem = false;
  /** Whether it stays until something else is said. */
  lasting = false;
  /** Whether it is about a move that cannot be made. */
  refused = false;
  connected = true;
  /** In a game against a network or program: takes a move back in place of a change; whether it did. */
  takesBack: (() => boolean) | null = null;
  /** Whether the move to a position is only tried, as the answer to a puzzle: it is no change to keep. */
  isTried: ((id: number) => boolean) | null = null;
  /** Asked before another game is opened; whether it may be. */
  mayLeave: (() => Promise<boolean>) | null = null;
  /** Counts the games that were opened. */
  opened = 0;
  /** Whether a new game is being opened: moves in the one that is left are not wanted any more. */
  opening = false;
  /** Whether the game that was left last had changes; they are among the earlier games. */
  left = false;
  /** Begins what waits until the page shows what its address names. */
  begin: () => void = () => undefined;
  readonly begun = new Promise<void>((done) => (this.begin = done));
  /** Games that were changed. */
  readonly store = new Store();
  readonly checker = new Checker(this);
  readonly analyser = new Analyser(this);
  private places = new Map<number, number>([[this.game.root, 0]]);
  private readonly listeners = new Map<Event, Set<() => void>>();
  private moving: Promise<unknown> = Promise.resolve();
  /** The other game, kept while this one is looked at. */
  private readonly shelf = new Map<"chess" | "go", { game: Game; cursor: number; end: number }>();

  /** api: what answers in place of the server. */
  constructor(api?: Api) {
    this.api = api ?? new Api((answers) => this.reached(answers));
    this.programs = new Programs(this.api, () => this.emit("programs"));
  }

  on(event: Event, f: () => void): () => void {
    const known = this.listeners.get(event) ?? new Set();
    this.listeners.set(event, known);
    known.add(f);
    return () => known.delete(f);
  }

  emit(event: Event): void {
    for (const f of [...(this.listeners.get(event) ?? [])]) f();
  }

  /** Says why a game was not opened; nothing where another one is wanted by now. */
  notOpened(error: unknown): void {
    if (!(error instanceof Overtaken)) this.say(message(error), true);
  }

  /** Says something under the board; a problem stays there longer, and what is `lasting` until something else is said. */
  say(text: string, problem = false, lasting = false): void {
    this.status = text;
    this.problem = problem;
    this.lasting = lasting;
    this.refused = false;
    this.emit("status");
  }

  /** Says why a move cannot be made, until the next step. */
  refuse(text: string): void {
    this.say(text, true);
    this.refused = true;
  }

  /** Says what is being done for as long as it takes, from the second second on with the time; `slow` takes its place after a few seconds. */
  async during<T>(text: string, work: Promise<T>, slow = text): Promise<T> {
    let said = text;
    let seconds = 0;
    this.say(said, false, true);
    const timer = window.setInterval(() => {
      seconds += 1;
      // Not each second, for those who hear it.
      if (this.status !== said || (seconds !== 2 && seconds % 5)) return;
      said = `${1000 * seconds < SLOW ? text : slow} ${seconds} s`;
      this.say(said, false, true);
    }, 1000);
    try {
      return await work;
    } finally {
      window.clearInterval(timer);
      if (this.status === said) this.say("");
    }
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
    const line = { ...this.game.start, moves: moves.map((each) => this.node(each).move ?? "") };
    if (this.game.kind !== "chess") return line;
    const known = TOLD_HEADERS.flatMap((name): [string, string][] => (this.game.headers[name] ? [[name, this.game.headers[name]]] : []));
    return { ...line, ratings: [this.rating("WhiteElo"), this.rating("BlackElo")], ...(known.length ? { headers: Object.fromEntries(known) } : {}) };
  }

  /** What a header says of a player's rating; 0 where that is none. */
  private rating(header: string): number {
    const said = Number.parseInt(this.game.headers[header] ?? "", 10);
    return said > 0 && said <= HIGHEST_RATING ? said : 0;
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

  /** Plays a move at the cursor, or follows it where it is known. One after the other. `wanted`: whether it still is. */
  play(move: string, wanted = (): boolean => true): Promise<Node> {
    const made = this.moving.then(() => this.playNow(move, wanted));
    this.moving = made.catch(() => undefined);
    return made;
  }

  private async playNow(move: string, wanted: () => boolean): Promise<Node> {
    if (this.opening || !wanted()) throw new Error(texts.state.meanwhile);
    const { game, cursor } = this;
    const known = game.nodes.get(cursor)!.children.map((id) => game.nodes.get(id)!);
    const follow = (names: (string | null)[]): Node | undefined => known.find((each) => names.includes(each.move));
    let next = follow([move]);
    if (!next) {
      const written = await this.api.move(this.line(), move);
      if (game !== this.game || !game.nodes.has(cursor) || !wanted()) throw new Error(texts.state.meanwhile);
      next = follow([written.move]);
      if (!next) {
        const made = add(game, cursor, written);
        this.added(game, made);
        return made;
      }
    }
    this.go(next.id);
    return next;
  }

  /** A move was played that was not in the tree. */
  private added(game: Game, node: Node): void {
    const at = game.nodes.get(node.parent!)!.children.length - 1;
    let nodes = [node];
    const undo = (): void => void (nodes = detach(game, node.id));
    const redo = (): void => attach(game, nodes, at);
    const tried = this.isTried?.(node.id) ?? false;
    game.history.add({ words: texts.state.move(lettered(node.san)), undo, redo, before: this.cursor, after: node.id, made: node.id, tried });
    this.settle(node.id, tried);
  }

  /** Makes a change of the tree that can be taken back, and goes to a position. */
  alter(words: string, redo: () => void, undo: () => void, cursor = this.cursor, joined = false): void {
    this.game.history.add({ words, redo, undo, before: this.cursor, after: cursor, joined });
    redo();
    this.settle(cursor);
  }

  /** The tree has changed: says so to all that show it. `tried`: by a move that is not to be kept. */
  private settle(cursor: number, tried = false): void {
    const { game } = this;
    const to = game.nodes.has(cursor) ? cursor : game.root;
    const moved = to !== this.cursor;
    game.changed ||= !tried;
    game.revision += 1;
    this.cursor = to;
    this.repath();
    this.emit("tree");
    if (moved) this.emit("cursor");
  }

  /** The headers have changed. */
  retitled(): void {
    this.game.changed = this.game.changed || this.game.nodes.size > 1;
    this.game.revision += 1;
    this.emit("tree");
  }

  /** Takes the last change back. */
  undo(): void {
    if (this.takesBack?.()) return;
    const change = this.game.history.undo();
    if (change) this.settle(change.before, change.tried);
    this.say(change ? texts.state.takenBack(change.words) : texts.state.noUndo);
  }

  /** Makes the change that was taken back last again. */
  redo(): void {
    const change = this.game.history.redo();
    if (change) this.settle(change.after, change.tried);
    this.say(change ? texts.state.madeAgain(change.words) : texts.state.noRedo);
  }

  /** Takes a move that was only tried out of the game, as if it had never been played. */
  retract(id: number): void {
    const parent = this.game.nodes.get(id)?.parent;
    if (parent === null || parent === undefined) return;
    const inside = ancestry(this.game, this.cursor).includes(id);
    if (this.game.history.last?.made === id) this.game.history.drop();
    detach(this.game, id);
    this.settle(inside ? parent : this.cursor, true);
  }

  /** What a network says of a position. Where a game of Go is counted, its result, lead and owners are those of the count. */
  result(network: string, id: number): Result | undefined {
    const result = this.analyser.result(network, id);
    const count = result && countOf(this, id);
    return count ? { ...result, black: count.black, score: count.score, owners: count.owners } : result;
  }

  /** What names a network and the weights it has now: those of one in training change. */
  weights(name: string): string {
    return `${name} ${this.named(name)?.stamp ?? ""}`;
  }

  /** The same of all networks. */
  get allWeights(): string[] {
    return this.networks.map(({ name }) => this.weights(name));
  }

  /** Whose network it is, by name. */
  named(name: string | null): Network | undefined {
    return [...this.networks, ...this.steps].find((each) => each.name === name);
  }

  /** Whether there is anything that would be missed. */
  get touched(): boolean {
    return worth(this.game) || Object.keys(this.game.headers).length > 0;
  }

  /** An empty board: of this game and size, or of another. Whether it was opened. */
  async fresh(kind = this.game.kind, size = this.game.start.size ?? 19): Promise<boolean> {
    if (!(await this.mayOpen())) return false;
    this.flipped = false;
    this.open(empty(kind, size));
    if (this.left) this.say(`${texts.state.fresh}${this.whereLeft}`);
    return true;
  }

  /** Whether another game may be opened now. */
  async mayOpen(): Promise<boolean> {
    return !this.mayLeave || this.mayLeave();
  }

  /** Where the game is that was left last, in words; "" where nothing of it could be missed. */
  get whereLeft(): string {
    return this.left ? texts.state.left : "";
  }

  /** Reads PGN, SGF or FEN. Rejects with the server's words where nothing of it can be shown. */
  async load(text: string, index = 0, signal?: AbortSignal, given?: string): Promise<Loaded> {
    const parts = text.length > LARGE ? await split(text) : [];
    const file: GameFile = { text, index, count: parts.length, games: [], problems: [], ...(given !== undefined && { given }) };
    if (parts.length < 2) return this.read({ ...file, count: 0 }, signal);
    return this.read({ ...file, games: parts.map(({ title }, at) => ({ index: at, title })), parts }, signal);
  }

  /** Opens a line of moves at its end, in a game of its own. Rejects where another game was asked for meanwhile. */
  async openLine(line: Line, headers: Game["headers"] = {}): Promise<void> {
    const opened = (this.opened += 1);
    const nodes = await this.api.line(line);
    if (opened !== this.opened) throw new Overtaken(texts.state.meanwhile);
    this.flipped = false;
    this.open(...grown(line, nodes, line.moves.length, headers));
  }

  /** Opens another game of the file that the present one is from. */
  async openOfFile(index: number): Promise<void> {
    const { file } = this.game;
    if (!file || index < 0 || index >= file.count || !(await this.mayOpen())) return;
    await this.read({ ...file, index });
    if (this.left) this.say(`${texts.state.game(index + 1)}${this.whereLeft}`);
  }

  private async read(file: GameFile, signal?: AbortSignal): Promise<Loaded> {
    const part = file.parts?.[file.index];
    // What is asked for later is what is wanted.
    const opened = (this.opened += 1);
    const from = part
      ? { ...(await this.api.load(file.text.slice(part.begin, part.end), 0, signal)), count: file.count, games: file.games }
      : await this.api.load(file.text, file.index, signal);
    if (opened !== this.opened || signal?.aborted) throw new Overtaken(texts.state.meanwhile);
    from.problems = from.problems.map(fromServer);
    const game = loaded(from);
    // Another text is of other games: how the board was turned for the last one says nothing of them.
    if (file.text !== this.game.file?.text) this.flipped = false;
    game.file = { ...file, count: from.count, games: from.games, problems: from.problems };
    this.open(game);
    return from;
  }

  /** Looks at a game from its beginning, or from a position of it; `end`: a position after it, to which the line goes. */
  open(game: Game, cursor = game.root, end = cursor): void {
    if (game.kind !== this.game.kind && this.touched) this.shelf.set(this.game.kind, { game: this.game, cursor: this.cursor, end: this.path.at(-1)! });
    this.shelf.delete(game.kind);
    this.left = this.game.changed && worth(this.game);
    this.opened += 1;
    this.game = game;
    this.cursor = cursor;
    this.repath(end);
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
    if (network.game !== this.game.kind && this.mayLeave) {
      void this.mayLeave().then((may) => (may ? this.chosen(network) : this.emit("networks")));
    } else this.chosen(network);
  }

  private chosen(network: Network): void {
    const { name } = network;
    this.network = name;
    if (this.second === name) this.second = null;
    if (network.game !== this.game.kind) {
      const kept = this.shelf.get(network.game);
      const sizes = network.sizes ?? [];
      const size = sizes.length && !sizes.includes(19) ? Math.max(...sizes) : 19;
      if (kept) this.open(kept.game, kept.cursor, kept.end);
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
    const { networks: all, given } = await this.api.networks();
    const [networks, steps] = [all.filter((each) => !each.part_of), all.filter((each) => each.part_of)];
    const same = JSON.stringify([networks, steps, given]) === JSON.stringify([this.networks, this.steps, this.given]);
    if (same && wanted === undefined) return;
    this.networks = networks;
    this.steps = steps;
    this.given = given;
    const kept = [wanted ?? null, this.network].find((name) => fitting(networks, this.game.kind, name));
    this.network = kept ?? usual(networks, given, this.game.kind);
    if (this.second === this.network || !fitting(networks, this.game.kind, this.second)) this.second = null;
    this.emit("networks");
  }

  /** Waits until networks are known: when the page has just been loaded they are not, and programs may be known before. */
  async networksKnown(): Promise<void> {
    await new Promise<void>((resolve) => {
      const look = (): void => {
        if (!this.networks.length) return;
        off();
        resolve();
      };
      const off = this.on("networks", look);
      look();
    });
  }

  private repath(end = this.cursor): void {
    this.path = through(this.game, end);
    this.places = new Map(this.path.map((id, place) => [id, place]));
    this.emit("path");
  }

  private reached(answers: boolean): void {
    if (answers === this.connected) return;
    this.connected = answers;
    this.say(answers ? texts.state.answersAgain : texts.state.silent);
    // Found again, whether or not they have changed, the networks go on with what was cut off.
    if (answers) void this.findNetworks(null).catch(() => undefined);
    else this.retry();
  }

  private retry(): void {
    window.setTimeout(() => {
      if (this.connected) return;
      this.findNetworks(null).catch(() => this.retry());
    }, 1500);
  }
}
