// The programs that the tests run: the coordinator, what finds its browser, and the clients that are
// written in Go. `npm test` builds them once, where they stay: to build them again links nothing.
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const clients = fileURLToPath(new URL("../..", import.meta.url));
const repository = fileURLToPath(new URL("../../../..", import.meta.url));

/** The folder they are in. */
export const bin = join(repository, "bin", "clients");

function build(cwd, target, from) {
  execFileSync("go", ["build", "-o", join(bin, target), from], {
    cwd,
    env: { ...process.env, GOWORK: "off" },
    stdio: ["ignore", "inherit", "inherit"],
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  build(repository, "coordinator", "./coordinator");
  build(repository, "findbrowser", "./internal/findbrowser");
  build(clients, "chromedp", "./chromedp");
  build(clients, "rod", "./rod");
}
