import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

// One VS Code for the whole run, and its windows one test file after the other.
export default defineConfig({
  cacheDir: fileURLToPath(new URL("../node_modules/.vite-e2e", import.meta.url)),
  test: {
    root: fileURLToPath(new URL(".", import.meta.url)),
    include: ["**/*.test.ts"],
    globalSetup: "./global.ts",
    fileParallelism: false,
    execArgv: ["--experimental-websocket"], // Node 20
    testTimeout: 120_000,
    hookTimeout: 120_000,
    teardownTimeout: 30_000,
    expect: { poll: { timeout: 20_000 } },
  },
});
