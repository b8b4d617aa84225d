/** Where the page begins: its colours and its words first, since every module takes its words when it is loaded. */

import "./style.css";
import { restoreLooks } from "./looks";
import { loadTexts } from "./texts";
import { restoreTheme } from "./theme";

restoreTheme();
restoreLooks();
void loadTexts().then(() => import("./main"));
