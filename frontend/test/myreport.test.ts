/** The report about own games: what it says of chess and of Go, and the mistakes that it lists. */

import { beforeEach, expect, test, vi } from "vitest";

import type { ChessWorst, Figure, GoReport, GoWorst, Part, Report } from "../src/mygames/myanswers";
import { lostBefore, mistakeList, moveOf, placeOf, ReportView } from "../src/mygames/myreport";
import { joined } from "../src/mygames/myupload";
import { cardOf, positionOf } from "../src/mygames/schedule";
import { texts } from "../src/texts";
import { type Fake, withDocument } from "./support/document";

const figure = (value: number | null, low: number | null = null, high: number | null = null): Figure & { games: number } => ({ value, low, high, n: 10, games: 12 });
const marks = { inaccuracies: 0, mistakes: 1, blunders: 0 };
const part = (label: string, value: number): Part => ({ label, moves: 9, games: 3, loss: figure(value), marks });
const all = { moves: 90, games: 3, name: "Kim", won: 1, drawn: 0, lost: 2, marks };
const GO: GoReport = {
  ...all,
  loss: figure(1.25, 1, 1.5),
  rank: "3k",
  usual_loss: figure(1),
  difference: figure(0.25, 0.1, 0.4),
  first_choice: figure(0.4),
  usual_first_choice: figure(0.45),
  by_area: { corner: part("in the corners", 1.5), centre: part("in the center", 1) },
  by_board: { "19": part("on 19×19", 1.25) },
  lately: null,
  worst: [],
};
const CHESS: Report = { ...all, loss: figure(0.0425), rating: 1500, by_phase: { opening: part("the opening", 0.04) }, by_opening: [], stands_out: [], worst: [] };
const GO_MISTAKE: GoWorst = { game: 1, ply: 38, side: "white", mark: "??", loss: 12.34, opponent: "Bo", opponent_rank: "2k", date: "2024-05-01", phase: "opening", vertex: "Q4", stones: ["X.", ".O"], reason: null };
const CHESS_MISTAKE: ChessWorst = { game: 1, ply: 24, move_number: 12, side: "black", san: "Qxe4", mark: "?", loss: 0.31, opponent: "Bo", opponent_rating: 1400, date: "?", phase: "opening", time_left: null, fen: "8/8/8/8/8/8/8/8 b - - 0 12", reason: null };

let view: ReportView;
let element: Fake;

beforeEach(() => {
  withDocument();
  view = new ReportView();
  element = view.element as unknown as Fake;
});

function rows(): string[] {
  return element.all("tr").map((each) => each.textContent);
}

test("losses are points in Go, and percentage points in chess", () => {
  view.draw(GO);
  expect(element.all("p").find((each) => each.getAttribute("class") === "my-big")!.textContent).toBe("1.25");
  expect(element.textContent).toContain(texts.mygo.sameRank("1.00", "0.25 more (interval +0.10 to +0.40)"));
  expect(element.textContent).toContain(texts.mygo.ranked("3k"));
  view.draw(CHESS);
  expect(element.all("p").find((each) => each.getAttribute("class") === "my-big")!.textContent).toBe("4.3");
  expect(element.textContent).toContain(texts.myreport.rated(1500));
  expect(texts.myreport.rated(1500)).toBe(", median rating 1500");
  expect(element.textContent).not.toContain(texts.mygo.lostAMove);
});

test("each game has its own divisions, and a single board is none", () => {
  view.draw(GO);
  expect(element.all("option").map((each) => each.textContent)).toEqual([texts.mygo.area]);
  expect(rows().some((each) => each.startsWith("in the corners"))).toBe(true);
  view.draw({ ...GO, by_board: { ...GO.by_board, "9": part("on 9×9", 0.5) } });
  expect(element.all("option").map((each) => each.textContent)).toEqual([texts.mygo.area, texts.mygo.board]);
  view.draw(CHESS);
  expect(element.all("option").map((each) => each.textContent)).toEqual([texts.myanswers.phase]);
});

test.each([
  [GO, texts.mygo.quick],
  [CHESS, texts.myreport.quick],
])("a quick report says what it lacks", (report, words) => {
  view.draw({ ...report, provisional: true });
  expect(element.textContent).toContain(words);
  view.draw(report);
  expect(element.textContent).not.toContain(words);
});

test("what was lost has the name of the network's value", () => {
  view.draw(CHESS, true);
  expect(element.textContent).toContain("expected score lost per move");
  expect(element.textContent).not.toMatch(/win probability/i);
  view.draw(CHESS, false);
  expect(element.textContent).toContain("win probability lost per move");
  expect(element.textContent).not.toMatch(/expected score/i);
});

test("the legend names intervals only where there are some", () => {
  const key = (): string => element.all("ul").find((each) => each.getAttribute("class") === "legend")!.textContent;
  view.draw(CHESS);
  expect(key()).toBe("your loss per move");
  view.draw({ ...CHESS, by_phase: { opening: { ...part("the opening", 0.04), loss: figure(0.04, 0.03, 0.05) } } });
  expect(key()).toBe("your loss per move, with the 95% confidence interval");
});

test.each([
  [figure(-0.5, -0.9, -0.1), texts.mygo.better],
  [figure(0.5, 0.1, 0.9), texts.mygo.worse],
  [figure(0.5, -0.1, 1.1), texts.mygo.unsure],
  [figure(0.5), texts.mygo.unsure],
])("what changed since the last month", (change, words) => {
  const whole = { loss: figure(1), earlier_loss: { ...figure(1.5), games: 30 }, change };
  view.draw({ ...GO, lately: { ...whole, since: "2024-05-02", changed: [{ ...whole, label: "in the corners" }] } });
  expect(element.textContent).toContain(texts.mygo.lately("2024-05-02"));
  expect(element.textContent).toContain(words);
  expect(element.textContent).toContain(texts.mygo.latelyGames(12, 30));
  expect(rows().filter((each) => each.includes("1.00") && each.includes("1.50"))).toHaveLength(2);
  view.draw({ ...GO, lately: null });
  expect(element.textContent).not.toContain(words);
});

test("mistakes are named as each game names them", () => {
  expect(moveOf(GO_MISTAKE)).toBe("White 38 Q4");
  expect(moveOf(CHESS_MISTAKE)).toBe("12… Qxe4");
  expect(lostBefore(GO_MISTAKE)).toContain("12.3 points");
  expect(lostBefore(CHESS_MISTAKE)).toContain("31 percentage points");
  expect(lostBefore({ ...CHESS_MISTAKE, loss: 0.2996, mark: "?" })).toContain("29.96 percentage points");
  const open = vi.fn();
  const list = mistakeList([GO_MISTAKE, CHESS_MISTAKE], open) as unknown as Fake;
  expect(list.all("button").map((each) => each.textContent)).toEqual(["White 38 Q4??against Bo (2k)−12.3 points", "12… Qxe4?against Bo (1400)−31%"]);
});

test("a mistake has its reason, if one is proven", () => {
  const reason = { why: { en: "Loses the queen: Rxe4.", de: "Verliert die Dame: Txe4." } };
  const list = mistakeList([{ ...CHESS_MISTAKE, reason }, CHESS_MISTAKE], vi.fn()) as unknown as Fake;
  expect(list.all("button").map((each) => each.textContent)).toEqual(["12… Qxe4?against Bo (1400)−31%Loses the queen: Rxe4.", "12… Qxe4?against Bo (1400)−31%"]);
});

test("a mistake of Go has the card of its position on the board", () => {
  expect(cardOf("Kim", placeOf(GO_MISTAKE))).toBe(cardOf("kim", positionOf({ stones: "B..W", turn: "w" })));
  expect(placeOf(GO_MISTAKE)).not.toBe(placeOf({ ...GO_MISTAKE, side: "black" }));
  expect(placeOf(CHESS_MISTAKE)).toBe(positionOf(CHESS_MISTAKE));
});

test("several files of one format become one; others cannot", async () => {
  const file = (name: string, text = name): File => new File([text], name);
  expect(joined([file("a.sgf.gz")]).name).toBe("a.sgf.gz");
  const both = joined([file("a.sgf", "(;)"), file("B.SGF", "(;W[])")]);
  expect(both.name).toBe("2.sgf");
  expect(await both.text()).toBe("(;)\n(;W[])\n");
  for (const names of [["a.sgf", "b.pgn"], ["a.sgf.gz", "b.sgf.gz"], ["a.sgf", "b"]]) expect(() => joined(names.map((name) => file(name)))).toThrow(texts.mygo.mixed);
});
