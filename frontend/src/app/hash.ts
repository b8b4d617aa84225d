/** What an address says: the game, its line and the position in it, the network, the players and the tab. */

import type { Written } from "../server/api";
import type { App, Game, Line } from "./state";
import { loaded, START } from "./tree";

/** Longer lines are named only as far as the cursor. */
const LONGEST = 600;

/** "#game=chess&moves=e2e4.e7e5&ply=1&network=winner". */
export function hashOf(app: Pick<App, "game" | "path" | "place" | "line" | "network">, tab = ""): string {
  const { start, headers } = app.game;
  const end = app.path[Math.min(app.path.length - 1, Math.max(app.place, LONGEST))];
  const { moves } = app.line(end);
  const parts: [string, string | number | undefined][] = [
    ["game", start.game],
    ["fen", start.fen === START ? undefined : start.fen?.replaceAll(" ", "_")],
    ["size", start.size],
    ["komi", start.komi],
    ["rules", start.rules],
    ["black", start.setup?.B.join(".")],
    ["white", start.setup?.W.join(".")],
    ["side", start.side],
    ["moves", moves.join(".")],
    ["ply", app.place || undefined],
    ["network", app.network ?? undefined],
    ["first", named(headers.White ?? headers.PB)],
    ["second", named(headers.Black ?? headers.PW)],
    ["tab", tab],
  ];
  const told = parts.filter(([name, value]) => value !== undefined && value !== "" && !usual(start, name, value));
  return `#${told.map(([name, value]) => `${name}=${encodeURIComponent(value!).replaceAll("%2F", "/")}`).join("&")}`;
}

/** A player, where one is named. */
const named = (name: string | undefined): string | undefined => (name && name !== "?" ? name.slice(0, 60) : undefined);

function usual(start: Line, name: string, value: string | number): boolean {
  if (start.game !== "go") return false;
  return (name === "komi" && value === 7.5) || (name === "rules" && value === "chinese") || (name === "side" && value === "b");
}

/** An address in parts. */
export interface Read {
  line: Line;
  ply: number;
  network: string | null;
  tab: string | null;
  /** The players that it names. */
  headers: Record<string, string>;
}

/** The parts of an address; null of one that names nothing. */
export function read(hash: string): Read | null {
  const said = new URLSearchParams(hash.replace(/^#/, ""));
  const list = (name: string): string[] => (said.get(name) ?? "").split(".").filter(Boolean);
  const game = said.get("game");
  const players = [said.get("first"), said.get("second")].map((name) => named(name ?? undefined));
  const names = game === "go" ? ["PB", "PW"] : ["White", "Black"];
  const headers = Object.fromEntries(names.flatMap((name, at) => (players[at] ? [[name, players[at]]] : [])));
  const common = { ply: Number(said.get("ply") ?? 0) || 0, network: said.get("network"), tab: said.get("tab"), headers };
  const moves = list("moves");
  const fen = said.get("fen")?.replaceAll("_", " ");
  if (game === "go") {
    const size = Number(said.get("size") ?? 19);
    const komi = Number(said.get("komi") ?? 7.5);
    const setup = { B: list("black"), W: list("white") };
    const side = said.get("side") === "w" ? "w" : "b";
    return { ...common, line: { game, size, komi, rules: said.get("rules") ?? "chinese", setup, side, moves } };
  }
  if (game !== "chess" && !fen && !common.network && !common.tab) return null;
  return { ...common, line: { game: "chess", ...(fen ? { fen } : {}), moves } };
}

/** Whether two lines are the same from the start on. */
export const same = (one: Line, other: Line): boolean => JSON.stringify(one) === JSON.stringify(other);

/** A game of one line, and the position of that ply in it. */
export function grown(line: Line, nodes: Written[], ply: number, headers: Record<string, string>): [Game, number] {
  const tree = nodes.map((node, place) => ({ ...node, id: place, parent: place ? place - 1 : null }));
  const game = loaded({ game: line.game, headers, line, tree, games: [], count: 1, problems: [] });
  const ids = [...game.nodes.keys()];
  return [game, ids[Math.max(0, Math.min(ids.length - 1, ply))]!];
}
