import { beforeEach, expect, test } from "vitest";

import { History } from "../src/app/history";

let history: History;
let done: string[];

beforeEach(() => {
  history = new History();
  done = [];
});

function make(words: string, joined = false): void {
  const at = done.length;
  done.push(words);
  history.add({ words, undo: () => void (done = done.slice(0, at)), redo: () => void done.push(words), before: at, after: at + 1, joined });
}

test("changes are taken back one after the other, and made again", () => {
  make("one");
  make("two");
  expect(history.undo()?.words).toBe("two");
  expect(done).toEqual(["one"]);
  expect(history.next?.words).toBe("two");
  expect(history.undo()?.words).toBe("one");
  expect(history.undo()).toBeUndefined();
  expect(done).toEqual([]);
  expect(history.redo()?.words).toBe("one");
  expect(history.redo()?.words).toBe("two");
  expect(history.redo()).toBeUndefined();
  expect(done).toEqual(["one", "two"]);
});

test("a new change takes the place of those that were taken back", () => {
  make("one");
  history.undo();
  make("other");
  expect(history.redo()).toBeUndefined();
  expect(done).toEqual(["other"]);
});

test("what belongs together goes and comes together", () => {
  make("one");
  make("move");
  make("main line", true);
  expect(history.undo()?.words).toBe("move");
  expect(done).toEqual(["one"]);
  expect(history.redo()?.words).toBe("main line");
  expect(done).toEqual(["one", "move", "main line"]);
});

test("what was taken back by its maker is forgotten", () => {
  make("one");
  make("tried");
  history.drop();
  expect(history.last?.words).toBe("one");
  history.undo();
  expect(done).toEqual([]);
});
