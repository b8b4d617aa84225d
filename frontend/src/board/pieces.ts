/** Sets of pieces that are drawn here: paths on a square of 45, as a style sheet. */

type Role = "king" | "queen" | "rook" | "bishop" | "knight" | "pawn";
/** The outline, and lines within it. */
type Shape = readonly [string, string];

const DISC = "M22.5 5a17.5 17.5 0 1 0 0 35 17.5 17.5 0 0 0 0-35z";

/** Drawn for kibitz, under its licence. */
const SETS: Record<string, Record<Role, Shape>> = {
  plain: {
    king: ["M20.5 4.5h4v3.2h3.3v4h-3.3v4.6c8-4.8 14.5-1.2 14.5 5.4 0 5.2-4.6 8.3-5.5 13.3v4.5h-22V35C10.6 30 6 26.9 6 21.7c0-6.6 6.5-10.2 14.5-5.4v-4.6h-3.3v-4h3.3z", "M11.5 34.5h22M22.5 17v10"],
    queen: ["M7 13.5a2.7 2.7 0 1 1 2.6 0l6 9 1.3-12.3a2.7 2.7 0 1 1 2.5 0L22.5 21l3.1-10.8a2.7 2.7 0 1 1 2.5 0l1.3 12.3 6-9a2.7 2.7 0 1 1 2.6 0L34 34v5.5H11V34z", "M11 34h23M12.5 28.5h20"],
    rook: ["M10.5 7.5h6v4h3.5v-4h5v4h3.5v-4h6v8.5l-4 3.5v12l4 4v4h-24v-4l4-4v-12l-4-3.5z", "M14.5 19.5h16M14.5 31.5h16"],
    bishop: ["M20.3 9.8a3 3 0 1 1 4.4 0c5.3 3.8 8.3 8 8.3 12.7 0 3.4-1.5 5.7-3.7 7.3l1.2 4.2h4v5.5H10.5V34h4l1.2-4.2C13.5 28.2 12 25.9 12 22.5c0-4.7 3-8.9 8.3-12.7z", "M15.7 29.8h13.6M22.5 15.5v8M18.5 19.5h8"],
    knight: ["M13.5 39.5c0-7.5 2-11.5 6.8-15.5-2.3.3-4.3 1.3-6 3.3-1.3 1.6-3.8 2.2-5 .7l-1.8-2.5 6.5-12.3V7l4.8 3.3C28.5 9.5 36 17 36 30v9.5z", "M16.5 16.5v.1M27 14.5c4 3.5 5.5 9 5.5 15.5"],
    pawn: ["M22.5 9a6 6 0 0 0-4 10.4c-2.8 1.5-4.5 4-4.7 6.6h4c0 3.7-1.8 6.3-5.8 9v4.5h21V35c-4-2.7-5.8-5.3-5.8-9h4c-.2-2.6-1.9-5.1-4.7-6.6A6 6 0 0 0 22.5 9z", "M12 34.5h21"],
  },
  letters: {
    king: [DISC, "M17 14v17M28.5 14L17 23.5M20.5 21l8.5 10"],
    queen: [DISC, "M22.5 14a7.5 8.5 0 1 0 0 17 7.5 8.5 0 0 0 0-17zM24.5 27l5 5"],
    rook: [DISC, "M17 31V14h6.5a4.7 4.7 0 0 1 0 9.5H17M22.5 23.5L29 31"],
    bishop: [DISC, "M17.5 14v17h6.5a4.4 4.4 0 0 0 0-9h-6.5M23.5 22a4 4 0 0 0 0-8h-6"],
    knight: [DISC, "M17 31V14l11 17V14"],
    pawn: [DISC, "M18.5 31V14h6a5 5 0 0 1 0 10h-6"],
  },
};

const COLOURS = {
  white: { fill: "#fffefa", line: "#23262a", inside: "#23262a" },
  black: { fill: "#34373c", line: "#0c0d0e", inside: "#f1eee6" },
} as const;

function picture([outline, lines]: Shape, colour: keyof typeof COLOURS, bold: boolean): string {
  const { fill, line, inside } = COLOURS[colour];
  const paths = `<path d="${outline}" fill="${fill}" stroke="${line}" stroke-width="1.6"/><path d="${lines}" fill="none" stroke="${inside}" stroke-width="${bold ? 3.4 : 1.8}"/>`;
  const drawn = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 45 45" stroke-linejoin="round" stroke-linecap="round">${paths}</svg>`;
  return `url("data:image/svg+xml,${encodeURIComponent(drawn)}")`;
}

/** The rules of all sets; each holds where the page's root names it. */
export function pieceSheet(): CSSStyleSheet {
  const rules = Object.entries(SETS).flatMap(([set, shapes]) =>
    (Object.keys(COLOURS) as (keyof typeof COLOURS)[]).flatMap((colour) =>
      (Object.keys(shapes) as Role[]).map((role) => `:root[data-pieces="${set}"] .cg-wrap piece.${role}.${colour}{background-image:${picture(shapes[role], colour, set === "letters")}}`),
    ),
  );
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(rules.join("\n"));
  return sheet;
}
