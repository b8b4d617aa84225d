/** What the page says under the board, and to those who hear it. */

import { beforeEach, expect, test, vi } from "vitest";

import { likelyTitle } from "../src/analysis/network";
import { tellsTurn } from "../src/play/players";
import type { Judging } from "../src/server/judging";
import { mountSpoken, mountStatus, showPreparing } from "../src/ui/status";
import type { App } from "../src/app/state";
import { Fake, withDocument } from "./support/document";
import { chess, find, go, network, page } from "./support/games";

let app: App;
let host: Fake;

beforeEach(() => {
  vi.useFakeTimers();
  withDocument();
  app = page(chess("e4 e5 Nf3"), [network("human", { rated: true })]);
  host = new Fake("p");
  return () => vi.useRealTimers();
});

test.each(["cursor", "game"])("a move that cannot be made is said until the next step", (event) => {
  mountStatus(host as unknown as HTMLElement, app);
  const next = (): void => (event === "game" ? app.open(chess("d4")) : app.go(find(app.game, "e5").id));
  app.refuse("Ke4 is illegal.");
  expect([host.textContent, host.classes.has("problem")]).toEqual(["Ke4 is illegal.", true]);
  // At once, also where it has just been said.
  next();
  expect([host.textContent, host.classes.has("problem")]).toEqual(["", false]);
});

test("other words about a step stay while they are fresh", () => {
  mountStatus(host as unknown as HTMLElement, app);
  app.refuse("Ke4 is illegal.");
  app.say("Before 2. Nf3.");
  app.go(find(app.game, "e5").id);
  expect(host.textContent).toBe("Before 2. Nf3.");
  app.say("The file has gone.", true);
  app.open(chess("d4"));
  expect(host.textContent).toBe("The file has gone.");
});

test("the progress of the preparation is shown again after other words", async () => {
  app = page(chess("e4 e5 Nf3"), []);
  const states = [1, 2, 3, 4].map((done) => ({ is_running: true, done, total: 9, left: done === 3 ? 20 : null }));
  app.api.preparing = () => Promise.resolve(states.shift() ?? { is_running: false, done: 9, total: 9, left: null });
  mountStatus(host as unknown as HTMLElement, app);
  const ended = showPreparing(app);
  await vi.advanceTimersByTimeAsync(0);
  expect(host.textContent).toContain("1 of 9");
  app.say("Game opened.");
  await vi.advanceTimersByTimeAsync(1_000);
  expect(host.textContent).toBe("Game opened.");
  app.go(find(app.game, "e5").id); // takes the words away
  await vi.advanceTimersByTimeAsync(1_000);
  expect(host.textContent).toContain("3 of 9, about 20 s left");
  await vi.advanceTimersByTimeAsync(2_000);
  await ended;
  expect(host.textContent).toBe("");
});

test("the spoken value follows the value that is shown", () => {
  let chance: number | null = null;
  mountSpoken(host as unknown as HTMLElement, app, { value: () => chance } as unknown as Judging);
  const said = (value: number, event: "results" | "judgements"): string => {
    chance = value;
    app.emit(event);
    vi.advanceTimersByTime(1_000);
    return host.textContent;
  };
  app.go(find(app.game, "e4").id);
  vi.advanceTimersByTime(1_000);
  expect(host.textContent).toBe("1. e4.");
  expect(said(0.59, "results")).toBe("1. e4. White 59%.");
  expect(said(0.63, "judgements")).toBe("1. e4. White 63%.");
  // Also while values of other moves come without a pause.
  chance = 0.51;
  for (let times = 0; times < 10; times += 1) {
    app.emit("judgements");
    vi.advanceTimersByTime(200);
  }
  expect(host.textContent).toBe("1. e4. White 51%.");
});

test("whose turn it is, is told where no move shows it", () => {
  const fen = "8/8/8/8/8/4k3/8/4K2R b - - 0 1";
  const set = chess("Kd3");
  Object.assign(set.start, { fen });
  expect(tellsTurn(page(set))).toBe(true);
  const moved = page(set);
  moved.go(find(set, "Kd3").id);
  expect(tellsTurn(moved)).toBe(false);
  expect(tellsTurn(page(chess("e4")))).toBe(false);
  const usual = chess("e4");
  Object.assign(usual.start, { fen: "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1" });
  expect(tellsTurn(page(usual))).toBe(false);
  expect(tellsTurn(page(go("E5")))).toBe(false);
  const handicap = go("E5");
  Object.assign(handicap.nodes.get(handicap.root)!, { turn: "w", stones: `B${".".repeat(80)}` });
  expect(tellsTurn(page(handicap))).toBe(true);
});

test("the list of likely moves names the rating", () => {
  const human = network("human", { rated: true });
  const at = (rating: number): string => likelyTitle(human, { ply: 0, rating });
  expect([1500, 1800, 1150, 850, 2100].map(at)).toEqual(["Likely moves of a 1500", "Likely moves of an 1800", "Likely moves of an 1150", "Likely moves of an 850", "Likely moves of a 2100"]);
  expect(likelyTitle(human, { ply: 0 })).toBe("Likely moves (rating unknown)");
  for (const other of [network("chessnet"), network("me", { rated: true, person: "Ana" }), network("gohuman", { rated: true, game: "go" }), undefined]) {
    expect(likelyTitle(other, { ply: 0 })).toBe("Likely moves");
  }
});
