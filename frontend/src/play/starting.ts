/** New games from a given start: a position of chess, or komi, rules and handicap stones of Go. */

import { pointName } from "../board/gopoints";
import type { App, Line } from "../app/state";
import { texts } from "../texts";
import { empty, loaded } from "../app/tree";

/** Opens an empty game with this start; whether it was opened. Rejects with the server's words where there is no such start. */
export async function openStart(app: App, start: Line): Promise<boolean> {
  const line = { ...start, moves: [] };
  const plain = start.game === "chess" ? !start.fen : false;
  if (plain) return app.fresh("chess");
  if (!(await app.mayOpen())) return false;
  app.opening = true;
  const [root] = await app.during(texts.welcome.opening, app.api.line(line)).finally(() => (app.opening = false));
  const tree = [{ ...root!, id: 0, parent: null }];
  const stones = line.side === "w" && !line.setup?.W.length ? (line.setup?.B.length ?? 0) : 0;
  const headers: Record<string, string> = stones > 1 ? { HA: String(stones) } : {};
  app.open(loaded({ game: line.game, headers, line, tree, games: [], count: 1, problems: [] }));
  if (app.left) app.say(`${texts.state.fresh}${app.whereLeft}`);
  return true;
}

/** An empty board of Go. handicap: stones of Black's on the star points, after which White moves. */
export function goStart(size: number, komi: number, rules: string, handicap: number): Line {
  const B = handicap > 1 ? stonesOf(size, handicap) : [];
  return { ...empty("go", size).start, komi, rules, setup: { B, W: [] }, side: B.length ? "w" : "b" };
}

/** Where handicap stones stand by custom: two to nine, on a board of 9, 13 or 19. */
export function stonesOf(size: number, count: number): string[] {
  const edge = size < 13 ? 2 : 3;
  const [low, middle, high] = [edge, (size - 1) / 2, size - 1 - edge];
  const corners: [number, number][] = [[high, low], [low, high], [high, high], [low, low]];
  const sides: [number, number][] = [[low, middle], [high, middle]];
  const ends: [number, number][] = [[middle, low], [middle, high]];
  const centre: [number, number][] = count % 2 && count > 4 ? [[middle, middle]] : [];
  const placed = [...corners.slice(0, count), ...(count > 5 ? sides : []), ...(count > 7 ? ends : []), ...centre];
  return placed.slice(0, count).map(([column, row]) => pointName(row * size + column, size));
}
