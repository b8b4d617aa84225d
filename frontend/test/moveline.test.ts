/** The row of moves below the board of a phone. */

import { expect, test, vi } from "vitest";

import type { Mistakes } from "../src/analysis/mistakes";
import { mountMoveLine } from "../src/analysis/moveline";
import { type Fake, withDocument } from "./support/document";
import { chess, network, page } from "./support/games";

interface Row {
  app: ReturnType<typeof page>;
  host: Fake & { scrollLeft?: number; clientWidth?: number };
  move: (at: number) => Fake & { tabIndex?: number; offsetLeft?: number; offsetWidth?: number };
  resized: () => void;
  marks: Set<number>;
}

function row(): Row {
  const { host, element } = withDocument();
  let resized = (): void => undefined;
  vi.stubGlobal(
    "ResizeObserver",
    class {
      constructor(told: () => void) {
        resized = told;
      }
      observe(): void {}
    },
  );
  const marks = new Set<number>();
  const app = page(chess("e4 e5 Nf3 Nc6"), [network("human", { game: "chess" })]);
  mountMoveLine(element, app, { sign: (id: number) => (marks.has(id) ? { name: "blunder", text: "??" } : undefined) } as unknown as Mistakes);
  return { app, host, marks, move: (at) => host.all("button")[at]!, resized: () => resized() };
}

test("the row that is seen again shows the move that is looked at", () => {
  const { app, host, move, resized } = row();
  host.clientWidth = 0;
  app.go(app.path[3]!);
  // Another tab hid it; now it has a place again.
  Object.assign(host, { clientWidth: 100, scrollLeft: 0 });
  Object.assign(move(2), { offsetLeft: 300, offsetWidth: 40 });
  resized();
  expect([move(2).getAttribute("aria-current"), host.scrollLeft]).toEqual(["true", 270]);
});

test("a mark that comes in leaves the keyboard on its move, and the row has a name", () => {
  const { app, host, marks, move } = row();
  const focused: string[] = [];
  expect([host.getAttribute("role"), Boolean(host.getAttribute("aria-label"))]).toEqual(["group", true]);
  Object.assign(document, { activeElement: move(1) });
  const { createElement } = document;
  Object.assign(document, {
    createElement: (tag: string) => {
      const made = createElement(tag);
      return Object.assign(made, { focus: () => focused.push(made.textContent ?? "") });
    },
  });
  marks.add(app.path[2]!);
  app.emit("judgements");
  expect(focused).toEqual(["e5??"]);
});
