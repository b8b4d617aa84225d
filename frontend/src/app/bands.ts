/** Ranges of the players' ratings, of Go their ranks, to choose from. */

import { rankOf } from "./splitting";
import { texts } from "../texts";

export const BANDS = {
  chess: ["", "-1200", "1200-1600", "1600-2000", "2000-2200", "2200-2400", "2400-2600", "2600-"],
  go: ["", "-10k", "9k-1k", "1d-4d", "5d-10d", "1p-"],
};

/** "1600–2000", "2600 and more". */
export function banded(band: string): string {
  if (!band) return texts.gamelist.any;
  const [low, high] = band.split("-");
  if (!low) return texts.gamelist.upTo(high);
  return high ? `${low}–${high}` : texts.gamelist.andMore(low ?? "");
}

/** Whether a rating, of Go a rank as a number, is in a band; one that is not known is in none but "". */
export function inBand(rating: number | null, band: string): boolean {
  if (!band) return true;
  const [low, high] = band.split("-").map((end) => (end ? (rankOf(end) ?? Number(end)) : null));
  return rating !== null && rating >= (low ?? -Infinity) && rating <= (high ?? Infinity);
}
