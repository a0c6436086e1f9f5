// Bundles the extension into dist/extension.js and fails when that is too large.
import { build } from "esbuild";

const limit = 250_000;

const { metafile } = await build({
  entryPoints: ["src/extension.ts"],
  outfile: "dist/extension.js",
  bundle: true,
  format: "cjs",
  platform: "node",
  target: "node20",
  external: ["vscode"],
  mainFields: ["module", "main"], // modules lose what is not used
  minify: true,
  metafile: true,
  logLevel: "warning",
});

const { bytes } = metafile.outputs["dist/extension.js"];
console.log(`dist/extension.js: ${bytes} bytes`);
if (bytes >= limit) {
  console.error(`the bundle is over its limit of ${limit} bytes`);
  process.exit(1);
}
