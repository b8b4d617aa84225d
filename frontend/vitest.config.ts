import { defineConfig } from "vitest/config";

/** Tests of the page's logic: in Node, without a document. What is drawn is tested in a browser (tests/browser). */
export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    setupFiles: ["test/support/setup.ts"],
    environment: "node",
    restoreMocks: true,
    unstubGlobals: true,
    isolate: false,
  },
});
