/** A position of a tree that is written as text. */

import type { Node } from "../app/state";

export type SavedNode = Pick<Node, "id" | "parent" | "move"> & Partial<Pick<Node, "comment" | "nags" | "commands" | "shapes" | "props" | "fen" | "stones" | "turn">>;
