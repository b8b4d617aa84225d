/** Teaching in a game against a network: what a search says of a person's move before it is answered. */

import type { Check } from "../server/api";
import { percent } from "../ui/elements";
import type { App, Network } from "../app/state";
import { lettered, texts } from "../texts";

/** So many moves of an answer are told. */
const TOLD = 5;

/** The network whose search judges moves of a game against another: that one, the one that is looked at, or any that can. */
export function judgeOf(app: App, opponent: string): string | null {
  const { kind, start } = app.game;
  const size = start.size ?? 19;
  const able = (each: Network | undefined): boolean =>
    each !== undefined &&
    !each.problem &&
    !each.single &&
    each.game === kind &&
    each.answers.includes("white") &&
    (kind === "chess" || !each.sizes?.length || each.sizes.includes(size));
  return [app.named(opponent), app.named(app.network), ...app.networks].find(able)?.name ?? null;
}

/** Whether a move lost so much that it is told: a mistake or a blunder, as the marks of a game have it. */
export const grave = ({ mark }: Check): boolean => mark === "?" || mark === "??";

/** "Qxe5?? is a blunder. It costs 45 points of your chance: 50% before, 5% after." */
export function verdict(san: string, { mark, before, after, points }: Check): string {
  const word = mark === "??" ? texts.teaching.blunder : texts.teaching.mistake;
  const cost = points !== null ? texts.teaching.points(number(points)) : texts.teaching.chance;
  return texts.teaching.verdict(`${lettered(san)}${mark}`, word, cost, percent(before), percent(after));
}

/** "The answer is Nxe5 Nf3.", "" where there is none to show. */
export function answer({ reply }: Check): string {
  return reply.length ? texts.teaching.answer(lettered(reply.slice(0, TOLD).join(" "))) : "";
}

const number = (points: number): string => (texts.common.number(points, points < 10 ? 1 : 0));
