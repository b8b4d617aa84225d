/** The page of one network, without a server: the parts of the board's page, on rules and a network in the browser. */

import "./share.css";

import { Handover } from "../app/handover";
import { message } from "../server/asking";
import { mountNetwork } from "../analysis/network";
import { mountPage, place } from "../page";
import { App } from "../app/state";
import { texts } from "../texts";
import { mountAsides } from "./asides";
import { headOf } from "./header";
import { LocalApi } from "./local";
import type { Shared } from "./network";

async function read(): Promise<Shared> {
  const response = await fetch("network.json");
  if (!response.ok) throw new Error(texts.share.missing("network.json"));
  return (await response.json()) as Shared;
}

function begin(shared: Shared): void {
  const api = new LocalApi(
    shared,
    (share) => far(share),
    () => app.say(texts.share.oneLook),
  );
  const app = new App(api);
  const far = (share: number): void => app.say(texts.share.loading(Math.floor(100 * share)), false, true);
  mountPage(app, headOf(shared), (mistakes) => [
    {
      id: "analysis",
      name: texts.tabs.analysis,
      mount: (host) => {
        mountNetwork(host, app, mistakes.judging);
        host.prepend(mountAsides(app, api));
      },
    },
    { id: "play", name: texts.tabs.play, mount: async (host) => (await import("../play/play")).mountPlay(host, app, new Handover<string>()) },
  ]);
  // For scripts of the same page, and for tests.
  Object.assign(window, { kibitz: api });
  api.ready().then(
    () => {
      if (app.lasting) app.say("");
      // For tests: words change.
      document.documentElement.dataset.network = "ready";
      // Only now, so that nothing is loaded twice while somebody waits.
      keepOffline();
    },
    (error: unknown) => {
      app.say(message(error), true, true);
      void app.findNetworks();
    },
  );
}

/** Keeps the page for use without a connection, where the browser and the host allow it. */
function keepOffline(): void {
  if (!("serviceWorker" in navigator) || !window.isSecureContext) return;
  navigator.serviceWorker.register("sw.js").catch(() => undefined);
}

read().then(begin, (error: unknown) => {
  const said = place("status");
  said.classList.add("problem");
  said.textContent = message(error);
});
