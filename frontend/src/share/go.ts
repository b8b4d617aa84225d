/** Lines of Go: not on this page yet. */

import { type Counted, Refused, type Thinking, type Written } from "../server/api";
import type { Line, Result } from "../app/state";
import { texts } from "../texts";
import type { Ask } from "./local";
import type { Shared } from "./network";

const not = (): never => {
  throw new Refused(texts.share.notHere);
};

export const nodesOf = (_: Line): Written[] => not();
export const after = (_: Line, __: string): Written => not();
export const count = (_: Line, __: string[]): Counted => not();
export const deadBy = (_: Line, __: Shared, ___: Ask): Promise<string[]> => not();
export const analyse = (_: object, __: Shared, ___: Ask, ____: (result: Result) => void, _____?: AbortSignal): Promise<void> => not();
export const think = (_: object, __: Shared, ___: Ask, ____: (thinking: Thinking) => void, _____?: AbortSignal): Promise<string | null> => not();
