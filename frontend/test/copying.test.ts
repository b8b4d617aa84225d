/** Copying where the browser gives no clipboard: by the selection, else by hand. */

import { expect, test, vi } from "vitest";

import { copySelected, handWords } from "../src/app/byhand";
import { texts } from "../src/texts";

test.each([
  [true, texts.copy.byTouch],
  [false, texts.copy.byHand],
])("without a keyboard the words name the menu of the phone: %s", (touch, words) => {
  vi.stubGlobal("matchMedia", (query: string) => ({ matches: touch && query.includes("coarse") }));
  expect(handWords()).toBe(words);
});

test.each([
  ["copied", () => true, true],
  ["refused", () => false, false],
  ["unknown", () => { throw new Error("no such command"); }, false],
])("the selection is copied if the browser allows it: %s", (_, command, done) => {
  vi.stubGlobal("document", { execCommand: command });
  expect(copySelected()).toBe(done);
});
