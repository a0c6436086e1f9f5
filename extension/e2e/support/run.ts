import { inject } from "vitest";

declare module "vitest" {
  interface ProvidedContext {
    runs: Run[];
  }
}

/** What a worker has, and hands to each of its test files, one after the other. */
export interface Run {
  /** Everything of this run is below it. */
  root: string;
  /** The VS Code's web address. */
  url: string;
  /** What the VS Code and the coordinator run with. */
  env: Record<string, string>;
  sockets: string;
  browser: string;
  coordinator: string;
  chromedp: string;
  /** Where screenshots are kept. */
  artifacts: string;
}

/** The run of this worker. */
export function thisRun(): Run {
  const run = inject("runs")[Number(process.env.VITEST_POOL_ID) - 1];
  if (!run) throw new Error(`there is no run for worker ${process.env.VITEST_POOL_ID}`);
  return run;
}
