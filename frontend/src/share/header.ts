/** The head of the page of one network: its name, and what there is to know of it. */

import { button, el } from "../ui/elements";
import type { Head } from "../ui/header";
import { iconButton } from "../ui/icons";
import { fromServer, texts } from "../texts";
import type { Shared } from "./network";

export function headOf(shared: Shared): Head {
  const { game, sizes = [], name } = shared.network;
  const about = aboutDialog(shared);
  const button = iconButton("info", texts.share.about, () => about.showModal());
  return { name, games: game === "chess" ? ["chess"] : [...sizes].sort((a, b) => b - a), buttons: [button] };
}

/** Network, card, license and source. */
function aboutDialog({ network, license, source, card }: Shared): HTMLDialogElement {
  const dialog = el(
    "dialog",
    { class: "dialog about-dialog", "aria-labelledby": "about-title" },
    el("h2", { id: "about-title" }, network.name),
    el("p", {}, fromServer(network.title)),
    el("p", { class: "note" }, texts.share.privacy),
    el("dl", {}, el("dt", {}, texts.share.system), el("dd", {}, network.system), el("dt", {}, texts.share.license), el("dd", {}, license), el("dt", {}, texts.share.source), el("dd", {}, source)),
    card ? el("details", {}, el("summary", {}, texts.share.card), el("pre", { tabindex: 0 }, card)) : "",
    el("div", { class: "dialog-buttons" }, button(texts.common.close, () => dialog.close(), { class: "primary" })),
  );
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  document.body.append(dialog);
  return dialog;
}
