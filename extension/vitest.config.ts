import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { hang } from "./test/support/hang";

export default defineConfig({
  resolve: { alias: { vscode: fileURLToPath(new URL("test/support/editor.ts", import.meta.url)) } },
  test: {
    include: ["test/**/*.test.ts"],
    // Only what hangs takes so long; a busy machine may take its time.
    testTimeout: 2 * hang,
    hookTimeout: 2 * hang,
    expect: { poll: { timeout: hang } },
    execArgv: ["--experimental-websocket"],
  },
});
