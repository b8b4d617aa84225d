/** A small click for a move. Silent unless somebody wants it. */

import { iconButton, relabel } from "../ui/icons";
import { keep, kept } from "./storage";
import type { App } from "./state";
import { texts } from "../texts";

let context: AudioContext | null = null;

/** Wood on wood, more or less: a short falling tone. */
function click(): void {
  context ??= new AudioContext();
  const now = context.currentTime;
  const tone = context.createOscillator();
  const loudness = context.createGain();
  tone.type = "triangle";
  tone.frequency.setValueAtTime(420, now);
  tone.frequency.exponentialRampToValueAtTime(140, now + 0.05);
  loudness.gain.setValueAtTime(0.18, now);
  loudness.gain.exponentialRampToValueAtTime(0.001, now + 0.07);
  tone.connect(loudness).connect(context.destination);
  tone.start(now);
  tone.stop(now + 0.08);
}

export function soundButton(app: App): HTMLButtonElement {
  app.sound = kept("local", "sound") === "on";
  const made = iconButton("silent", "", () => toggleSound(app));
  const draw = (): void => {
    relabel(made, app.sound ? "sound" : "silent", app.sound ? texts.sound.isOn : texts.sound.isOff);
  };
  app.on("settings", draw);
  // A browser makes no sound before somebody has touched the page.
  app.on("cursor", () => {
    if (app.sound && navigator.userActivation?.hasBeenActive) click();
  });
  draw();
  return made;
}

export function toggleSound(app: App): void {
  app.set({ sound: !app.sound });
  keep("local", "sound", app.sound ? "on" : null);
  app.say(app.sound ? texts.sound.on : texts.sound.off);
  if (app.sound) click();
}
