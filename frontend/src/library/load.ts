/** Games from outside: pasted, dropped anywhere, or chosen as a file. */

import { message } from "../server/asking";
import { button, el } from "../ui/elements";
import type { App } from "../app/state";
import { texts } from "../texts";

export interface Opener {
  show(): void;
}

/** Files that are read, bytes. Of a file of many games only the one that is shown is sent to the server. */
const LARGEST = 400 * 1024 * 1024;

export function mountLoading(app: App): Opener {
  const opener = new Loading(app);
  drops(opener);
  // A paste that is not meant for a field is a game; so is what is no move in the box for moves.
  document.addEventListener("paste", (event) => {
    const dialog = document.querySelector("dialog[open]");
    if (dialog && !dialog.querySelector("#load-text")) return;
    const field = event.target instanceof Element ? event.target.closest<HTMLInputElement | HTMLTextAreaElement>("input, textarea") : null;
    const text = event.clipboardData?.getData("text/plain").trim() ?? "";
    const file = event.clipboardData?.files[0];
    const move = !file && text.length <= (field?.maxLength ?? 0) && !/^\[|^\(;|\n/.test(text);
    if ((field && (move || !field.closest(".typed"))) || (!text && !file)) return;
    event.preventDefault();
    field?.blur();
    void (file ? opener.file(file) : opener.text(text));
  });
  return opener;
}

class Loading implements Opener {
  private readonly area = el("textarea", {
    id: "load-text",
    rows: 9,
    spellcheck: "false",
    autocapitalize: "off",
    placeholder: "1. e4 e5 2. Nf3 …\n(;GM[1]SZ[19];B[pd];W[dp] …)\nrnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
  });
  private readonly choose = el("input", { type: "file", accept: ".pgn,.sgf,.fen,.txt", class: "unseen", tabindex: -1, "aria-label": texts.load.file });
  private readonly problem = el("p", { class: "problem", role: "alert" });
  private readonly reading = el("p", { class: "note", role: "status" }, texts.load.reading);
  private readonly dialog: HTMLDialogElement;
  private abort: AbortController | null = null;

  constructor(private readonly app: App) {
    const form = el(
      "form",
      {},
      el("h2", { id: "load-title" }, texts.load.title),
      el("label", { for: "load-text", class: "note" }, texts.load.paste),
      this.area,
      this.problem,
      this.reading,
      el(
        "div",
        { class: "dialog-buttons" },
        button(texts.load.choose, () => this.choose.click()),
        this.choose,
        el("span", { class: "space" }),
        button(texts.common.cancel, () => this.dialog.close()),
        el("button", { type: "submit", class: "primary" }, texts.load.open),
      ),
    );
    this.reading.hidden = true;
    this.dialog = el("dialog", { class: "dialog", "aria-labelledby": "load-title" }, form);
    document.body.append(this.dialog);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.text(this.area.value);
    });
    this.choose.addEventListener("change", () => {
      const file = this.choose.files?.[0];
      this.choose.value = "";
      if (file) void this.file(file);
    });
    this.area.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void this.text(this.area.value);
    });
    this.dialog.addEventListener("click", (event) => event.target === this.dialog && this.dialog.close());
    this.dialog.addEventListener("close", () => this.abort?.abort());
  }

  show(): void {
    this.tell("");
    if (!this.dialog.open) this.dialog.showModal();
    this.area.select();
  }

  async file(file: File): Promise<void> {
    if (file.size > LARGEST) {
      this.tell(texts.load.tooLarge(file.name));
      return;
    }
    try {
      await this.text(decode(await file.arrayBuffer()));
    } catch (error) {
      this.tell(`${file.name}: ${message(error)}`);
    }
  }

  async text(text: string): Promise<void> {
    this.abort?.abort();
    const abort = new AbortController();
    this.abort = abort;
    this.tell("");
    if (!(await this.app.mayOpen())) return;
    this.reading.hidden = !this.dialog.open;
    try {
      const asked = this.app.load(text, 0, abort.signal);
      const { count, problems, tree } = await (this.dialog.open ? asked : this.app.during(texts.load.reading, asked, texts.load.slow));
      if (this.dialog.open) {
        this.dialog.close();
        document.querySelector<HTMLElement>("#title h2")?.focus();
      }
      this.area.value = "";
      const moves = tree.length - 1;
      const what = count > 1 ? texts.load.games(count) : moves ? texts.load.game : texts.load.position;
      this.app.say(`${problems.length ? `${what} ${sentence(problems[0]!)}` : what}${this.app.whereLeft}`, problems.length > 0);
    } catch (error) {
      if (!abort.signal.aborted) this.tell(sentence(message(error)));
    } finally {
      if (this.abort === abort) this.reading.hidden = true;
    }
  }

  /** In the dialog where it is open, else under the board. */
  private tell(text: string): void {
    this.problem.textContent = text;
    if (text && !this.dialog.open) this.app.say(text, true);
    else if (text) this.app.say("");
  }
}

function drops(opener: Loading): void {
  let inside = 0;
  const files = (event: DragEvent): boolean => event.dataTransfer?.types.some((type) => type === "Files" || type === "text/plain") ?? false;
  const mark = (on: boolean): void => void document.documentElement.classList.toggle("dropping", on);
  document.addEventListener("dragenter", (event) => {
    if (!files(event)) return;
    inside += 1;
    mark(true);
  });
  document.addEventListener("dragleave", (event) => {
    if (!files(event)) return;
    inside = Math.max(0, inside - 1);
    mark(inside > 0);
  });
  document.addEventListener("dragover", (event) => files(event) && event.preventDefault());
  document.addEventListener("drop", (event) => {
    inside = 0;
    mark(false);
    if (event.defaultPrevented || !files(event) || (event.target instanceof Element && event.target.closest("textarea, input"))) return;
    event.preventDefault();
    const file = event.dataTransfer?.files[0];
    const text = event.dataTransfer?.getData("text/plain") ?? "";
    if (file) void opener.file(file);
    else if (text.trim()) void opener.text(text);
  });
}

/** "Move 3 cannot be read." */
export function sentence(problem: string): string {
  return `${problem.charAt(0).toUpperCase()}${problem.slice(1)}${/[.!?]$/.test(problem) ? "" : "."}`;
}

/** UTF-16 with its mark, UTF-8 where it is that; else as an SGF says, else Latin-1, which PGN was once. */
export function decode(bytes: ArrayBuffer): string {
  const mark = [...new Uint8Array(bytes, 0, Math.min(2, bytes.byteLength))].join();
  if (mark === "255,254" || mark === "254,255") return new TextDecoder(mark === "255,254" ? "utf-16le" : "utf-16be").decode(bytes);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    const latin = new TextDecoder("latin1").decode(bytes);
    const said = /CA\s*\[([\w-]+)\]/.exec(latin.slice(0, 4000))?.[1];
    try {
      return said ? new TextDecoder(said).decode(bytes) : latin;
    } catch {
      return latin;
    }
  }
}
