/** My openings and their trainer: what comes late or not at all, and what somebody does meanwhile. */

import { expect, test, vi } from "vitest";

import * as confirming from "../src/ui/confirming";
import { OpeningsView, whereLeft } from "../src/mygames/openings";
import type { OpeningChecks } from "../src/mygames/openingchecks";
import { keepOpenings, type Openings, type Position, Repertoire } from "../src/mygames/repertoire";
import { answerList, Trainer } from "../src/mygames/trainer";
import type { Network } from "../src/app/state";
import type { MyGames } from "../src/mygames/myanswers";
import { texts } from "../src/texts";
import { type Fake, withDocument } from "./support/document";
import { after, chess, network, page } from "./support/games";
import { held, Server, until } from "./support/server";

const START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
const FENS: Record<string, string> = { e4: "after e4 b - - 0 1", e5: "after e5 w - - 0 2", Nf3: "after Nf3 b - - 0 2" };
const played = (san: string, games: number, to = "") => ({ move: san, san, games, score: 0.5, to });
const position = (fen: string, line: string[], own: boolean, ...moves: ReturnType<typeof played>[]): Position => ({
  side: "white", own, fen, line, opening: null, played: moves, games: moves.reduce((sum, { games }) => sum + games, 0),
});
const FIRST = position(START, [], true, played("e4", 8, FENS.e4), played("d4", 3));
const REPLY = position(FENS.e4!, ["e4"], false, played("e5", 6, FENS.e5), played("c5", 2));
const SECOND = position(FENS.e5!, ["e4", "e5"], true, played("Nf3", 6, FENS.Nf3));
const OPENINGS: Openings = { player: "Ana", games: 12, rating: 1500, positions: [FIRST, REPLY, SECOND], recent: 0, left: [], openings: [] };
const CHECKS = { flaw: () => null, find: () => Promise.resolve(null), judge: () => Promise.resolve(undefined), network: () => undefined };
const HUMAN: Network = network("human", { rated: true });

/** A server that knows the moves of these openings, and no rules. */
function rules(): Server {
  const next = (from: { ply: number; turn: "w" | "b" }, move: string) => after("chess", from, move, { fen: FENS[move] ?? `after ${move} w - - 0 9` });
  const root = { ply: 0, move: null, san: "", turn: "w" as const, end: null, fen: START };
  const nodes = (moves: string[]) => moves.reduce((made, move) => [...made, next(made.at(-1)!, move)], [root] as ReturnType<typeof next>[]);
  return new Server()
    .on("line", ({ line }) => ({ nodes: nodes(line.moves) }))
    .on("move", ({ line, move }) => ({ node: nodes([...line.moves, move]).at(-1)! }))
    .on("ratings", () => ({ ratings: [1500], moves: [], risk: null }));
}

async function practice(checks: Partial<OpeningChecks> = {}, targets = [FIRST, SECOND]) {
  const { look } = withDocument();
  const server = rules();
  const app = page(chess(), [HUMAN]);
  const trainer = new Trainer(app, { ...CHECKS, ...checks } as unknown as OpeningChecks, () => "human", () => undefined);
  await trainer.start(Repertoire.of(OPENINGS), targets);
  return { app, look, server, trainer, element: trainer.element as unknown as Fake };
}

test("another game that is opened while a move comes ends the practice, and its moves are kept", async () => {
  const { app, server, trainer, element } = await practice();
  const { answer, give } = held<object>();
  server.on("move", () => answer);
  element.button(texts.openings.reveal).click();
  await until(() => server.of("move").length === 1);
  const other = chess("d4 d5");
  app.open(other);
  give({ node: after("chess", { ply: 0, turn: "w" }, "e4") });
  await Promise.resolve();
  expect(trainer.running).toBe(false);
  expect(app.game).toBe(other);
  expect(app.hints).toBe(true);
  expect(app.isTried?.(other.root)).toBe(false);
});

test("whoever looks elsewhere after a right move still gets the answers to that move", async () => {
  const { app, server, element } = await practice();
  const { answer, give } = held<object>();
  server.on("ratings", () => answer);
  await app.play("e4");
  app.go(app.game.root);
  give({ ratings: [1500], moves: [], risk: null });
  await until(() => server.of("ratings").length === 1);
  expect(server.of("ratings")[0]!.line.moves).toEqual(["e4"]);
  // The opponent's move is played after it, too.
  await until(() => app.line().moves.join(" ") === "e4 e5");
  await until(() => element.textContent.includes("The opponent plays e5."));
});

test("the practice ends where another panel is looked at", async () => {
  const { app, look, trainer, element } = await practice();
  look();
  expect(trainer.running).toBe(true);
  expect(app.hints).toBe(false);
  element.offsetParent = null;
  look();
  expect(trainer.running).toBe(false);
  expect(app.hints).toBe(true);
});

test("another own move is not wrong because no search came", async () => {
  const flaw = { loss: 0.2, best: { move: "c4", san: "c4" } };
  const { app, element } = await practice({ flaw: () => flaw });
  await app.play("d4");
  await until(() => element.textContent.includes(texts.openings.also("d4", "e4")));
  const { app: other, element: its } = await practice({ flaw: () => flaw, judge: () => Promise.resolve({ loss: 0.3, best: flaw.best }) });
  await other.play("d4");
  await until(() => its.textContent.includes(texts.openings.notBetter("d4")));
});

test("what was said of a move stands before the next question, not after it", async () => {
  const { app, element } = await practice();
  element.button(texts.openings.reveal).click();
  await until(() => app.line().moves.join(" ") === "e4 e5" && element.textContent.includes("The opponent plays e5."));
  const [said, asked] = [texts.openings.solution("e4", 8, 11), texts.openings.replied(2, 2, "e5", "White")].map((words) => element.textContent.indexOf(words));
  expect(said).toBeGreaterThanOrEqual(0);
  expect(asked).toBeGreaterThan(said!);
});

test("answers are listed in the order of the share that stands there", () => {
  withDocument();
  const reply = (san: string, p: number | null, games: number) => ({ move: san, san, p, games, weight: 0.5 });
  const [, list] = answerList([reply("d6", 0.15, 4), reply("Bc5", null, 9), reply("Nc6", 0.23, 0)], 800) as unknown as Fake[];
  expect(list!.all("b").map((each) => each.textContent)).toEqual(["Nc6", "d6", "Bc5"]);
});

test("what follows a usual move is not asked after the search has rejected that move", async () => {
  const flaw = { loss: 0.2, best: { move: "c4", san: "c4" } };
  const { element, trainer } = await practice({ flaw: ({ fen }) => (fen === START ? flaw : null) });
  expect(element.textContent).toContain("Position 1 of 1.");
  element.button(texts.openings.reveal).click();
  await until(() => !element.button(texts.openings.finish).hidden);
  element.button(texts.openings.finish).click();
  await until(() => !trainer.running);
});

// The view

const GAMES: MyGames["games"] = { opened: 1, game: "chess", name: "mine.pgn", games: 12, variants: 0, players: [{ name: "Ana", games: 12 }] };

function view() {
  withDocument();
  const server = rules();
  const made = new OpeningsView(page(chess(), [HUMAN]), () => ["Ana"], () => undefined, () => undefined);
  return { server, view: made, element: made.element as unknown as Fake, app: made["app"] };
}

test("a usual move that loses much is listed with the moves before it", async () => {
  const { server, view: openings, element } = view();
  openings["checks"].flaw = ({ fen }) => (fen === FENS.e5 ? { loss: 0.2, best: { move: "c4", san: "c4" } } : null);
  server.on("mygames/repertoire", () => OPENINGS).on("mygames", () => ({ reading: null }));
  openings.refresh(GAMES);
  await until(() => element.textContent.includes("better: c4"));
  expect(element.textContent).toContain("1. e4 e5");
});

test("openings that could not be read are asked for again when somebody comes back", async () => {
  keepOpenings(Repertoire.of({ ...OPENINGS, games: 7 }));
  const { server, view: openings, element } = view();
  server.on("mygames/repertoire", () => ({ error: "busy" }));
  openings.refresh(GAMES);
  expect(element.textContent).toContain(texts.openings.reading);
  await until(() => element.textContent.includes("busy"));
  // Those of the last visit are not said to be of these games, and the reason stays.
  openings.refresh(GAMES);
  expect(element.textContent).toContain("busy");
  expect(element.textContent).not.toContain("From 7 games");
  expect(server.of("mygames/repertoire")).toHaveLength(1);
  server.on("mygames/repertoire", () => OPENINGS);
  element.hidden = true;
  openings.refresh(GAMES);
  element.hidden = false;
  openings.refresh(GAMES);
  await until(() => element.textContent.includes("From 12 games"));
  expect(element.textContent).not.toContain("busy");
});

test("the openings are listed with their results, and a click shows one on the board", async () => {
  const { server, view: openings, element, app } = view();
  const names = ["Italian Game", ...Array.from({ length: 9 }, (_, at) => `Rare Opening ${at}`)];
  const made = names.map((name, at) => ({ side: "white" as const, eco: "C50", name, games: 20 - at, score: at ? null : 0.55, line: ["e4", "e5"] }));
  const sicilian = { ...made[0]!, side: "black" as const, name: "Sicilian Defense", games: 7, score: 0.5, line: ["e4"] };
  server.on("mygames/repertoire", () => ({ ...OPENINGS, openings: [...made, sicilian] }));
  const lost = { label: "", name: "Italian Game", side: "white" as const, moves: 300, games: 20, loss: { value: 0.043, low: null, high: null, n: 300 }, marks: { inaccuracies: 0, mistakes: 0, blunders: 0 } };
  openings.refresh(GAMES);
  await until(() => element.textContent.includes("Italian Game"));
  const row = (name: string) => element.all("tr").find((each) => each.textContent.startsWith(name))?.textContent;
  expect(row("Italian Game")).toBe("Italian Game2055%");
  expect(row("Sicilian Defense")).toBe("Sicilian Defense750%");
  expect(row("Rare Opening 8")).toBeUndefined();
  element.button(texts.openings.all(11)).click();
  expect(row("Rare Opening 8")).toBe("Rare Opening 811–");
  // Once the games are analyzed, with what a move lost.
  openings.refresh(GAMES, [lost]);
  expect([row("Italian Game"), row("Sicilian Defense")]).toEqual(["Italian Game2055%4.3", "Sicilian Defense750%–"]);
  // It says of how many games this is, and in which unit.
  expect(element.textContent).toContain(texts.openings.lostAbout);
  expect(element.all("td").map((each) => each.getAttribute("title"))).toContain(texts.openings.lostIn(20, 20));
  element.button("Sicilian Defense").click();
  await until(() => app.line().moves.join() === "e4");
  expect(app.flipped).toBe(true);
});

test("an opening of one color lists only the games of this color, until another game is opened", async () => {
  const { server, view: openings, element, app } = view();
  // The person plays e4 as White, and meets it as Black: one position, once with each color.
  const asBlack = { side: "black" as const, eco: "B00", name: "King’s Pawn", games: 7, score: 0.5, line: [] };
  server.on("mygames/repertoire", () => ({ ...OPENINGS, openings: [asBlack, { ...asBlack, side: "white" as const, name: "First move" }] }));
  openings.refresh(GAMES);
  await until(() => element.textContent.includes("First move"));
  server.on("line", () => ({ nodes: [{ ply: 0, move: null, san: "", turn: "w", end: null, fen: START }] }));
  const own = (): boolean => element.textContent.includes(texts.openings.yours);
  expect(own()).toBe(true);
  element.button("King’s Pawn").click();
  await until(() => app.flipped);
  expect(own()).toBe(false);
  element.button("First move").click();
  await until(() => !app.flipped);
  expect(own()).toBe(true);
  element.button("King’s Pawn").click();
  await until(() => app.flipped);
  app.open(chess());
  expect(own()).toBe(true);
});

test("the board stays as the practice shows it, and a game that is read comes with White at the bottom", async () => {
  const { app, trainer, server } = await practice();
  // The board was turned for something else before.
  trainer.stop();
  app.set({ flipped: true });
  await trainer.start(Repertoire.of(OPENINGS), [FIRST]);
  expect(app.flipped).toBe(false);
  trainer.stop();
  expect(app.flipped).toBe(false);
  app.set({ flipped: true });
  server.on("load", () => ({ game: "chess", headers: {}, line: { game: "chess", moves: [] }, tree: [{ id: 0, parent: null, ply: 0, move: null, san: "", turn: "w", end: null }], games: [], count: 1, problems: [] }));
  await app.load("1. e4 *");
  expect(app.flipped).toBe(false);
  // The games of one file stay as they are seen.
  app.set({ flipped: true });
  await app.load("1. e4 *");
  expect(app.flipped).toBe(true);
});

test("what has not changed is not drawn again: the keyboard stays where it is", async () => {
  const { server, view: openings, element, app } = view();
  server.on("mygames/repertoire", () => OPENINGS);
  openings.refresh(GAMES);
  await until(() => element.textContent.includes("From 12 games"));
  const before = element.button("e4");
  openings.refresh(GAMES);
  expect(element.button("e4")).toBe(before);
  await app.play("e4");
  expect(element.button("e5").textContent).toBe("e5");
});

test("of two positions that are clicked the later one is shown, also if it comes first", async () => {
  const { server, view: openings, app } = view();
  const answers = [held<object>(), held<object>()];
  server.on("line", () => answers[server.of("line").length - 1]!.answer);
  const nodes = (move: string) => ({ nodes: [{ ply: 0, move: null, san: "", turn: "w", end: null, fen: START }, after("chess", { ply: 0, turn: "w" }, move)] });
  const first = openings["open"]({ ...REPLY, line: ["e4"] });
  const second = openings["open"]({ ...REPLY, line: ["d4"], side: "black" });
  await until(() => server.of("line").length === 2);
  answers[1]!.give(nodes("d4"));
  await second;
  answers[0]!.give(nodes("e4"));
  await first;
  expect(app.flipped).toBe(true);
  expect(app.line().moves).toEqual(["d4"]);
});

test("a deviation is found by its opening, else by the moves before it", () => {
  const before = ["a3", "e5", "h3", "d5", "c3", "Nf6", "d3"];
  expect(whereLeft({ opening: "Anderssen Opening", before, ply: 8 })).toBe("Anderssen Opening");
  expect(whereLeft({ opening: null, before, ply: 8 })).toBe("1… e5 2. h3 d5 3. c3 Nf6 4. d3");
  expect(whereLeft({ opening: null, before: before.slice(0, 2), ply: 3 })).toBe("1. a3 e5");
  expect(whereLeft({ opening: null, before: [], ply: 1 })).toBe("");
});

test("what was said of a move stays next to the opponent's answer, with the number of the position", async () => {
  const { app, element } = await practice();
  await app.play("e4");
  await until(() => element.textContent.includes("Position 2 of 2. The opponent plays e5."));
  expect(element.textContent).toContain(texts.openings.right("e4", 8, 11));
});

test.each([true, false])("a game on the board is replaced by the first move only after a yes: %s", async (yes) => {
  const { view: openings, app } = view();
  const asked = vi.spyOn(confirming, "confirmed").mockResolvedValue(yes);
  const other = chess("d4 d5");
  other.headers = { White: "Ana", Black: "Bo" };
  app.open(other);
  app.set({ flipped: true });
  await openings["begins"]();
  expect(asked).toHaveBeenCalledOnce();
  expect([app.game === other, app.flipped]).toEqual([!yes, !yes]);
  // An empty board is replaced at once.
  app.open(chess());
  await openings["begins"]();
  expect(asked).toHaveBeenCalledOnce();
  expect(app.flipped).toBe(false);
});
