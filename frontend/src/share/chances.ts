/** Chances: rounded as the server rounds them, and drawn from. */

export const rounded = (value: number): number => Math.round(value * 1e4) / 1e4;

/** The place of one of these, drawn by p^(1/temperature); at 0 the first of the largest. */
export function drawn(chances: readonly number[], temperature: number, random = Math.random): number {
  const most = Math.max(...chances);
  if (temperature <= 0) return chances.indexOf(most);
  const weights = chances.map((p) => (p > 0 ? (p / most) ** (1 / temperature) : 0));
  let left = random() * weights.reduce((sum, each) => sum + each, 0);
  const found = weights.findIndex((each) => (left -= each) < 0);
  return found < 0 ? chances.indexOf(most) : found;
}
