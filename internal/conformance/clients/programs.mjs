// The clients that are programs of their own and print as JSON what they saw.
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

export const chromedp = (given) => see("chromedp", given);
export const rod = (given) => see("rod", given);

async function see(program, { address, site, name, window }) {
  const { stdout } = await run(join(window.bin, program), [address, site, name], { env: window.env, timeout: 30_000 });
  return JSON.parse(stdout);
}
