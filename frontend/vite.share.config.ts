import { mergeConfig } from "vite";
import board from "./vite.config.ts";

/** The page of one network without a server: into the folder `share` beside the board's page. */
export default mergeConfig(board, {
  root: "share",
  build: {
    outDir: `${process.env.KIBITZ_PAGE ?? "../../src/kibitz/web/page"}/share`,
  },
  worker: { format: "es" },
});
