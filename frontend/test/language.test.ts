/** Numbers and moves as the chosen language writes them. */

import { afterEach, expect, test, vi } from "vitest";

import { lossWords, short } from "../src/analysis/figures";
import { scored } from "../src/analysis/opinion";
import { evaluated } from "../src/app/notes";
import type { Node } from "../src/app/state";
import { face } from "../src/play/clock";
import { speak } from "./support/speak";

afterEach(async () => {
  await speak("en");
  vi.unstubAllGlobals();
});

const line = { moves: [], san: [] };

test("scores have the decimal sign of the language", async () => {
  const read = { commands: { eval: "-0.38" } } as unknown as Node;
  const said = (): string[] => [scored("chess", { ...line, score: 0.09 }), scored("go", { ...line, score: -4.3 }), face(9.4), lossWords(0.69312), short(1500)];
  await speak("en");
  expect(said()).toEqual(["+0.09", "W+4.3", "0:09.4", "0.693", "1.5k"]);
  expect(evaluated(read)).toContain("−0.38");
  for (const language of ["de", "fr"]) {
    await speak(language);
    expect(said()).toEqual(["+0,09", "W+4,3", "0:09,4", "0,693", "1,5k"]);
    expect(evaluated(read)).toContain("−0,38");
  }
});
