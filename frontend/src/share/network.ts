/** The shared network: what its folder says of it. */

import type { Network } from "../app/state";

/** The file network.json, as `kibitz export --web` writes it. */
export interface Shared {
  network: Network;
  /** The file of the network, its length in bytes and its SHA-256 in hexadecimal. */
  file: { name: string; bytes: number; sha256: string };
  /** Columns of the state after the position's own, with what is told where nothing is known. */
  side_inputs: [string, number][];
  /** Of Go: what the network is told of rules that count the area, or the territory. */
  rules?: { area: number; territory: number };
  /** Of a network of Go with rank inputs: how it imitates players, see kibitz.play.go.imitation. handicap: the input of no stones. */
  ranks?: { temperature: number; inputs: Record<string, number>; rules: { area: number; territory: number }; handicap: number } | null;
  license: string;
  /** The program that made the page, with its version. */
  source: string;
  /** The model card, as text. */
  card: string;
}

/** An answer of the network for one position: each output as a list of numbers. */
export type Answer = Record<string, Float32Array>;

/** What is asked of the worker, and what it answers. */
export interface Asked {
  id: number;
  codes: Uint8Array;
  state: Uint8Array;
  rows: number;
}

export type Told = { id: number; outputs: Answer } | { id: number; problem: string } | { opened: true } | { failed: string };
