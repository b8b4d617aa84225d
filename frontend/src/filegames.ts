/** The games of a file, as a list. */

import { inBand } from "./bands";
import { SHOWN, showList, type Wanted } from "./gamelist";
import { type Facts, split } from "./splitting";
import type { App, GameFile } from "./state";
import { texts } from "./texts";

export async function showGames(app: App): Promise<void> {
  const { file, kind } = app.game;
  if (!file) return;
  const facts = await factsOf(file);
  const titles = file.games.map(({ title }) => title.toLowerCase());
  const fits = ({ search, ...wanted }: Wanted): ((at: number) => boolean) => {
    const words = search.toLowerCase().split(/\s+/).filter(Boolean);
    return (at) => words.every((word) => titles[at]!.includes(word)) && (!facts || has(facts[at]!, wanted));
  };
  showList({
    title: texts.gamelist.title,
    kind,
    current: file.index,
    unlisted: file.count - file.games.length,
    filters: facts !== null,
    find: (wanted) => {
      const fitting = fits(wanted);
      const found = file.games.filter((_, at) => fitting(at));
      return Promise.resolve({ count: found.length, of: file.count, games: found.slice(0, SHOWN) });
    },
    open: (index) => void app.openOfFile(index).catch((error: unknown) => app.notOpened(error)),
  });
}

/** What is known of each game that is listed; null where this side finds other games in the file than the server. */
async function factsOf(file: GameFile): Promise<Facts[] | null> {
  const parts = file.parts ?? (await split(file.text));
  return parts.length === file.count ? parts.map(({ facts }) => facts) : null;
}

function has({ result, year, rating }: Facts, wanted: Omit<Wanted, "search">): boolean {
  if (wanted.result && wanted.result !== result) return false;
  if (wanted.first_year && year < wanted.first_year) return false;
  if (wanted.last_year && (!year || year > wanted.last_year)) return false;
  return inBand(rating, wanted.rating);
}
