import { begin } from "../app/begin";

begin(() => import("./main"));
