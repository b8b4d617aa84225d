/** Copying where the browser gives no clipboard: by the selection, else by hand. */

import { expect, test, vi } from "vitest";

import { copySelected, handWords } from "../src/app/byhand";
import { onlyHere } from "../src/library/copy";
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

test.each([
  ["127.0.0.1", true],
  ["localhost", true],
  ["[::1]", true],
  ["192.168.1.5", false],
  ["localhost.example.org", false],
])("whether only this computer can open an address: %s", (host, only) => {
  expect(onlyHere(host)).toBe(only);
});
