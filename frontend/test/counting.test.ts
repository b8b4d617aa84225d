/** A game of Go that is over: dead stones and points; and how one begins with a handicap. */

import { expect, test, vi } from "vitest";

import { found } from "../src/analysis/found";
import { Mistakes } from "../src/analysis/mistakes";
import { countOf, displayedChance } from "../src/app/displayed";
import { relabelled } from "../src/app/editing";
import { add, empty } from "../src/app/tree";
import type { App } from "../src/app/state";
import { Counter, gapOf, together } from "../src/play/gocount";
import { markedDead, territory } from "../src/play/marked";
import { GoMarks, pointsOf } from "../src/board/gomarks";
import { NOTHING, shown } from "../src/board/overlays";
import { Judging } from "../src/server/judging";
import { pointOf } from "../src/board/gopoints";
import { goStart, stonesOf } from "../src/play/starting";
import { texts } from "../src/texts";
import { withDocument } from "./support/document";
import { after, network, page } from "./support/games";
import { held, Server, until } from "./support/server";

/** Black's wall on the fifth column, White's on the sixth; a white stone is in Black's half. */
const ROWS = ["....BW...", "....BW...", "..W.BW...", "....BW...", "....BW...", "....BW...", "....BW...", "....BW...", "....BW..."];
const STONES = ROWS.join("");
const CAUGHT = pointOf("C7", 9)!;
test("stones that live or die together", () => {
  expect(together(STONES, CAUGHT, 9)).toEqual([CAUGHT]);
  const all = together(STONES, pointOf("E9", 9)!, 9);
  expect(all).toHaveLength(9);
});

/** A position as rows of ".", "B" and "W". */
const gap = (rows: string[], dead: string[] = [], seki: string[] = []): ReturnType<typeof gapOf> => gapOf(rows.join(""), { dead, seki }, rows.length);
test("an open border is found with its gap, and the neutral points of a finished game are not", () => {
  expect(gap(ROWS, ["C7"])).toBeNull();
  const open = ROWS.with(8, ".........");
  // All of Black's half and White's, and the last row. The white stone in Black's half is alive at first.
  expect(gap(open, ["C7"])).toEqual({ points: 8 * 7 + 9, at: pointOf("E1", 9) });
  // Black's stone closes one half, and White's the other. A neutral point beside both stays.
  expect(gap(open.with(8, "....B...."), ["C7"])).toEqual({ points: 8 * 3 + 4, at: pointOf("G1", 9) });
  expect(gap(open.with(8, "....B.W.."), ["C7"])).toBeNull();
  // Points between both walls are no gap.
  expect(gap([...Array<string>(8).fill("...B.W..."), ".....W..."])).toEqual({ points: 37, at: pointOf("D1", 9) });
  expect(gap(ROWS.with(4, "....B.W..").with(3, "....BWW..").with(5, "....BWW.."), ["C7"])).toBeNull();
  // White's stone lives in Black's half, as long as nobody marks it dead.
  expect(gap(ROWS.with(2, "..W.BW..."))?.points).toBe(35);
  // The liberties of a seki belong to nobody.
  expect(gap(ROWS, [], ["C7"])).toBeNull();
  expect(gap(["...", "...", "..."])).toBeNull();
});

test("handicap stones stand where they stand by custom", () => {
  expect(stonesOf(19, 2)).toEqual(["Q16", "D4"]);
  expect(stonesOf(19, 5)).toContain("K10");
  expect(stonesOf(19, 6)).not.toContain("K10");
  expect(stonesOf(9, 4).sort()).toEqual(["C3", "C7", "G3", "G7"]);
  for (const size of [9, 13, 19]) for (const stones of [2, 3, 4, 5, 6, 7, 8, 9]) expect(new Set(stonesOf(size, stones)).size).toBe(stones);
  expect(goStart(9, 5.5, "japanese", 3)).toMatchObject({ komi: 5.5, rules: "japanese", side: "w", setup: { W: [] } });
  expect(goStart(9, 7.5, "chinese", 0)).toMatchObject({ side: "b", setup: { B: [], W: [] } });
});

test("points of an SGF, single or a rectangle", () => {
  expect(pointsOf(["aa", "ii"], 9)).toEqual([0, 80]);
  expect(pointsOf(["aa:bb"], 9)).toEqual([0, 1, 9, 10]);
  expect(pointsOf(["zz", "", "a", "aa:z"], 9)).toEqual([]);
  expect(pointsOf(["jj"], 9)).toEqual([]);
});

/** A game that ends with two passes, in the main line and in a variation of it; its result is that of a file. */
function twice(RE: string): { app: App; counter: Counter; ends: number[] } {
  const game = empty("go", 9);
  game.headers.RE = RE;
  const passed = (parent: number, end: string | null): number => add(game, parent, after("go", game.nodes.get(parent)!, "pass", { end, stones: STONES })).id;
  const stone = add(game, game.root, after("go", game.nodes.get(game.root)!, "A1", { stones: STONES })).id;
  const ends = [passed(passed(stone, null), "passes"), passed(passed(game.root, null), "passes")];
  withDocument();
  const app = page(game);
  return { app, counter: new Counter(app), ends };
}
const points = (black: number, white: number, dead: string[] = []): object => ({ black, white, dead, seki: [], owners: [] });

test("an answer about dead stones belongs to the position that asked", async () => {
  const later = held<object>();
  const server = new Server().on("count", ({ line, dead }) => (dead ? later.answer : line.moves.length === 3 ? points(40, 41) : points(10, 71)));
  const { app, counter, ends } = twice("B+R");
  for (const end of [ends[1]!, ends[0]!]) {
    app.go(end);
    await until(() => !counter.element.hidden);
  }
  expect(counter.use(CAUGHT)).toBe(true);
  app.go(ends[1]!);
  later.give(points(45, 36, ["C7"]));
  await until(() => app.game.headers.RE !== "B+R");
  expect(app.game.headers.RE).toBe("B+9");
  expect(server.of("count")).toHaveLength(3);
});

test("two stones that are clicked before the first answer are both dead, and a late first answer is dropped", async () => {
  const waiting = [held<object>(), held<object>()];
  let asked = 0;
  const server = new Server().on("count", ({ dead }) => (dead ? waiting[asked++]!.answer : points(40, 41)));
  const { app, counter, ends } = twice("");
  app.go(ends[0]!);
  await until(() => !counter.element.hidden);
  counter.use(CAUGHT);
  counter.use(pointOf("F1", 9)!);
  const [, first, second] = server.of("count").map(({ dead }) => dead);
  expect(first).toEqual(["C7"]);
  expect(second).toHaveLength(10);
  waiting[1]!.give(points(81, 0, second));
  await until(() => app.game.headers.RE === "B+81");
  waiting[0]!.give(points(45, 36, first));
  await new Promise((soon) => setTimeout(soon, 20));
  expect(app.game.headers.RE).toBe("B+81");
});

test("a count in the middle of the game is not its result", async () => {
  new Server().on("count", ({ line }) => (line.moves.length === 3 ? points(40, 41) : points(45, 36)));
  const { app, counter, ends } = twice("");
  const { game } = app;
  const onward = add(game, ends[0]!, after("go", game.nodes.get(ends[0]!)!, "B1", { stones: STONES })).id;
  const end = add(game, onward, after("go", game.nodes.get(onward)!, "pass", { end: "passes", stones: STONES })).id;
  for (const each of [end, ends[0]!]) {
    app.go(each);
    await until(() => !counter.element.hidden);
  }
  expect(game.headers.RE).toBe("B+9");
});

test("what a person says of dead stones is the count everywhere: of the network, in the record, on the graph", async () => {
  const owners = [0, 1];
  new Server().on("count", ({ dead }) => ({ ...points(dead ? 45 : 9, 36, dead), owners }));
  const { app, counter, ends } = twice("");
  app.networks = [network("gohuman", { game: "go" })];
  app.network = "gohuman";
  // As the server says it: the count without the person's word, from the last stone on.
  app.analyser.result = (_, id) => ({ ply: app.node(id).ply, black: 0, score: -27, owners: [], moves: [] });
  const mistakes = new Mistakes(app, new Judging(app));
  const said = (): unknown[] => app.path.slice(1).map((id) => [app.result("gohuman", id)!.score, found(app, mistakes)!.notes.get(id)!.lead, displayedChance(app, mistakes.judging, id)!.chance]);
  app.go(ends[0]!);
  await until(() => !counter.element.hidden);
  expect(said()).toEqual(Array(3).fill([-27, -27, 0]));
  const told = vi.fn();
  app.on("judgements", told);
  counter.use(CAUGHT);
  await until(() => app.game.headers.RE === "B+9");
  expect(said()).toEqual(Array(3).fill([9, 9, 1]));
  expect(app.result("gohuman", ends[0]!)!.owners).toBe(shown.count?.owners);
  expect(told).toHaveBeenCalled();
  // The position before the last stone is not counted.
  expect(app.result("gohuman", app.game.root)!.score).toBe(-27);
});

test("dead stones that nobody has marked are told as an estimate", async () => {
  new Server().on("count", ({ dead }) => points(45, 36, dead ?? ["C7", "F1"]));
  const { app, counter, ends } = twice("");
  app.go(ends[0]!);
  await until(() => !counter.element.hidden);
  expect(counter.element.textContent).toContain(texts.gocount.estimated(2));
  counter.use(CAUGHT);
  await until(() => !counter.element.textContent!.includes("an estimate"));
});

test("dead stones that a person has marked stay marked in the game and its file", async () => {
  const owners = Array.from(STONES, (_, point) => (point % 9 < 5 ? 1 : 0));
  const server = new Server().on("count", ({ dead }) => ({ ...points(45, 36, dead ?? ["F1"]), owners }));
  const { app, counter, ends } = twice("");
  app.go(ends[0]!);
  await until(() => !counter.element.hidden);
  expect(app.node().props).toBeUndefined();
  const { revision } = app.game;
  counter.use(CAUGHT);
  await until(() => Boolean(app.node().props));
  expect(app.game.revision).toBeGreaterThan(revision);
  const { TB, TW } = app.node().props!;
  expect([TB!.length, TB!.includes("cc"), TW!.length]).toEqual([36, true, 27]);
  // Reopened, the game has the same count. Its result is not written again.
  const again = new Counter(app);
  app.game.headers.RE = "B+R";
  again.use(CAUGHT);
  await until(() => !again.element.hidden);
  expect(server.of("count").at(-1)!.dead).toEqual(["C7"]);
  expect(again.element.textContent).not.toContain("an estimate");
  expect(app.game.headers.RE).toBe("B+R");
});

test("a label that is taken back leaves what is said of dead stones", async () => {
  const owners = Array.from(STONES, () => 0.5);
  const server = new Server().on("count", ({ dead }) => ({ ...points(dead ? 45 : 9, 36, dead), owners }));
  const { app, counter, ends } = twice("");
  app.go(ends[0]!);
  await until(() => !counter.element.hidden);
  relabelled(app, ends[0]!, { LB: ["aa:A"] });
  counter.use(CAUGHT);
  await until(() => Boolean(app.node().props?.TB));
  app.undo();
  expect(app.node().props).toEqual({ TB: ["cc"], TW: [""] });
  app.redo();
  expect(app.node().props).toEqual({ LB: ["aa:A"], TB: ["cc"], TW: [""] });
  relabelled(app, ends[0]!, { ...app.node().props, LB: ["aa:B"] });
  (counter.element.querySelector("button") as HTMLButtonElement).click();
  await until(() => !app.node().props?.TB);
  expect(server.of("count").at(-1)!.dead).toBeUndefined();
  app.undo();
  expect(app.node().props).toEqual({ LB: ["aa:A"] });
  app.undo();
  expect(app.node().props).toBeUndefined();
});

test("dead stones of a file count before anybody looks at the end", async () => {
  const server = new Server().on("count", ({ dead }) => points(dead ? 45 : 9, 36, dead));
  const { app, ends } = twice("B+9");
  app.node(ends[0]!).props = { TB: ["aa:di"], TW: ["ga:ii"] };
  const told = vi.fn();
  app.on("judgements", told);
  const counter = new Counter(app);
  await until(() => told.mock.calls.length > 0);
  expect([app.cursor, counter.element.hidden]).toEqual([app.game.root, true]);
  expect(server.of("count").map(({ line, dead }) => [line.moves.length, dead])).toEqual([[3, ["C7"]]]);
  expect(countOf(app, ends[0]!)?.score).toBe(9);
  expect([app.game.headers.RE, app.game.changed]).toEqual(["B+9", false]);
});

/** A finished game: a white stone on the upper border is dead, and the point beside it is nobody's. */
const SHARED = ["....BWWWW", "...BB.W..", "..W.B.W..", "...BBWW..", "....BW...", "....BW...", "....BW...", "....BW...", "....BW..."].join("");
test("another click takes back exactly what the last click on a stone changed", async () => {
  const server = new Server().on("count", ({ dead }) => points(45, 36, dead ?? ["F9"]));
  const { app, counter, ends } = twice("");
  for (const id of ends) app.node(id).stones = SHARED.replace("....BWWWW", "....BW.WW");
  app.go(ends[0]!);
  await until(() => !counter.element.hidden);
  const last = (): string[] => [...server.of("count").at(-1)!.dead!].sort();
  const click = (name: string): string[] => {
    counter.use(pointOf(name, 9)!);
    return last();
  };
  expect(click("F9")).toEqual([]);
  expect(click("F9")).toEqual(["F9"]);
  expect(click("C7")).toEqual(["C7", "F9"]);
  const all = click("H9");
  expect(all).toEqual(expect.arrayContaining(["F1", "F9", "G8"]));
  expect(click("F1")).toEqual(["C7", "F9"]);
  expect(click("F9")).toEqual(["C7"]);
});

test("one button takes back all that a person has marked", async () => {
  const owners = Array.from(STONES, () => 0.5);
  const server = new Server().on("count", ({ dead }) => ({ ...points(dead ? 45 : 9, 36, dead ?? ["F1"]), owners }));
  const { app, counter, ends } = twice("");
  app.node(ends[0]!).props = { C: ["the end"] };
  const again = (): { hidden: boolean; click: () => void } => counter.element.querySelector("button") as never;
  app.go(ends[0]!);
  await until(() => !counter.element.hidden);
  expect(again().hidden).toBe(true);
  counter.use(CAUGHT);
  await until(() => app.game.headers.RE === "B+9");
  expect(again().hidden).toBe(false);
  again().click();
  await until(() => app.game.headers.RE === "W+27");
  expect(server.of("count").at(-1)!.dead).toBeUndefined();
  expect(app.node().props).toEqual({ C: ["the end"] });
  expect(again().hidden).toBe(true);
  expect(counter.element.textContent).toContain(texts.gocount.estimated(1));
});

test("a dead stone beside points that count for nobody is marked, and stays so in the file", () => {
  const owners = Array.from(STONES, () => 0.5);
  const props = territory(STONES, { owners, dead: ["C7", "E1"] }, 9);
  expect(props).toEqual({ TB: ["cc"], TW: ["ei"] });
  expect(markedDead({ stones: STONES, props: territory(STONES, { owners, dead: ["C7"] }, 9) }, 9)).toEqual(["C7"]);
  withDocument();
  const marks = new GoMarks(9);
  marks.draw(STONES, { ...NOTHING, owners, dead: ["C7"] }, false);
  const paths = Array.from(marks.above.children, (each) => each.getAttribute("d")).filter(Boolean);
  expect(paths).toEqual(["M180 180h40v40h-40z"]);
});

test("dead stones of a file: its territory has their points, or only those beside them", () => {
  const dead = (props?: Record<string, string[]>): string[] | undefined => markedDead({ stones: STONES, ...(props && { props }) }, 9);
  expect(dead()).toBeUndefined();
  expect(dead({ C: ["the end"] })).toBeUndefined();
  expect(dead({ TB: ["aa:di"], TW: ["ga:ii"] })).toEqual(["C7"]);
  expect(dead({ TB: ["aa", "dc"] })).toEqual(["C7"]);
  expect(dead({ TB: [""], TW: [""] })).toEqual([]);
});

test("the count says that the border is open", async () => {
  new Server().on("count", ({ dead }) => (dead ? points(45, 36, ["C7"]) : points(9, 45)));
  const { app, counter, ends } = twice("");
  app.go(ends[0]!);
  await until(() => !counter.element.hidden);
  expect(counter.element.textContent).toContain("35 neutral points");
  counter.use(CAUGHT);
  await until(() => app.game.headers.RE === "B+9");
  expect(counter.element.textContent).not.toContain("neutral");
});
