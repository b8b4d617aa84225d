/** Which network is asked where nobody has chosen one. */

import type { Network } from "./state";
import { texts } from "../texts";

export function fitting(networks: Network[], kind: "chess" | "go", name: string | null): boolean {
  return networks.some((each) => each.name === name && each.game === kind);
}

/** Packaged networks that know moves and chances: the first to meet. */
const BEST = ["human", "gohuman"];

/** The first of the command line, else the best packaged one, else any that can be asked. */
export function usual(networks: Network[], given: string[], kind: "chess" | "go"): string | null {
  const here = networks.filter((each) => each.game === kind);
  const ready = here.filter((each) => !each.problem);
  const named = given.find((name) => here.some((each) => each.name === name));
  const packaged = ready.filter((each) => each.from === "package");
  const best = packaged.find((each) => BEST.includes(each.name)) ?? packaged[0];
  return named ?? best?.name ?? ready[0]?.name ?? here[0]?.name ?? null;
}

/** A run as a choice names it; a step of a personal training by the network that it trains, as in "runs/personal-ana: adapters-0.01". */
export function runName({ name, part_of }: Network): string {
  // The folder of a step is named by the games, what learns and how fast.
  return part_of ? `${part_of}: ${name.slice(name.lastIndexOf("/") + 1).replace(/^[^-]*-/, "")}` : name;
}

/** The run that is shown: the one that was picked, else one that trains now, else the network that is looked at, else one of its game. */
export function usualRun(runs: readonly Network[], picked: string, network: string | null, kind: "chess" | "go"): string {
  const found =
    runs.find((each) => each.name === picked) ??
    runs.find((each) => each.live) ??
    runs.find((each) => each.name === network) ??
    runs.find((each) => each.game === kind) ??
    runs[0];
  return found?.name ?? "";
}

/** Why no run is to be seen. A person's run has no metrics while it keeps the initial network. */
export function withoutMetrics(networks: readonly Network[]): string {
  const person = networks.find((each) => each.person);
  return person ? texts.training.initial(runName(person)) : texts.training.none;
}
