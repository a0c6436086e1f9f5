// A browser that crashes ends its clients' connections. rod, which cannot read close frames, must
// see the same through the endpoint and on a direct connection.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import CDP from "chrome-remote-interface";
import { openWindow } from "./support/window.mjs";

/** Starts rod at the address. `connected` resolves when it is, `ended` to all that it printed and its exit code. */
function start(window, address) {
  const child = spawn(join(window.bin, "rod"), [address], { env: window.env, stdio: ["ignore", "pipe", "pipe"] });
  let printed = "";
  child.stderr.on("data", (piece) => (printed += piece));
  const lines = createInterface({ input: child.stdout });
  const connected = once(lines, "line").then(([line]) => assert.equal(line, "connected", printed));
  lines.on("line", (line) => (printed += `${line}\n`));
  const ended = once(child, "close").then(([code]) => `${printed}exit ${code}`);
  return { connected, ended };
}

test("rod, when the browser crashes", { timeout: 300_000 }, async () => {
  const window = await openWindow("about:blank", "--allow-close", "--debugging-port");
  let crashed = false;
  try {
    const ways = [window.direct.http, window.direct.ws, window.endpoint.http, window.endpoint.ws, window.mounted.ws];
    const rods = ways.map((address) => start(window, address));
    await Promise.all(rods.map(({ connected }) => connected));
    const browser = await CDP({ target: window.direct.ws });
    browser.send("Browser.crash").catch(() => {}); // nothing answers any more
    crashed = true;
    const seen = await Promise.all(rods.map(({ ended }) => ended));
    assert.deepEqual(
      seen,
      ways.map(() => "connected\nended: EOF\nexit 0"),
    );
  } finally {
    // 1 when `coordinator window` reports the crash before it is asked to end.
    await window.close(crashed ? [0, 1] : [0]);
  }
});
