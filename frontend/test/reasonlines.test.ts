/** Lines within the reasons of mistakes: where they are in a text, and from which position they begin. */

import { expect, test } from "vitest";

import { reasonElements, reasonParts, type ReasonLine } from "../src/analysis/reasonlines";
import { chess, find } from "./support/games";
import { type Fake, withDocument } from "./support/document";

const after = (written: string, moves = written.split(" ")): ReasonLine => ({ instead: false, moves, written });
const instead = (written: string, moves = written.split(" ")): ReasonLine => ({ instead: true, moves, written });

test("a text is cut into words and its lines", () => {
  const [loses, better] = [after("Nxd4 Qxd4 Bxd4"), instead("d4")];
  expect(reasonParts("Loses a pawn: Nxd4 Qxd4 Bxd4. d4 avoids the loss.", [loses, better])).toEqual(["Loses a pawn: ", loses, ". ", better, " avoids the loss."]);
  expect(reasonParts("Gives stalemate.", [])).toEqual(["Gives stalemate."]);
});

test("a point or a square that has the name of a move is not taken for it", () => {
  const avoids = instead("Q10");
  expect(reasonParts("White loses 20 points in the area around Q10. Q10 avoids this.", [avoids])).toEqual(["White loses 20 points in the area around Q10. ", avoids, " avoids this."]);
  const pawn = after("d5");
  expect(reasonParts("Loses the knight on d5 to d5.", [pawn])).toEqual(["Loses the knight on d5 to ", pawn, "."]);
});

test("a move within a longer one is not taken for it, and what is not in the text leaves it whole", () => {
  for (const text of ["Loses a pawn: Nxd4.", "Promotes: d4=Q.", "Mate: d4#."]) expect(reasonParts(text, [after("d4")])).toEqual([text]);
  expect(reasonParts("d4 is best.", [after("d4")])).toHaveLength(2);
  expect(reasonParts("d4 is best.", [after("d4", ["d2d4", "d7d5"])])).toEqual(["d4 is best."]);
});

test("a line begins after the move that was played or instead of it, and each move has all before it", () => {
  withDocument();
  const game = chess("e4 e5 Qh5 Ke7");
  const node = find(game, "Ke7");
  const made = reasonElements("Allows mate: Qxe5#. Nc6 Bc4 avoids it.", [after("Qxe5#", ["h5e5"]), instead("Nc6 Bc4", ["b8c6", "f1c4"])], node) as unknown as (string | Fake)[];
  const lines = made.filter((each) => typeof each !== "string");
  expect(lines.map((each) => [each.textContent, each.getAttribute("data-from"), each.getAttribute("data-focus-line")])).toEqual([
    ["Qxe5#", String(node.id), "h5e5"],
    ["Nc6 Bc4", String(node.parent), "b8c6 f1c4"],
  ]);
  expect(lines[1]!.all("span").map((each) => each.getAttribute("data-line"))).toEqual(["b8c6", "b8c6 f1c4"]);
  expect(made.map((each) => (typeof each === "string" ? each : each.textContent)).join("")).toBe("Allows mate: Qxe5#. Nc6 Bc4 avoids it.");
});
