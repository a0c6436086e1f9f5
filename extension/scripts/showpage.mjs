// Builds the page of `coordinator show` into the coordinator, which embeds it: building the coordinator needs no Node.
// `--check` writes nothing and fails when the files there are not what the sources give.
import { readFile, writeFile } from "node:fs/promises";
import { basename } from "node:path";
import { build } from "esbuild";

const target = new URL("../../coordinator/show/page/", import.meta.url);
const limit = 116_000;

const { outputFiles } = await build({
  absWorkingDir: new URL("..", import.meta.url).pathname,
  entryPoints: ["show.ts", "live.ts", "show.css", "live.css", "show.html", "live.html"].map(
    (name) => `src/webview/show/${name}`,
  ),
  outdir: "page",
  loader: { ".html": "copy" },
  alias: {
    "@vscode/l10n": "./src/webview/show/l10n.ts",
    "node:crypto": "./src/webview/show/node.ts",
    "node:util": "./src/webview/show/node.ts",
  },
  inject: ["src/webview/show/node.ts"],
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2022",
  logLevel: "warning",
  write: false,
});

const total = outputFiles.reduce((sum, { contents }) => sum + contents.length, 0);
if (total > limit) {
  console.error(`the page of coordinator show has ${total} bytes; its limit is ${limit}`);
  process.exit(1);
}
for (const { path, contents } of outputFiles) {
  const file = new URL(basename(path), target);
  if (!process.argv.includes("--check")) await writeFile(file, contents);
  else if (!(await readFile(file).catch(() => Buffer.of())).equals(contents)) {
    console.error(`coordinator/show/page/${basename(path)} is stale: run \`npm run generate\` and commit the result`);
    process.exit(1);
  }
}
