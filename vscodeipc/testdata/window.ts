// A window of the extension's core, for tests of both languages on one directory.
//
//     node window.mjs WORKSPACE serve     serves until stdin ends, and prints its address
//     node window.mjs WORKSPACE serve URL the same, with the browser at URL, an access mode of full, and a list of clients
//     node window.mjs WORKSPACE ROUNDS    binds and closes so many windows, and fails when one cannot be reached
import { createConnection } from "node:net";
import { surroundings } from "../../extension/src/core/address/address";
import { hashOf } from "../../extension/src/core/address/identity";
import { Clients, clientCommands } from "../../extension/src/core/window/clients";
import { WindowServer } from "../../extension/src/core/window/server";
import { Store } from "../../extension/src/core/window/store";

const log = { debug() {}, info() {}, warn() {}, error: (message: string) => console.error(message) };
const [workspace = "", mode = "", browser = ""] = process.argv.slice(2);
const key = await hashOf(workspace);

function makeWindow(store = new Store(), more: ReturnType<typeof clientCommands> = []) {
  const echo = { run: async (arg: unknown) => arg };
  const identity = { workspace, folders: [workspace], key };
  return new WindowServer({ name: "extension", version: "1", identity, store, commands: new Map([["echo", echo], ...more]), log });
}

/** The session of whoever listens at address. */
function ask(address: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const hello = { id: 1, type: "hello", version: 2, payload: { client: { name: "test", version: "" } } };
    const socket = createConnection(address, () => socket.write(`${JSON.stringify(hello)}\n`));
    let text = "";
    socket.on("data", (chunk) => {
      text += chunk;
      if (!text.endsWith("\n")) return;
      socket.destroy();
      resolve(JSON.parse(text).payload.session);
    });
    socket.on("error", reject);
    socket.on("end", () => reject(new Error("it hung up")));
  });
}

if (mode === "serve") {
  const store = new Store();
  if (browser) {
    const via = "injected";
    store.set({ browser: { url: browser, product: "Chromium", via }, access: { mode: "full", stopped: [] } });
  }
  const window = makeWindow(store, browser ? clientCommands(new Clients()) : []);
  console.log(await window.open(surroundings()));
  for await (const line of process.stdin) {
    store.set({ debugSessions: [], browser: { url: "ws://127.0.0.1:1/", product: String(line).trim(), via: "launched" }, pages: [] });
  }
  await window.close();
} else {
  for (let round = 0; round < Number(mode); round++) {
    const window = makeWindow();
    const address = await window.open(surroundings());
    const session = await ask(address);
    if (session !== window.session) throw new Error(`round ${round}: another window answers at ${address}`);
    await window.close();
  }
}
