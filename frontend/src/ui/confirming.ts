/** A question that must be answered before something goes on. */

import { button, el } from "./elements";
import { texts } from "../texts";

/** Asks; whether it was answered with yes. Escape is no. */
export function confirmed(question: string, yes: string, no: string): Promise<boolean> {
  return new Promise((resolve) => {
    let answer = false;
    const choose = (said: boolean) => (): void => {
      answer = said;
      dialog.close();
    };
    const dialog = el(
      "dialog",
      { class: "dialog", "aria-label": texts.confirming.question },
      el("p", {}, question),
      el("div", { class: "dialog-buttons" }, button(no, choose(false)), button(yes, choose(true), { class: "primary" })),
    );
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(answer);
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}
