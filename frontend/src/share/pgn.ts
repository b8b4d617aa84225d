/** Games of chess as text, read and written in the visitor's browser. */

import { makeFen } from "chessops/fen";
import { ChildNode, type Game, makePgn, Node, type PgnNodeData } from "chessops/pgn";
import type { Loaded, Written } from "../server/api";
import { Played, readMove, refuse, sanOf, startOf } from "./chessrules";
import { languageOf, moveOf, readGames } from "./pgntext";
import type { SavedNode } from "./saved";

const COMMAND = /\[%([A-Za-z_]\w{0,29})\s([^\]]*)\]/g;
const SHAPE = /^[GRYB][a-h][1-8](?:[a-h][1-8])?$/;
const RULED = ["SetUp", "FEN", "Variant"];
const STANDARD = ["", "standard", "normal", "chess", "from position"];
const RESULTS = ["1-0", "0-1", "1/2-1/2", "*"];
/** A text that is nothing but the beginning of a FEN. */
const FEN = /^[pnbrqkPNBRQK1-8]{1,8}(\/[pnbrqkPNBRQK1-8]{1,8}){7}(\s|$)/;
/** Titles that are listed. */
const LISTED = 500;

export const isFen = (text: string): boolean => !text.trim().includes("\n") && FEN.test(text.trim());

/** A position without moves. */
export function loadFen(text: string): Loaded {
  const said = text.trim().split(/\s+/);
  const at = new Played(startOf([...said, ...["w", "-", "-", "0", "1"].slice(said.length - 1)].slice(0, 6).join(" ")));
  const root = { ...at.node(), id: 0, parent: null };
  return { game: "chess", headers: {}, line: { game: "chess", fen: root.fen!, moves: [] }, tree: [root], games: [], count: 1, problems: [] };
}

/** The game of that number, from 0, and the titles of all. */
export function loadPgn(text: string, index: number): Loaded {
  const games = readGames(text);
  const game = games[index] ?? refuse("no game found in this text. Use PGN, SGF or FEN");
  const problems: string[] = [];
  const variant = (game.headers.get("Variant") ?? "").trim();
  if (!STANDARD.includes(variant.toLowerCase())) refuse(`it is of the variant ${variant.slice(0, 30)}, and kibitz supports only standard chess`);
  const fen = game.headers.get("FEN")?.replace(/^[ ?-]*$/, "") || undefined;
  const start = new Played(startOf(fen));
  const { letters, limit } = languageOf(start.board, game);
  const root: Written = { ...start.node(), id: 0, parent: null, ...words(game.comments), nags: [] };
  const tree = [root];
  const pile = game.moves.children.map((child, at) => ({ child, parent: 0, before: start, main: at === 0 })).reverse();
  for (let task = pile.pop(); task; task = pile.pop()) {
    const { child, parent, before, main } = task;
    const { san, comments = [], startingComments = [], nags = [] } = child.data;
    const move = main && before.ply >= limit ? undefined : moveOf(before.board, san, letters);
    if (!move) {
      // Without the main move its variations would take its place.
      while (main && pile.at(-1)?.parent === parent) pile.pop();
      const number = `${before.board.fullmoves}${before.board.turn === "white" ? "." : "…"}`;
      problems.push(main ? `move ${number} '${san}' is illegal; the moves after it are skipped` : `a variation of move ${number} is skipped from '${san}' on`);
      continue;
    }
    const at = before.copy();
    const node = at.play(move);
    const id = tree.length;
    tree.push({ ...node, id, parent, ...words([...startingComments, ...comments]), nags: [...nags].sort((a, b) => a - b) });
    pile.push(...child.children.map((next, place) => ({ child: next, parent: id, before: at, main: main && place === 0 })).reverse());
  }
  const titles = games.slice(0, LISTED).map((each, at) => ({ index: at, title: titleOf(each.headers, at) }));
  const line = { game: "chess" as const, ...(fen ? { fen: root.fen! } : {}), moves: [] };
  return { game: "chess", headers: Object.fromEntries(game.headers), line, tree, games: titles, count: games.length, problems };
}

function titleOf(headers: Map<string, string>, index: number): string {
  const known = (name: string): string => (/[^ ?.]/.test(headers.get(name) ?? "") ? headers.get(name)! : "");
  const players = known("White") || known("Black") ? `${known("White") || "?"} – ${known("Black") || "?"}` : `game ${index + 1}`;
  return [players, known("Result"), known("Event"), known("Date")].filter(Boolean).join(", ");
}

/** Comments as the page has them: words, commands and drawings apart. */
function words(comments: string[]): Pick<Written, "comment" | "commands" | "shapes"> {
  const text = comments.join("\n");
  const commands: Record<string, string> = {};
  const shapes: string[] = [];
  for (const [, name = "", value = ""] of text.matchAll(COMMAND)) {
    const drawn = value.split(",").map((each) => each.trim());
    if ((name === "csl" || name === "cal") && drawn.every((each) => SHAPE.test(each))) shapes.push(...drawn);
    else commands[name] = value.trim();
  }
  const comment = text.split(COMMAND).filter((_, at) => at % 3 === 0).map((part) => part.trim()).filter(Boolean).join(" ");
  return { comment, ...(Object.keys(commands).length ? { commands } : {}), ...(shapes.length ? { shapes } : {}) };
}

/** A tree of the page as PGN. */
export function savePgn(tree: SavedNode[], headers: Record<string, string>, start: string | undefined): string {
  const own = new Map<number, { at: Played; node: Node<PgnNodeData> }>();
  const first = tree[0] ?? refuse("tree must have a root");
  const began = new Played(startOf(start ?? first.fen));
  const moves = new Node<PgnNodeData>();
  own.set(first.id, { at: began, node: moves });
  for (const each of tree.slice(1)) {
    const before = own.get(each.parent ?? 0)!;
    const move = readMove(before.at.board, each.move ?? "");
    const comment = commentOf(each);
    const data: PgnNodeData = { san: sanOf(before.at.board, move), nags: each.nags ?? [], ...(comment ? { comments: [comment] } : {}) };
    const at = before.at.copy();
    at.play(move);
    const node = new ChildNode(data);
    before.node.children.push(node);
    own.set(each.id, { at, node });
  }
  const said = new Map(["Event", "Site", "Date", "Round", "White", "Black"].map((name) => [name, headers[name] ?? (name === "Date" ? "????.??.??" : "?")]));
  said.set("Result", RESULTS.includes(headers["Result"] ?? "") ? headers["Result"]! : "*");
  for (const [name, value] of Object.entries(headers)) {
    if (!said.has(name) && !RULED.includes(name) && /^[A-Za-z]\w{0,49}$/.test(name)) said.set(name, value.replaceAll('"', "'"));
  }
  const fen = makeFen(began.board.toSetup());
  if (fen !== makeFen(startOf().toSetup())) said.set("SetUp", "1").set("FEN", fen);
  const comment = commentOf(first);
  const game: Game<PgnNodeData> = { headers: said, moves, ...(comment ? { comments: [comment] } : {}) };
  return makePgn(game);
}

function commentOf({ comment = "", shapes = [], commands = {} }: SavedNode): string {
  const parts = [comment];
  for (const [name, length] of [["csl", 3], ["cal", 5]] as const) {
    const drawn = shapes.filter((shape) => shape.length === length);
    if (drawn.length) parts.push(`[%${name} ${drawn.join(",")}]`);
  }
  for (const [name, value] of Object.entries(commands)) parts.push(`[%${name} ${value.replace(/[\]{}]/g, "")}]`);
  return parts.join(" ").replace(/[{}]/g, "").split(/\s+/).filter(Boolean).join(" ");
}
