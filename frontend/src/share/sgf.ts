/** Games of Go as text: not on this page yet. */

import { type Loaded, Refused } from "../server/api";
import type { Line } from "../app/state";
import { texts } from "../texts";
import type { SavedNode } from "./saved";

const not = (): never => {
  throw new Refused(texts.share.notHere);
};

export const loadSgf = (_: string, __: number): Loaded => not();
export const saveSgf = (_: SavedNode[], __: Record<string, string>, ___: Line): string => not();
