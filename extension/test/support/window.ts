// A served window in its own folder, gone after the test.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { surroundings as here, type Identity, type Surroundings } from "../../src/core/address/address";
import { silent } from "../../src/core/log";
import type { Command } from "../../src/core/window/connection";
import { type WindowOptions, WindowServer } from "../../src/core/window/server";
import { Store } from "../../src/core/window/store";
import { Client } from "./client";

export const identity: Identity = { workspace: "/home/dev/shop", folders: ["/home/dev/shop"], key: "0123456789abcdef" };

export async function temporaryFolder(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), "bc-"));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

export async function surroundings(): Promise<Surroundings> {
  return { ...here(), env: { XDG_DATA_HOME: join(await temporaryFolder(), "data") } };
}

/** The commands that the vectors speak of. */
export const testCommands: ReadonlyMap<string, Command> = new Map([
  ["echo", { run: async (arg: unknown) => arg }],
  ["wait", { waitsForUser: true, run: () => new Promise(() => {}) }],
]);

/** The state of a window where nothing is debugged, and where one session of this name is. */
export const content = { debugSessions: [], browser: null, pages: [] };
export const session = (name: string) => ({ ...content, debugSessions: [{ id: name, name, type: "pwa-chrome" }] });

export interface Served {
  server: WindowServer;
  store: Store;
  address: string;
  around: Surroundings;
  dial(): Promise<Client>;
}

export async function serve(
  commands = testCommands,
  given?: Surroundings,
  options: Partial<WindowOptions> = {},
): Promise<Served> {
  const around = given ?? (await surroundings());
  const store = new Store();
  const server = new WindowServer({
    name: "test",
    version: "1.2.3",
    identity,
    store,
    commands,
    log: silent,
    ...options,
  });
  const address = await server.open(around);
  const clients: Client[] = [];
  onTestFinished(async () => {
    for (const client of clients) client.close();
    await server.close();
  });
  const dial = async () => {
    const client = await Client.dial(address);
    clients.push(client);
    return client;
  };
  return { server, store, address, around, dial };
}
