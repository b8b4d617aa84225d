/** What is asked again after it failed: once the server is back, but not without an end. */

import { expect, test } from "vitest";

import { mountCompare, usualSecond } from "../src/analysis/compare";
import { Latest } from "../src/server/asking";
import { withDocument } from "./support/document";
import { go, network, page } from "./support/games";
import { Server, until } from "./support/server";

test("Compare asks again for values that failed, once the connection is back", async () => {
  let broken = true;
  const answer = (what: object | object[]) => () => (broken ? Promise.reject(new TypeError("no connection")) : what);
  const networks = ["a", "b"].map((name) => network(name, { game: "go", snapshots: 1 }));
  const server = new Server()
    .on("analyse", ({ from, to }) => [{ total: 1 }, ...Array.from({ length: to - from + 1 }, (_, at) => ({ ply: from + at, black: 0.5, score: 0 })), { done: true }])
    .on("value", answer([{ chance: 0.75, source: "search", score: 3, done: true }]))
    .on("networks", () => ({ networks, given: [] }));
  const { element, host } = withDocument();
  const app = page(go("E5"), networks);
  mountCompare(element, app);
  await until(() => server.of("value").length >= 2 && !app.connected);
  broken = false;
  await until(() => app.connected && host.textContent.includes("75%"));
});

test("a question that fails is asked again, but not without an end", async () => {
  const latest = new Latest(0);
  let failing = true;
  const ask = (): Promise<void> =>
    new Promise((done) => latest.ask(() => (failing ? Promise.reject(new Error("no")) : Promise.resolve(1)), () => done(), () => done()));
  const tries = async (): Promise<number> => {
    let count = 0;
    for (await ask(); latest.again(); count += 1) await ask();
    return count;
  };
  expect(latest.again()).toBe(false);
  expect([await tries(), await tries()]).toEqual([3, 0]);
  failing = false;
  await ask();
  expect(latest.again()).toBe(false);
  failing = true;
  expect(await tries()).toBe(3);
});

test("a person's network is compared with the one that it was made from", () => {
  const mine = network("mine", { person: "Ana", base: "human" });
  const here = [mine, network("winner"), network("human")];
  expect([usualSecond(here, "mine"), usualSecond(here, "winner"), usualSecond(here.slice(0, 2), "mine"), usualSecond([mine], "mine")]).toEqual(["human", "mine", "winner", "mine"]);
});
