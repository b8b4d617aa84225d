/** The board that is played on: of the game's kind, with what the panels have switched on. */

import { ChessView } from "./chessboard";
import { draw } from "../app/editing";
import { button, el } from "../ui/elements";
import { GoTools } from "./goediting";
import type { Counting } from "../play/counting";
import { GoView } from "./goboard";
import { numbersOf } from "./gopoints";
import { LOOK_CHOSEN, lookOf } from "../app/looks";
import { picture, shown, type View } from "./overlays";
import type { App, Line } from "../app/state";
import { texts } from "../texts";
// After chessground's own, which it overrules.
import "./boards.css";

/** A board for a game that starts so; it takes moves where there are hands. */
export function makeView(host: HTMLElement, start: Line, hands: { app: App; tools?: GoTools; counting?: Counting } | null): View {
  const app = hands?.app;
  const play = app && ((move: string) => app.play(move));
  if (start.game === "chess") {
    const drawn = (shapes: string[]): void => void (app && draw(app, app.cursor, shapes));
    const say = (text: string): void => app?.say(text);
    return new ChessView(host, play ? { play, picked: (square) => shown.pick(square), drawn, say, refuse: (text) => app.refuse(text), ahead: (make) => void (shown.ahead = make) } : null);
  }
  return new GoView(host, start.size ?? 19, app && play ? { play, edit: (point) => (hands.tools?.use(point) ?? false) || (hands.counting?.use(point) ?? false), say: (text) => app.say(text), refuse: (text) => app.refuse(text), ready: () => !app.opening } : null);
}

/** controls: what is below the board, and gets the buttons of Go. */
export function mountBoard(host: HTMLElement, controls: HTMLElement, app: App, counting: Counting): void {
  const place = el("div", { class: "board-place" });
  const tools = new GoTools(app);
  const below = new GoButtons(app, tools);
  host.classList.add("board-host");
  host.replaceChildren(place, tools.element);
  controls.append(below.element);
  let view: View | null = null;
  let kind = "";
  let previewed: string | null = null;

  const draw = (): void => {
    const start = app.game.start;
    const wanted = `${start.game} ${start.size ?? 19}`;
    if (!view || wanted !== kind) {
      view?.destroy();
      kind = wanted;
      view = makeView(place, start, { app, tools, counting });
    }
    const node = app.node();
    const result = app.network ? app.result(app.network, node.id) : undefined;
    // A draw by claim need not be claimed.
    const final = node.end !== null && node.end !== "repetition" && node.end !== "fifty moves";
    view.draw(node, picture(app, node, result), {
      flipped: app.flipped,
      coordinates: app.coordinates,
      sides: final ? "none" : shown.sides,
      early: final ? null : shown.early,
      small: false,
      ...(start.game === "go" ? { numbers: numbersOf(app.game, node.id, lookOf("numbers")) } : {}),
    });
    below.draw();
  };
  // A move pointed at or chosen belongs to the position that was left.
  app.on("cursor", () => {
    shown.square = shown.preview = previewed = null;
    view?.preview(null);
    draw();
  });
  for (const event of ["game", "tree", "results", "settings", "networks"] as const) app.on(event, draw);
  document.addEventListener(LOOK_CHOSEN, draw);
  shown.on(() => {
    if (shown.preview !== previewed) {
      previewed = shown.preview;
      view?.preview(previewed);
    } else draw();
  });
  draw();
}

/** Under a Go board: pass and resign. Nothing for chess. */
class GoButtons {
  readonly element: HTMLDivElement;
  private readonly pass: HTMLButtonElement;
  private readonly resign: HTMLButtonElement;

  constructor(
    private readonly app: App,
    tools: GoTools,
  ) {
    const edit = button(texts.board.edit, () => tools.toggle(), { title: texts.board.editAbout });
    this.pass = button(texts.board.pass, () => void app.play("pass").catch(() => undefined));
    this.resign = button(texts.board.resign, () => shown.resign?.());
    this.element = el("div", { class: "go-buttons" }, this.pass, this.resign, edit, tools.sideButton);
  }

  draw(): void {
    const node = this.app.node();
    const go = this.app.game.kind === "go";
    this.element.hidden = !go;
    if (!go) return;
    const mine = shown.sides === "both" || shown.sides === node.turn;
    this.pass.disabled = node.end !== null || !mine;
    this.resign.hidden = shown.resign === null;
  }
}
