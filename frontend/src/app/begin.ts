/** Where a page begins: its colours and its words first, since every module takes its words when it is loaded. */

import "./style.css";
import { restoreLooks } from "./looks";
import { loadTexts } from "../texts";
import { restoreTheme } from "./theme";

export function begin(main: () => Promise<unknown>): void {
  restoreTheme();
  restoreLooks();
  void loadTexts().then(main);
}
