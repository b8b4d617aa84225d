import { defineConfig } from "vitest/config";

/** Tests of the page's logic: in Node, without a document. What is drawn is tested in a browser (tests/browser). */
export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    setupFiles: ["test/support/setup.ts"],
    environment: "node",
    // As long as that of all other waits (tests/support/patience.py): it only ends a test that has failed.
    testTimeout: 600_000,
    restoreMocks: true,
    unstubGlobals: true,
    isolate: false,
  },
});
