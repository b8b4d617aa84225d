/** Where the page begins: its colours and its words first, since every module takes its words when it is loaded. */

import "./app/style.css";
import { restoreLooks } from "./app/looks";
import { loadTexts } from "./texts";
import { restoreTheme } from "./app/theme";

restoreTheme();
restoreLooks();
void loadTexts().then(() => import("./main"));
