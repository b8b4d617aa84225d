/** The library that draws curves. It is loaded with the first curve. */

import "uplot/dist/uPlot.min.css";

export { default as UPlot } from "uplot";
