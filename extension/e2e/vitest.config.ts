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
    testTimeout: 120_000,
    hookTimeout: 120_000,
    teardownTimeout: 30_000,
    expect: { poll: { timeout: 20_000 } },
  },
});
