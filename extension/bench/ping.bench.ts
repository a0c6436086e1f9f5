// A ping of the window beside a bare echo over the same kind of socket, both answered by this language.
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createConnection, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, bench, describe } from "vitest";
import { surroundings } from "../src/core/address/address";
import { silent } from "../src/core/log";
import { WindowServer } from "../src/core/window/server";
import { Store } from "../src/core/window/store";

const dir = mkdtempSync(join(tmpdir(), "bc-"));
const around = { ...surroundings(), env: { XDG_DATA_HOME: join(dir, "data") } };
const identity = { workspace: dir, folders: [dir], key: "0123456789abcdef" };
const window = new WindowServer({
  name: "bench",
  version: "",
  identity,
  store: new Store(),
  commands: new Map(),
  log: silent,
});

const echo: Server = createServer((socket) => socket.on("data", (chunk) => socket.write(chunk)));
const echoPath = join(dir, "echo.sock");
await once(echo.listen(echoPath), "listening");

const line = '{"id":1,"type":"ping","version":2}\n';
const ask = (socket: Socket) =>
  new Promise<void>((resolve) => {
    socket.once("data", () => resolve());
    socket.write(line);
  });
const dial = async (path: string) => {
  const socket = createConnection(path);
  await once(socket, "connect");
  return socket;
};
const toWindow = await dial(await window.open(around));
const toEcho = await dial(echoPath);

afterAll(async () => {
  toWindow.destroy();
  toEcho.destroy();
  echo.close();
  await window.close();
  rmSync(dir, { recursive: true });
});

describe("a line and its answer", () => {
  bench("echo", () => ask(toEcho));
  bench("ping", () => ask(toWindow));
});
