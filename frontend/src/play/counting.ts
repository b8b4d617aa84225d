/** The count of finished games of Go, which is loaded with the first game of Go. */

import type { App } from "../app/state";
import type { Counter } from "./gocount";

export class Counting {
  /** The place of the count. */
  readonly element = document.createElement("p");
  private counter: Counter | null = null;
  private loading = false;

  constructor(private readonly app: App) {
    this.element.hidden = true;
    app.on("game", () => void this.load());
    void this.load();
  }

  /** Takes a stone and those beside it for dead, or for alive again; false where nothing is counted. */
  use(point: number): boolean {
    return this.counter?.use(point) ?? false;
  }

  private async load(): Promise<void> {
    if (this.loading || this.app.game.kind !== "go") return;
    this.loading = true;
    try {
      const { Counter } = await import("./gocount");
      this.counter = new Counter(this.app);
      this.element.replaceWith(this.counter.element);
    } catch {
      // The next game tries again.
      this.loading = false;
    }
  }
}
