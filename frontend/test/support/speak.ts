/** The page's texts in a language, without a browser. */

import { vi } from "vitest";

import { loadTexts } from "../../src/texts";

export async function speak(language: string): Promise<void> {
  vi.stubGlobal("navigator", { languages: [language] });
  vi.stubGlobal("document", { documentElement: {} });
  await loadTexts();
}
