/** The games of a file, as a list. */

import { inBand } from "../app/bands";
import { type Listed, SHOWN, showList, type Wanted } from "./gamelist";
import { type Facts, split } from "../app/splitting";
import type { App, GameFile } from "../app/state";
import { texts } from "../texts";

export async function showGames(app: App): Promise<void> {
  const { file, kind } = app.game;
  if (!file) return;
  const facts = await factsOf(file);
  const find = finder(file.games, facts);
  showList({
    title: texts.gamelist.title,
    kind,
    current: file.index,
    unlisted: file.count - file.games.length,
    filters: facts !== null,
    find: (wanted) => {
      const found = find(wanted);
      return Promise.resolve({ count: found.length, of: file.count, games: found.slice(0, SHOWN) });
    },
    open: (index) => void app.openOfFile(index).catch((error: unknown) => app.notOpened(error)),
  });
}

/** Looks for games by the words of their titles, and by what is known of each where it is. */
export function finder(games: Listed[], facts: Facts[] | null): (wanted: Wanted) => Listed[] {
  const titles = games.map(({ title }) => title.toLowerCase());
  return ({ search, ...wanted }) => {
    const words = search.toLowerCase().split(/\s+/).filter(Boolean);
    return games.filter((_, at) => words.every((word) => titles[at]!.includes(word)) && (!facts || has(facts[at]!, wanted)));
  };
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
