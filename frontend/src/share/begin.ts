/** Where the page of one network begins: its colours and its words first, then what its folder says of the network. */

import "../app/style.css";
import { restoreLooks } from "../app/looks";
import { loadTexts } from "../texts";
import { restoreTheme } from "../app/theme";

restoreTheme();
restoreLooks();
void loadTexts().then(() => import("./main"));
