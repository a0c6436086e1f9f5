// What a window keeps of 100,000 messages: nothing. In a separate process, which collects its garbage when asked.
import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { hang } from "../support/hang";
import { bundle } from "../support/program";
import { temporaryFolder } from "../support/window";

const program = `
  import { createConnection } from "node:net";
  import { surroundings } from "./src/core/address/address";
  import { silent } from "./src/core/log";
  import { WindowServer } from "./src/core/window/server";
  import { Store } from "./src/core/window/store";

  const store = new Store();
  const window = new WindowServer({
    name: "test",
    version: "1",
    identity: { workspace: "/x", folders: [], key: "0123456789abcdef" },
    store,
    commands: new Map([["echo", { run: async (arg) => arg }]]),
    log: silent,
  });

  const repeat = (count, line) => Array.from({ length: count }, (_, id) => line(id) + "\\n").join("");
  const pings = repeat(500, () => '{"id":"p","type":"ping","version":2}');
  const calls = repeat(245, (id) => '{"id":' + id + ',"type":"call","version":2,"payload":{"command":"echo"}}');
  const listen = '{"id":0,"type":"listen","version":2,"payload":{"events":["state"]}}\\n';

  async function main() {
    const client = createConnection(await window.open(surroundings()));
    let left = 0;
    let done;
    client.on("data", (chunk) => {
      for (const byte of chunk) if (byte === 10) left -= 1;
      if (left === 0) done();
    });
    const come = (lines, work) =>
      new Promise((resolve) => {
        left = lines;
        done = resolve;
        work();
      });
    const change = () => store.set({ browser: { url: "ws://127.0.0.1:" + store.seq, via: "injected" } });
    const exchange = async (thousands) => {
      for (let i = 0; i < thousands; i++) {
        await come(500, () => client.write(pings));
        for (const _ of [1, 2]) await come(245, () => client.write(calls));
        await come(10, () => { for (let n = 0; n < 10; n++) change(); });
      }
    };
    const used = () => {
      gc();
      const { heapUsed, external } = process.memoryUsage();
      return heapUsed + external;
    };
    await come(1, () => client.write(listen));
    await exchange(30); // more events than are kept
    const before = used();
    await exchange(100);
    console.log(used() - before);
    client.destroy();
    await window.close();
  }
  main();`;

test("100,000 messages leave nothing behind", async () => {
  const { stdout, stderr } = spawnSync(process.execPath, ["--expose-gc", "-"], {
    input: await bundle(program),
    env: { ...process.env, XDG_DATA_HOME: await temporaryFolder() },
    encoding: "utf8",
    timeout: hang,
  });
  expect(stderr).toBe("");
  expect(stdout).toMatch(/^-?\d+\n$/);
  expect(Number(stdout)).toBeLessThan(256 * 1024);
});
