// Bundles the extension into dist/extension.js and the scripts of its panels into dist/webview, and fails
// when that is too large.
import { build } from "esbuild";

const limit = 300_000;

const shared = { bundle: true, minify: true, metafile: true, logLevel: "warning" };

const results = await Promise.all([
  build({
    ...shared,
    entryPoints: ["src/extension.ts"],
    outfile: "dist/extension.js",
    banner: { js: "const loading = process.cpuUsage();" }, // the extension logs what its start has taken
    format: "cjs",
    platform: "node",
    target: "node20",
    external: ["vscode"],
    mainFields: ["module", "main"], // modules lose what is not used
    alias: { entities: "./src/core/review/entities.ts", "linkify-it": "./src/core/review/linkify.ts" }, // of markdown-it
  }),
  build({
    ...shared,
    entryPoints: ["review.ts", "review.css", "live.ts", "live.css"].map((name) => `src/webview/${name}`),
    outdir: "dist/webview",
    format: "iife",
    target: "es2022",
  }),
]);

let total = 0;
for (const { metafile } of results) {
  for (const [name, { bytes }] of Object.entries(metafile.outputs)) {
    console.log(`${name}: ${bytes} bytes`);
    total += bytes;
  }
}
if (total >= limit) {
  console.error(`the bundle has ${total} bytes; its limit is ${limit}`);
  process.exit(1);
}
