/** How the page looks and speaks: choices of this browser. */

import { button, Choice, el } from "../ui/elements";
import { chooseLook, type Look, lookOf, LOOKS } from "./looks";
import { chooseLanguage, language, LANGUAGES, texts } from "../texts";

let dialog: HTMLDialogElement | null = null;
const choices = new Map<Look, Choice>();

export function showSettings(): void {
  dialog ??= make();
  // A key may have chosen another look since the last time.
  for (const [name, choice] of choices) choice.value = lookOf(name);
  if (!dialog.open) dialog.showModal();
}

function make(): HTMLDialogElement {
  const tongue = new Choice(texts.settings.language, chooseLanguage);
  tongue.offer(
    Object.entries(LANGUAGES).map(([code, { name }]) => [code, name] as const),
    language,
  );
  const looks = (Object.keys(LOOKS) as Look[]).map((name) => {
    const choice = new Choice(texts.settings[name], (look) => chooseLook(name, look));
    const words: Record<string, string> = texts.settings.looks[name];
    choice.offer(
      LOOKS[name].map((look) => [look, words[look] ?? look] as const),
      lookOf(name),
    );
    choices.set(name, choice);
    return choice.element;
  });
  const made = el(
    "dialog",
    { class: "dialog settings", "aria-labelledby": "settings-title" },
    el("h2", { id: "settings-title" }, texts.settings.title),
    el("div", {}, tongue.element, ...looks),
    el("div", { class: "dialog-buttons" }, button(texts.common.close, () => made.close(), { class: "primary" })),
  );
  made.addEventListener("click", (event) => event.target === made && made.close());
  document.body.append(made);
  return made;
}
