// Builds a page of each framework as a development server does: node build.mjs FOLDER
import { readFile } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { createCompilerHost, formatDiagnostics, performCompilation } from "@angular/compiler-cli";
import { build } from "esbuild";
import { compile } from "svelte/compiler";
import ts from "typescript";
import { compileScript, compileTemplate, parse } from "vue/compiler-sfc";

const load = (name, filter, script) => ({
  name,
  setup: ({ onLoad }) => onLoad({ filter }, async ({ path }) => ({
    contents: script(await readFile(path, "utf8"), "src/" + basename(path)), loader: "js", resolveDir: dirname(path),
  })),
});
const vue = load("vue", /\.vue$/, (source, filename) => {
  const { descriptor } = parse(source, { filename });
  const { content, bindings } = compileScript(descriptor, { id: filename, genDefaultAs: "component" });
  const { code } = compileTemplate({
    source: descriptor.template.content, id: filename, filename, compilerOptions: { bindingMetadata: bindings },
  });
  const properties = `{ render, __file: ${JSON.stringify(filename)} }`;
  return `${content}\n${code}\nexport default Object.assign(component, ${properties});`;
});
const svelte = load("svelte", /\.svelte$/, (source, filename) => compile(source, { dev: true, filename }).js.code);
// Ahead of time, as "ng serve" does: the compiler adds each component's place in the source.
const angular = {
  name: "angular",
  setup: ({ onLoad }) => onLoad({ filter: /angular\.ts$/ }, ({ path }) => {
    const options = {
      rootDir: import.meta.dirname, basePath: import.meta.dirname, strict: true, types: [], skipLibCheck: true,
      target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ES2022, moduleResolution: ts.ModuleResolutionKind.Bundler,
      useDefineForClassFields: false, inlineSourceMap: true,
    };
    const host = createCompilerHost({ options });
    let contents;
    host.writeFile = (_, script) => contents = script;
    const { diagnostics } = performCompilation({ rootNames: [path], options, host });
    if (diagnostics.length) throw new Error(formatDiagnostics(diagnostics));
    return { contents, loader: "js", resolveDir: import.meta.dirname };
  }),
};

await build({
  entryPoints: ["src/angular.ts", "src/react.jsx", "src/vue.js", "src/svelte.js", "src/lit.js"],
  absWorkingDir: import.meta.dirname,
  bundle: true, outdir: process.argv[2], sourcemap: true, jsx: "automatic", jsxDev: true,
  plugins: [angular, vue, svelte],
  conditions: ["development", "browser"], logLevel: "warning",
  define: {
    "process.env.NODE_ENV": '"development"', __VUE_OPTIONS_API__: "true", __VUE_PROD_DEVTOOLS__: "false",
    __VUE_PROD_HYDRATION_MISMATCH_DETAILS__: "false",
  },
});
