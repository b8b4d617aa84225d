/** What a network expects, in words and as a bar. Of chess it is always White's chance, of Go always Black's. */

import type { Displayed } from "./displayed";
import { el, percent } from "../ui/elements";
import type { App, Network, Result } from "./state";
import { fromServer, texts } from "../texts";

type Kind = App["game"]["kind"];

/** Whose chance is told of this game. */
export const whose = (kind: Kind): string => (kind === "chess" ? texts.common.white : texts.common.black);

/** What the number of a network is: "White’s win probability", "White’s expected score". */
export const valueName = (kind: Kind, network: Network | undefined): string =>
  fromServer(network?.claim?.name ?? "") || texts.chance.of(whose(kind));

/** The network whose number is shown; none if an engine judges in its place. */
export const claimant = (app: App): Network | undefined => (app.checker.now ? undefined : app.named(app.network));

/** White's chance in chess, Black's in Go; null where the network gives none. */
export function chanceOf(kind: Kind, result: Result | undefined): number | null {
  return (kind === "chess" ? result?.white : result?.black) ?? null;
}

/** What the network says by itself, without a search. */
export function aloneOf(kind: Kind, result: Result | undefined): Displayed | null {
  const chance = chanceOf(kind, result);
  return chance === null ? null : { chance, source: "network" };
}

/** Percent from which the side that is ahead is named, by the number that is shown; analysis/summary.py has the same value. */
const EVEN = 55;

/** Of the side that is ahead: its number as it is shown, in percent, and its name; "" where the game is about equal. */
function ahead(kind: Kind, p: number): { sure: number; side: string } {
  const shown = Math.round(100 * p);
  const sure = Math.max(shown, 100 - shown);
  const other = kind === "chess" ? texts.common.black : texts.common.white;
  return { sure, side: sure < EVEN ? "" : shown > 50 ? whose(kind) : other };
}

/** What the shown percentage means in words. Nothing else has a say in it: the same number always has the same words. */
export function inWords(kind: Kind, p: number): string {
  const { sure, side } = ahead(kind, p);
  if (!side) return texts.chance.even;
  if (sure < 62) return texts.chance.little(side);
  if (sure < 78) return texts.chance.better(side);
  if (sure < 93) return texts.chance.much(side);
  return texts.chance.winning(side);
}

/** "Black leads by 3.5 points". */
export function leads(score: number): string {
  const points = Math.round(Math.abs(score) * 2) / 2;
  if (points < 0.5) return texts.chance.evenPoints;
  return texts.chance.leads(score > 0 ? texts.common.black : texts.common.white, points);
}

/** The lead in words beside the chance of Go; "" where the words of the chance name the other side. */
export function leadBeside(p: number | null, lead: number): string {
  const side = p === null ? "" : ahead("go", p).side;
  const words = leads(lead);
  const leader = words === texts.chance.evenPoints ? "" : lead > 0 ? texts.common.black : texts.common.white;
  return side && leader && side !== leader ? "" : words;
}

export class Chance {
  private readonly name = el("span", { class: "whose" });
  private readonly number = el("strong");
  private readonly verdict = el("span", { class: "verdict" });
  private readonly source = el("span", { class: "source" });
  private readonly words = el("span", { class: "words" }, this.verdict, this.source);
  private readonly fill = el("span", { class: "fill" });
  private readonly bar = el("div", { class: "chance-bar", "aria-hidden": "true" }, this.fill);
  private readonly score = el("p", { class: "score" });
  private readonly line = el("p", { class: "chance-line" }, this.name, this.number, this.words);
  private readonly note = el("p", { class: "note" });
  readonly element = el("div", { class: "chance" }, this.line, this.bar, this.score, this.note);

  /** The engine that gives the chance in place of a network; "" for none. */
  by = "";

  /**
   * `value`: the chance, and whether a search has found it; `lead`: Black's, of Go. `short`: with a bar, and without the
   * note about what the chance means.
   */
  draw(kind: Kind, network: Network | undefined, value: Displayed | null, lead: number | null, short = false): void {
    const claim = network?.claim;
    const p = value?.chance ?? null;
    const alone = value?.source === "network";
    // The rules decide a game that is over, not an engine.
    const by = value?.source === "rules" ? "" : this.by;
    this.element.classList.toggle("network-only", alone);
    this.element.classList.toggle("headline", !short);
    // The name of an engine is long: it is in a row of its own.
    this.element.classList.toggle("by-engine", !short && !alone && by !== "");
    this.line.hidden = p === null;
    // The board has a bar of its own.
    this.bar.hidden = p === null || !short;
    if (p !== null) {
      // Of a network that claims something else, these would be the wrong words.
      const words = !claim || /\bwin|expected/.test(claim.name) ? inWords(kind, p) : "";
      const name = valueName(kind, network);
      // "White 85% · White is clearly better": what the number is, is said where there is room, or where one points.
      this.name.textContent = short ? name : whose(kind);
      this.line.title = short ? "" : name;
      this.number.textContent = percent(p);
      this.verdict.textContent = words || (short ? "" : name);
      this.source.textContent = alone ? texts.chance.networkOnly : by && texts.checker.by(by);
      this.source.title = alone ? "" : this.source.textContent;
      this.fill.style.width = `${100 * p}%`;
      this.bar.className = `chance-bar ${kind}`;
    }
    this.note.textContent = p === null || short ? "" : fromServer(claim?.note ?? "");
    this.note.hidden = !this.note.textContent;
    this.score.textContent = lead === null ? "" : leadBeside(p, lead);
    this.score.hidden = !this.score.textContent;
    this.element.hidden = p === null && lead === null;
  }
}
