/** The chance as a bar beside the board: White's in chess, Black's in Go. */

import { claimant, valueName, whose } from "../app/chance";
import { displayedChance } from "../app/displayed";
import { el, percent } from "../ui/elements";
import type { Judging } from "../server/judging";
import type { App } from "../app/state";
import { texts } from "../texts";

export function mountEvalBar(host: HTMLElement, app: App, judging: Judging): void {
  const fill = el("div", { class: "eval-fill" });
  const number = el("div", { class: "eval-number" });
  host.setAttribute("role", "meter");
  host.setAttribute("aria-valuemin", "0");
  host.setAttribute("aria-valuemax", "100");
  host.replaceChildren(fill, el("div", { class: "eval-middle" }), number);

  const draw = (): void => {
    const { kind } = app.game;
    const network = claimant(app);
    const value = app.hints ? displayedChance(app, judging) : null;
    const p = value?.chance ?? null;
    const alone = value?.source === "network";
    const side = whose(kind);
    // The side whose chance it is stands below, as its pieces do.
    const upside = kind === "chess" && app.flipped;
    host.className = `of-${kind} ${upside ? "upside" : ""} ${p === null ? "none" : ""} ${alone ? "network-only" : ""}`;
    // Where nothing is known, nothing is shown: half.
    fill.style.transform = `scaleY(${(p ?? 0.5).toFixed(4)})`;
    number.textContent = p === null ? "" : percent(p).replace(/\s*%/, "");
    number.classList.toggle("long", number.textContent.length > 2);
    host.setAttribute("aria-label", valueName(kind, network));
    host.setAttribute("aria-valuenow", String(Math.round(100 * (p ?? 0.5))));
    host.setAttribute("aria-valuetext", p === null ? texts.evalbar.unknown : `${side} ${percent(p)}${alone ? `, ${texts.chance.networkOnly}` : ""}`);
    const by = network?.name ?? app.checker.about()?.engine ?? app.checker.now;
    const claim = by ? texts.evalbar.by(valueName(kind, network), by) : texts.chance.of(side);
    host.title = p === null ? claim : `${claim}: ${percent(p)}${alone ? `, ${texts.chance.networkOnly}` : ""}`;
  };
  for (const event of ["game", "cursor", "results", "judgements", "networks", "checker", "settings"] as const) app.on(event, draw);
  draw();
}
