import { mergeConfig, type Plugin } from "vite";
import board from "./vite.config.ts";

const DESCRIPTION = "Play against a neural network and see its likely moves, in your browser.";
/** The board's server sends its policy itself; a static host sends none. */
const POLICY =
  "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data:; connect-src 'self'; worker-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'";

/** The board's page with another head and another script. */
function oneNetwork(): Plugin {
  const changes: [RegExp, string][] = [
    [/(<meta name="description" content=")[^"]*"/, `$1${DESCRIPTION}"`],
    [/(?=<title>)/, `<meta http-equiv="Content-Security-Policy" content="${POLICY}" />\n    `],
    [/"\/src\/begin\.ts"/, '"/src/share/begin.ts"'],
  ];
  return {
    name: "one-network",
    transformIndexHtml: {
      order: "pre",
      handler: (page) =>
        changes.reduce((text, [what, by]) => {
          if (!what.test(text)) throw new Error(`index.html no longer has ${String(what)}`);
          return text.replace(what, by);
        }, page),
    },
  };
}

/** The page of one network without a server: into the folder `share` beside the board's page. */
export default mergeConfig(board, {
  publicDir: "share",
  plugins: [oneNetwork()],
  build: {
    outDir: `${process.env.KIBITZ_PAGE ?? "../src/kibitz/web/page"}/share`,
  },
  worker: { format: "es" },
});
