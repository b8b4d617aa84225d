import { defineConfig, type Plugin } from "vite";

/** chessground writes a style attribute into its pictures, which the page's content security policy refuses. The page's own style sheet says the same. */
function noInlineStyle(): Plugin {
  const written = "style: 'color-scheme:light only',";
  return {
    name: "no-inline-style",
    transform(code, id) {
      if (!id.endsWith("/chessground/dist/wrap.js")) return null;
      if (!code.includes(written)) this.error("chessground no longer writes the style that is taken out here");
      return { code: code.replace(written, ""), map: null };
    },
  };
}

export default defineConfig({
  base: "./",
  plugins: [noInlineStyle()],
  build: {
    outDir: process.env.KIBITZ_PAGE ?? "../src/kibitz/web/page",
    emptyOutDir: true,
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
});
