/** Sources of the explorer: which there are, which comes first, how an opened file is sent; and one's own results. */

import { expect, test } from "vitest";

import { ExplorerFilters, resultFor, scoreOf } from "../src/library/explorerfilters";
import { FILE, gamesOf, MINE, OpenedFile, preferred, type Sent, sourcesOf } from "../src/library/explorersources";
import { mountExplorer } from "../src/library/explorer";
import { openStored } from "../src/library/storedgames";
import { Unreachable } from "../src/server/api";
import { withDocument } from "./support/document";
import { chess, go, page } from "./support/games";
import { held, Server, until } from "./support/server";

const mine = { store: MINE, player: "Ana", games: 7 };
const ids = (stores: string[], own: boolean, games: number): string[] => sourcesOf({ stores, ...(own && { mine }) }, games).map(([id]) => id);

test("there are stores, the opened file and one's own games", () => {
  expect(ids([], false, 0)).toEqual([]);
  expect(ids(["a/b.store"], true, 3)).toEqual(["a/b.store", FILE, MINE]);
  expect(sourcesOf({ stores: ["a/b.store", "/"], mine }, 1200).map(([, name]) => name)).toEqual(["b.store", "/", "Opened file (1,200 games)", "My games (7)"]);
});

test("what was chosen stays while it is there", () => {
  const all = sourcesOf({ stores: ["s", "t"], mine }, 1);
  for (const [id] of all) expect(preferred(all, id, 1)).toBe(id);
  expect(preferred(all, "gone", 1)).toBe("s");
  expect(preferred([], FILE, 0)).toBeUndefined();
});

test("without a store a file of several games comes before one's own games, one of a single game after them", () => {
  const all = sourcesOf({ stores: [], mine }, 5);
  expect(preferred(all, null, 5)).toBe(FILE);
  expect(preferred(all, null, 1)).toBe(MINE);
  expect(preferred(sourcesOf({ stores: [] }, 1), null, 1)).toBe(FILE);
});

interface Part {
  upload: string;
  game: string;
  at: number;
  last: boolean;
  data: string;
}

function server(fault = ""): { parts: Part[]; api: { exploreUpload: (part: Part) => Promise<{ store?: string }> } } {
  const parts: Part[] = [];
  return {
    parts,
    api: {
      exploreUpload: (part) => {
        parts.push(part);
        if (fault) return Promise.reject(new Error(fault));
        return Promise.resolve(part.last ? { store: `@${parts.length}` } : {});
      },
    },
  };
}

test("a file is sent once, in parts, as UTF-8", async () => {
  const { parts, api } = server();
  const seen: Sent[] = [];
  const file = { text: `[White "Muñoz"]\n${"e4 ".repeat(1_100_000)}` };
  const opened: OpenedFile = new OpenedFile(api, () => seen.push(opened.of(file, "chess")));
  expect(opened.of(file, "chess")).toEqual({ share: 0 });
  await until(() => "store" in opened.of(file, "chess"));
  expect(opened.of(file, "chess")).toEqual({ store: "@2" });
  expect(parts.map(({ last }) => last)).toEqual([false, true]);
  expect(new Set(parts.map(({ upload }) => upload)).size).toBe(1);
  expect(parts[0]!.upload).toMatch(/^[0-9a-z]{20}$/);
  const bytes = parts.map(({ data }) => atob(data)).join("");
  expect(parts[1]!.at).toBe(atob(parts[0]!.data).length);
  expect(new TextDecoder().decode(Uint8Array.from(bytes, (each) => each.charCodeAt(0)))).toBe(file.text);
  expect(seen.some((state) => "share" in state && state.share > 0)).toBe(true);
  // Another game of the same file has the same text.
  expect(opened.of({ text: file.text }, "chess")).toEqual({ store: "@2" });
  expect(parts).toHaveLength(2);
  // What the server has lost is sent again.
  opened.forget();
  opened.of(file, "chess");
  await until(() => "store" in opened.of(file, "chess"));
  expect(parts).toHaveLength(4);
});

test("a refusal is said, and tried again only with another file", async () => {
  const { parts, api } = server("too large");
  const opened = new OpenedFile(api, () => undefined);
  opened.of({ text: "a" }, "go");
  await until(() => "problem" in opened.of({ text: "a" }, "go"));
  expect(opened.of({ text: "a" }, "go")).toEqual({ problem: "too large" });
  expect(parts.map(({ game }) => game)).toEqual(["go"]);
  opened.of({ text: "b" }, "go");
  await until(() => parts.length === 2);
});

test("of two files only the later one is known", async () => {
  const { parts, api } = server();
  const opened = new OpenedFile(api, () => undefined);
  opened.of({ text: "a" }, "chess");
  opened.of({ text: "b" }, "chess");
  await until(() => "store" in opened.of({ text: "b" }, "chess"));
  expect(parts.filter(({ data }) => atob(data) === "b")).toHaveLength(1);
});

test("one's own result and score follow the side", () => {
  expect([resultFor("1", "white"), resultFor("1", "black"), resultFor("-1", "black"), resultFor("0", "black"), resultFor("", "black")]).toEqual(["1", "-1", "1", "0", undefined]);
  expect([resultFor("1", ""), resultFor("-1", "")]).toEqual(["1", "-1"]);
  const tally = { games: 8, white: 5, draws: 2, black: 1 };
  expect([scoreOf(tally, "white"), scoreOf(tally, "black")]).toEqual([0.75, 0.25]);
});

test("a file that a server could not be reached for is sent when it is asked for next", async () => {
  let away = true;
  const opened = new OpenedFile({ exploreUpload: () => (away ? Promise.reject(new Unreachable()) : Promise.resolve({ store: "@1" })) }, () => undefined);
  const file = { text: "a" };
  opened.of(file, "chess");
  await until(() => opened["text"] === null);
  away = false;
  opened.of(file, "chess");
  await until(() => "store" in opened.of(file, "chess"));
});

test("a position with moves that were played from it is no file of games", () => {
  const position = "r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3";
  expect([gamesOf({ text: position, count: 1 }, true), gamesOf({ text: ` ${position}\n`, count: 1 }, true)]).toEqual([0, 0]);
  expect([gamesOf({ text: "1. e4 e5 1-0", count: 1 }, true), gamesOf({ text: "(;B[aa])", count: 1 }, true)]).toEqual([1, 1]);
  expect([gamesOf({ text: "*", count: 1 }, false), gamesOf({ text: "[Event \"?\"]", count: 3 }, false)]).toEqual([0, 3]);
});

test("whether a game of a store was opened is known", async () => {
  const server = new Server().on("stored", () => ({ text: "1. e4 *" }));
  const app = page(chess());
  app.mayLeave = () => Promise.resolve(false);
  expect(await openStored(app, "s", 0)).toBe(false);
  app.mayLeave = null;
  server.on("load", () => ({ error: "no game" }));
  expect(await openStored(app, "s", 0)).toBe(false);
  server.on("load", () => ({ game: "chess", headers: {}, line: { game: "chess", moves: [] }, tree: [{ id: 0, parent: null, ply: 0, move: null, san: "", turn: "w", end: null }], games: [], count: 1, problems: [] }));
  expect(await openStored(app, "s", 0)).toBe(true);
});

test("an answer that comes when another panel is looked at is not taken for one of the next game", async () => {
  const { host, element } = withDocument();
  const { answer, give } = held<object>();
  const server = new Server().on("explore", () => answer);
  const app = page(chess());
  mountExplorer(element, app, { open: () => undefined, mine: () => undefined });
  await until(() => server.of("explore").length === 1);
  host.offsetParent = null;
  app.open(go());
  give({ stores: ["chess.store"], opening: null, store: "chess.store", games: 0, white: 0, draws: 0, black: 0, average_rating: null, moves: [], examples: [] });
  await new Promise((done) => setTimeout(done, 20));
  server.on("explore", () => ({ stores: [], opening: null }));
  host.offsetParent = {};
  app.open(go());
  await until(() => server.of("explore").length === 2);
  expect(server.of("explore")[1]!.store).toBeUndefined();
});

test("a result stays with another store, and is taken back where it means something else", () => {
  withDocument();
  const filters = new ExplorerFilters(false, () => undefined);
  const choose = (value: string): void => void ((filters as unknown as { result: { value: string } }).result.value = value);
  filters.offer("chess", false, undefined);
  choose("1");
  filters.offer("chess", false, undefined);
  expect(filters.wanted.result).toBe("1");
  filters.offer("chess", true, undefined);
  expect(filters.wanted).toEqual({ side: "white" });
  choose("-1");
  filters.offer("go", false, undefined);
  expect(filters.wanted).toEqual({});
});
