// Bundles the extension into dist/extension.js and the scripts of its panels into dist/webview, and fails
// when one of the two is too large.
import { readFileSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

/** Each start of a window loads the extension; a panel's scripts are loaded when it is opened. */
const limits = { extension: 320_000, panels: 60_000 };

const shared = { bundle: true, minify: true, metafile: true, logLevel: "warning" };

const [extension, panels] = await Promise.all([
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
    // Of markdown-it.
    alias: { entities: "./src/core/review/entities.ts", "linkify-it": "./src/core/review/linkify.ts" },
  }),
  build({
    ...shared,
    entryPoints: ["review.ts", "review.css", "live.ts", "live.css"].map((name) => `src/webview/${name}`),
    outdir: "dist/webview",
    format: "iife",
    target: "es2022",
  }),
]);

check("extension", extension);
check("panels", panels);
writeFileSync("dist/bundled.json", JSON.stringify(bundled(extension, panels), null, 2));

/** The npm packages whose code is in the bundles. Their licences belong to each package of the extension. */
function bundled(...builds) {
  const folder = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/;
  const inputs = builds.flatMap(({ metafile }) => Object.keys(metafile.inputs));
  const folders = new Set(inputs.map((file) => folder.exec(file)?.[0]).filter((found) => found !== undefined));
  return [...folders].sort().map((found) => {
    const { name, version, license } = JSON.parse(readFileSync(`${found}/package.json`, "utf8"));
    return { name, version, license, folder: found };
  });
}

function check(name, { metafile }) {
  let total = 0;
  for (const [file, { bytes }] of Object.entries(metafile.outputs)) {
    console.log(`${file}: ${bytes} bytes`);
    total += bytes;
  }
  if (total < limits[name]) return;
  console.error(`the bundle of the ${name} has ${total} bytes; its limit is ${limits[name]}`);
  process.exit(1);
}
