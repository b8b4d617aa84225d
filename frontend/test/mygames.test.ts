/** My games: what the panel shows of a report that changes. */

import { expect, test } from "vitest";

import { mountMyGames, type Hands } from "../src/mygames/mygames";
import { texts } from "../src/texts";
import { withDocument } from "./support/document";
import { page } from "./support/games";
import { held, Server, until } from "./support/server";

const figure = { value: 1, low: null, high: null, n: 9 };
const marks = { inaccuracies: 0, mistakes: 1, blunders: 0 };
const worst = (loss: number): object => ({ game: 1, ply: 3, side: "black", mark: "?", loss, opponent: "Bo", opponent_rank: "2k", date: "2024-05-01", phase: "opening", vertex: "Q4", stones: ["X.", ".O"] });
const report = (loss: number): object => ({ name: "Kim", games: 3, moves: 9, won: 1, drawn: 0, lost: 2, rank: "3k", loss: figure, first_choice: figure, usual_first_choice: figure, lately: null, marks, worst: [worst(loss)] });
const pace = { quick: 1, thorough: 2 };
const task = { state: "done", error: "", player: "Kim", games: 3, game: "go", done: 3, left_out: 0, of: 3, network: "gohuman", quick: true, stage: "quick", begun: true };
const games = (game: "chess" | "go", opened: number): object => ({ opened, game, name: `my.${game}`, games: 3, variants: 0, players: [{ name: "Kim", games: 3 }] });

test("a deeper report shows its own losses of the same mistakes, and is offered while its games are the opened ones", async () => {
  const { host, element, look } = withDocument();
  let now: Record<string, unknown> = { given: [], least: 20, most: 200, games: games("go", 1), pace, engine_pace: pace, revision: 1, analysis: { ...task, opened: 1 }, training: null, download: null };
  let loss = 4;
  const server = new Server().on("mygames", () => now).on("mygames/report", () => ({ revision: now.revision, report: report(loss), game: "go", stage: "quick" })).on("opinion/programs", () => ({ programs: [] }));
  const hands = {} as Hands;
  await mountMyGames(element, page(), hands);
  expect(host.textContent).toContain(texts.mygo.lost("4.0"));
  expect(host.button(texts.mygames.deepen).hidden).toBe(false);
  now = { ...now, revision: 2 };
  loss = 6;
  look();
  await until(() => server.of("mygames/report").length === 2);
  await until(() => host.textContent.includes(texts.mygo.lost("6.0")));
  now = { ...now, games: games("chess", 2) };
  look();
  await until(() => host.textContent.includes("my.chess"));
  expect(host.button(texts.mygames.deepen).hidden).toBe(true);
});

test("a training that is stopped says so at once, and afterwards that its network can already play", async () => {
  const { host, element, look } = withDocument();
  const training = { state: "running", error: "", player: "Kim", games: 3, run: "runs/personal-kim", number: 1, iteration: 3, iterations: 9 };
  let now: Record<string, unknown> = { given: [], least: 20, most: 200, games: games("chess", 1), pace, engine_pace: pace, revision: 1, analysis: null, training, download: null };
  const stop = held<object>();
  const server = new Server().on("mygames", () => now).on("mygames/stop", () => stop.answer).on("mygames/report", () => ({ revision: 1, report: {}, game: "chess", stage: "" })).on("opinion/programs", () => ({ programs: [] }));
  await mountMyGames(element, page(), {} as Hands);
  const halt = host.button(texts.mygames.halt);
  expect([halt.hidden, halt.disabled]).toEqual([false, false]);
  halt.click();
  expect(host.textContent).toContain(texts.mygames.halting);
  expect(halt.disabled).toBe(true);
  stop.give(now);
  await until(() => server.of("mygames/stop").length === 1);
  // It still writes what it has learned.
  look();
  expect([halt.disabled, host.textContent.includes(texts.mygames.halting)]).toEqual([true, true]);
  now = { ...now, training: { ...training, state: "stopped", kept: "nothing" } };
  look();
  await until(() => host.textContent.includes(texts.mygames.learnStoppedReady("runs/personal-kim")));
  expect([halt.disabled, halt.hidden, host.button(texts.mygames.play).hidden]).toEqual([false, true, false]);
  now = { ...now, training: { ...training, state: "stopped", kept: null } };
  look();
  await until(() => host.textContent.includes(texts.mygames.learnStopped));
  expect(host.button(texts.mygames.play).hidden).toBe(true);
});
