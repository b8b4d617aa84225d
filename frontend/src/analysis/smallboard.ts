/** A board beside the large one: the same position with the answer of a network or of a snapshot. */

import type { Answers } from "../server/answers";
import { Latest } from "../server/asking";
import { makeView } from "../board/board";
import { likely, NOTHING, type Picture, type View } from "../board/overlays";
import { el, write } from "../ui/elements";
import type { App, Result } from "../app/state";
import { texts } from "../texts";

/** small: whether the board is drawn without large marks. pause: how long a position must stay before it is asked about, ms. */
interface How {
  small: boolean;
  pause?: number;
  answered: () => void;
  failed?: () => void;
}

export class SmallBoard {
  readonly place: HTMLElement;
  readonly note = el("p", { class: "note", role: "status" });
  private readonly latest: Latest;
  private view: View | null = null;
  private shape = "";
  private asked = "";

  constructor(
    private readonly app: App,
    private readonly answers: Answers,
    className: string,
    private readonly how: How,
  ) {
    this.place = el("div", { class: className });
    this.latest = new Latest(how.pause);
    app.on("networks", () => this.latest.again() && (this.asked = ""));
  }

  draw(result: Result | undefined): void {
    const { app } = this;
    const start = app.game.start;
    const shape = `${start.game} ${start.size ?? 19}`;
    if (!this.view || shape !== this.shape) {
      this.view?.destroy();
      this.shape = shape;
      this.view = makeView(this.place, start, null);
    }
    this.view.draw(app.node(), seen(result), { flipped: app.flipped, coordinates: false, sides: "none", small: this.how.small });
  }

  /** Asks about the position, unless it was asked before. known: whether the answer is there already. */
  ask(network: string, snapshot: string | null, known: boolean): void {
    const node = this.app.node();
    const key = `${snapshot === null ? this.app.weights(network) : network} ${snapshot} ${node.id}`;
    if (known) return this.cancel();
    if (key === this.asked) return;
    this.asked = key;
    this.say("");
    this.latest.ask(
      (signal) => this.answers.fetch(network, snapshot, node, signal),
      () => this.how.answered(),
      (problem) => {
        this.how.failed?.();
        this.say(problem, true);
      },
      () => this.say(snapshot === null ? texts.answers.loading : texts.answers.loadingCheckpoint),
    );
  }

  cancel(note = ""): void {
    this.latest.cancel();
    this.asked = "";
    this.say(note);
  }

  private say(text: string, problem = false): void {
    write(this.note, text, problem);
  }
}

/** What the board shows: all that the answer has. */
function seen(result: Result | undefined): Picture {
  if (!result) return NOTHING;
  return {
    ...NOTHING,
    heat: result.origin ? { kind: "origin", values: result.origin } : null,
    moves: likely(result).slice(0, 3),
    owners: result.owners ?? null,
  };
}
