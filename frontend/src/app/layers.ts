/** Which coloured layers a network has, and what they are called. */

import type { Layer } from "../board/overlays";
import type { Network } from "./state";
import { texts } from "../texts";

export const NAMES: Record<Layer, string> = {
  none: texts.layers.none,
  origin: texts.layers.origin,
  target: texts.layers.target,
  owners: texts.layers.owners,
  matters: texts.layers.matters,
  planes: texts.layers.planes,
  liberties: texts.layers.liberties,
  chains: texts.layers.chains,
};

const PIECES: Record<string, string> = texts.layers.pieces;

export interface Plane {
  name: string;
  values: number[];
}

/** What this network can show of its game, in the order of the page. */
export function layersOf(network: Network | undefined, kind: "chess" | "go"): Layer[] {
  const answers = network?.answers ?? [];
  const moves = answers.includes("moves");
  const planes: Layer[] = network?.planes ? ["planes"] : [];
  const matters: Layer[] = network?.single ? [] : ["matters"];
  if (kind === "chess") return ["none", ...(moves ? (["origin", "target"] as const) : []), ...matters, ...planes];
  return [
    "none",
    ...(answers.includes("owners") ? (["owners"] as const) : []),
    ...matters,
    ...planes,
    "liberties",
    "chains",
  ];
}

/** How far the network's planes tell liberties apart: 3 where they say "3 or more"; Infinity where they say nothing. */
export function grainOf(planes: Plane[]): number {
  const grains = planes.map(({ name }) => /with (\d+) or more liberties/.exec(name)?.[1]).filter(Boolean);
  return grains.length ? Number(grains[0]) : Infinity;
}

/** "knight" of a FEN's square, "piece" where there is none. */
export function pieceAt(fen: string, square: string): string {
  const row = (fen.split(" ")[0] ?? "").split("/")[8 - Number(square[1])] ?? "";
  const squares = row.replace(/\d/g, (digit) => ".".repeat(Number(digit)));
  return PIECES[(squares["abcdefgh".indexOf(square[0] ?? "")] ?? "").toLowerCase()] ?? texts.layers.piece;
}
