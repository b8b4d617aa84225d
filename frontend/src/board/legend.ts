/** What the colors of a layer over a board mean. Loaded with the first layer that is shown. */

import "./legend.css";
import { el } from "../ui/elements";
import type { Layer } from "./overlays";
import { fromServer, texts } from "../texts";

const WORDS: Partial<Record<Layer, [string, string][]>> = {
  origin: [["origin", texts.overlays.origin]],
  target: [["target", texts.overlays.target]],
};

/** What the colours of a layer mean, in words; null where nothing is coloured. */
export function legend(layer: Layer, kind: "chess" | "go", what: string): HTMLElement | null {
  const said = WORDS[layer];
  if (said) return list(said);
  if (layer === "matters") {
    const words = fromServer(what) || texts.chance.of(kind === "chess" ? texts.common.white : texts.common.black);
    return list([
      ["negative", kind === "chess" ? texts.overlays.lowers(words) : texts.overlays.lowersGo(words)],
      ["positive", texts.overlays.raises],
    ]);
  }
  if (layer === "planes") {
    const given: [string, string] = ["plane", texts.overlays.given];
    return list(what ? [given, ["negative", what]] : [given]);
  }
  if (layer === "owners") {
    return list([
      ["black", texts.overlays.blackOwns],
      ["white", texts.overlays.whiteOwns],
    ]);
  }
  if (layer === "liberties") return list([["number", texts.overlays.liberties]]);
  if (layer === "chains") return list([["link", texts.overlays.chains]]);
  return null;
}

function list(entries: readonly [string, string][]): HTMLElement {
  const items = entries.map(([key, words]) =>
    el("li", {}, el("span", { class: `key key-${key}`, "aria-hidden": "true" }), words),
  );
  return el("ul", { class: "legend" }, ...items);
}
