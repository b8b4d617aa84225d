/** What was changed in a game, so that it can be taken back and made again. */

export interface Change {
  /** What was done: "the comment". */
  words: string;
  redo: () => void;
  undo: () => void;
  /** The position that was looked at before and after it. */
  before: number;
  after: number;
  /** Taken back and made again together with the change before it. */
  joined?: boolean;
  /** The position that a move led to, where it was the change. */
  made?: number;
  /** That move was only tried: the game is as it was. */
  tried?: boolean;
}

export class History {
  private readonly done: Change[] = [];
  private readonly undone: Change[] = [];

  add(change: Change): void {
    this.done.push(change);
    this.undone.length = 0;
  }

  get last(): Change | undefined {
    return this.done.at(-1);
  }

  get next(): Change | undefined {
    return this.undone.at(-1);
  }

  /** Forgets the last change; whoever made it has taken it back. */
  drop(): void {
    this.done.pop();
  }

  /** Takes the last change back; the one that began it. */
  undo(): Change | undefined {
    let change = this.done.pop();
    for (; change; change = this.done.pop()) {
      change.undo();
      this.undone.push(change);
      if (!change.joined) break;
    }
    return change;
  }

  /** Makes the next change again; the last one that belongs to it. */
  redo(): Change | undefined {
    let change = this.undone.pop();
    while (change) {
      change.redo();
      this.done.push(change);
      if (!this.undone.at(-1)?.joined) break;
      change = this.undone.pop();
    }
    return change;
  }
}
