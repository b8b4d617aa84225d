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

/** Sections of the words that only modules of the board use. */
const OF_THE_BOARD = ["compare", "curve", "explorer", "myanswers", "mygames", "mygo", "myreport", "myupload", "openings", "puzzles", "ratings", "snapshots", "summary", "training"];
const WORDS = /[/\\]texts[/\\](en|de|fr)\.ts$/;

/** Leaves these sections out, so that the first screen loads faster. A module that uses one of them fails the build. */
function withoutTheBoard(): Plugin {
  return {
    name: "without-the-board",
    enforce: "pre",
    transform(text, id) {
      if (!WORDS.test(id)) return null;
      const code = OF_THE_BOARD.reduce((left, section) => {
        const found = new RegExp(`^  ${section}: \\{\n[^]*?^  \\},$`, "m");
        if (!found.test(left)) throw new Error(`${id} no longer has the section ${section}`);
        return left.replace(found, `  ${section}: {},`);
      }, text);
      return { code, map: null };
    },
    generateBundle(_, bundle) {
      // Of the words, not of something else that has a property of that name.
      for (const chunk of Object.values(bundle)) {
        if (chunk.type !== "chunk" || Object.keys(chunk.modules).some((id) => WORDS.test(id))) continue;
        const used = OF_THE_BOARD.find((section) => new RegExp(`(?<![\\w$.])(?!this\\b)[\\w$]+\\.${section}(?![\\w?,)])`).test(chunk.code));
        if (used) throw new Error(`${chunk.fileName} uses the words ${used}: take them out of OF_THE_BOARD`);
      }
    },
  };
}

/** The page of one network without a server: into the folder `share` beside the board's page. */
export default mergeConfig(board, {
  publicDir: "share",
  plugins: [oneNetwork(), withoutTheBoard()],
  build: {
    outDir: `${process.env.KIBITZ_PAGE ?? "../src/kibitz/web/page"}/share`,
  },
  worker: { format: "es" },
});
