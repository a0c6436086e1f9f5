// Programs made of the core, to be run in a separate process: `node -` takes them from its input.
import { join } from "node:path";
import { build } from "esbuild";

/** The program's text, with what it imports of `./src`. */
export async function bundle(contents: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: join(import.meta.dirname, "..", "..") },
    bundle: true,
    platform: "node",
    write: false,
  });
  return outputFiles[0]?.text ?? "";
}
