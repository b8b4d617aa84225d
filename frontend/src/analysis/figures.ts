/** Figures of a training as the chosen language writes them. */

import { decimals } from "../texts";

/** A loss with three significant digits: "0.693", in German "0,693". */
export const lossWords = (value: number): string => decimals(String(Number(value.toPrecision(3))));

/** A number of iterations in little room: "800", "1.5k", "2M". */
export function short(value: number): string {
  if (value >= 1e6) return decimals(`${+(value / 1e6).toFixed(2)}M`);
  return value >= 1000 ? decimals(`${+(value / 1000).toFixed(2)}k`) : decimals(String(value));
}
