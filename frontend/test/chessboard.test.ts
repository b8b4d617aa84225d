/** Clicks on a chess board: what is said of a move that the rules forbid. */

import { beforeAll, expect, test, vi } from "vitest";

import { NOTHING, type Sides } from "../src/board/overlays";
import { texts } from "../src/texts";
import { type Fake, withDocument } from "./support/document";
import { chess } from "./support/games";

const ground = {
  config: null as { events: { select: (key: string) => void } } | null,
  state: { selected: undefined as string | undefined, movable: {} as object, pieces: new Map([["a1", { color: "white" }], ["e5", { color: "black" }]]), premovable: {}, drawable: { shapes: [] }, dom: { bounds: null } },
};

let ChessView: typeof import("../src/board/chessboard").ChessView;

// All test files share their modules, so another file may have loaded the board with the real chessground. This file has
// a copy of its own.
beforeAll(async () => {
  vi.doMock("@lichess-org/chessground", () => ({
    Chessground: (_: unknown, config: typeof ground.config) => {
      ground.config = config;
      const set = ({ movable }: { movable: object }) => (ground.state.movable = movable);
      return { state: ground.state, set, setAutoShapes: () => undefined, setShapes: () => undefined, cancelPremove: () => undefined };
    },
  }));
  const own = "../src/board/chessboard?own";
  ({ ChessView } = (await import(own)) as typeof import("../src/board/chessboard"));
  vi.doUnmock("@lichess-org/chessground");
});

/** What is said where a square is clicked after another one was chosen. */
function said(chosen: string | undefined, square: string, sides: Sides = "both"): unknown[] {
  const { host, element } = withDocument();
  vi.stubGlobal("window", { ...window, matchMedia: () => ({ matches: true }) });
  const refuse = vi.fn();
  const view = new ChessView(element, { play: vi.fn(), picked: vi.fn(), drawn: vi.fn(), say: vi.fn(), refuse, ahead: vi.fn() });
  const node = { ...chess().nodes.values().next().value!, dests: { e2: ["e3", "e4"] }, fen: "8/8/8/8/8/8/8/8 w - - 0 1" };
  view.draw(node, NOTHING, { flipped: false, coordinates: true, sides, small: false, early: null } as never);
  ground.state.selected = chosen;
  (host.firstElementChild as Fake).hear("pointerdown");
  ground.state.selected = undefined;
  ground.config!.events.select(square);
  return refuse.mock.calls.flat();
}

test("a click on a square that the chosen piece may not go to is refused with a reason", () => {
  for (const square of ["e6", "e5"]) expect(said("e2", square)).toEqual([texts.chessboard.illegal("e2", square)]);
  expect(said("a1", "a8")).toEqual([texts.chessboard.illegal("a1", "a8")]);
});

test("a move, another own piece, the same square and a click without a choice are not refused", () => {
  for (const square of ["e4", "a1", "e2"]) expect(said("e2", square)).toEqual([]);
  expect(said(undefined, "e6")).toEqual([]);
  expect(said("e2", "e6", "b")).toEqual([]);
});
