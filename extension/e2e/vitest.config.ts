import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { workers } from "./support/workers";

// A VS Code for each worker, and its windows one test file after the other.
export default defineConfig({
  cacheDir: fileURLToPath(new URL("../node_modules/.vite-e2e", import.meta.url)),
  test: {
    root: fileURLToPath(new URL(".", import.meta.url)),
    include: [process.env.BROWSER_COORDINATOR_MEASURE ? "**/*.measure.ts" : "**/*.test.ts"],
    globalSetup: "./global.ts",
    maxWorkers: workers,
    execArgv: ["--experimental-websocket"], // Node 20
    // Only what hangs takes so long; a busy machine may take its time.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    teardownTimeout: 60_000,
    expect: { poll: { timeout: 60_000 } },
  },
});
