/** Clicks on a board of Go that takes no move: what is said of them. */

import { expect, test, vi } from "vitest";

import { GoView } from "../src/board/goboard";
import { NOTHING, type Sides } from "../src/board/overlays";
import { goStart, openStart } from "../src/play/starting";
import type { Node } from "../src/app/state";
import { texts } from "../src/texts";
import { withDocument } from "./support/document";
import { go, page } from "./support/games";
import { held, Server } from "./support/server";

/** A board where every point but the first is legal, and what it asked of its hands. */
function board(change: Partial<Node> = {}, sides: Sides = "both", ready = true): { click: (point: number) => Promise<void>; play: ReturnType<typeof vi.fn>; refuse: ReturnType<typeof vi.fn> } {
  const { element } = withDocument();
  const [play, refuse] = [vi.fn(() => new Promise<void>(() => undefined)), vi.fn()];
  const view = new GoView(element, 9, { play, refuse, edit: () => false, say: () => undefined, ready: () => ready });
  const node = { ...go().nodes.values().next().value!, legal: `0${"1".repeat(80)}`, ...change };
  view.draw(node, NOTHING, { flipped: false, coordinates: true, sides, small: false });
  return { click: (point) => (view as unknown as { play: (point: number) => Promise<void> }).play(point), play, refuse };
}

test("only a point that the rules forbid is called illegal", async () => {
  const { click, play, refuse } = board();
  await click(0);
  expect(refuse.mock.calls).toEqual([[texts.goboard.not("A9")]]);
  // The second click comes while the first move is on its way.
  void click(1);
  await click(2);
  expect([play.mock.calls, refuse.mock.calls.length]).toEqual([[["B9"]], 1]);
});

test("a click is not a move in the other side's turn, after the end and while a game is opened", async () => {
  for (const { click, play, refuse } of [board({}, "w"), board({}, "none"), board({ end: "passes" }), board({}, "both", false)]) {
    for (const point of [0, 1]) await click(point);
    expect([play.mock.calls, refuse.mock.calls]).toEqual([[], []]);
  }
});

test("no move is made in a game that another one is about to replace", async () => {
  const opened = held<object>();
  const server = new Server().on("line", () => opened.answer);
  const app = page(go());
  const opening = openStart(app, goStart(9, 7.5, "chinese", 0));
  await vi.waitFor(() => expect(server.of("line")).toHaveLength(1));
  await expect(app.play("E5")).rejects.toThrow(texts.state.meanwhile);
  expect(server.of("move")).toEqual([]);
  const { id, parent, children, ...root } = app.node();
  opened.give({ nodes: [root] });
  expect([await opening, app.opening]).toEqual([true, false]);
});
