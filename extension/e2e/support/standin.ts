// Stands in for the coordinator on the window's socket: reports clients and what they do, and asks
// the user. The words are the protocol's; the agents are made up.
import { watch } from "node:fs";
import { dirname } from "node:path";
import type { Activity, ConnectedClient, PermissionAskResult, State } from "../../src/core/protocol/protocol.generated";
import type { Line } from "../../test/support/client";
import { untilPresent } from "./files";
import { Listener } from "./socket";

const userLimit = 40_000;

export function agent(id: string, name: string, kind: "mcp" | "cdp" = "mcp"): ConnectedClient {
  return { id, name, version: "2.1.0", kind, since: Date.now() };
}

export class StandIn {
  #calls = 0;

  private constructor(private readonly listener: Listener) {}

  static async dial(address: string): Promise<StandIn> {
    return new StandIn(await Listener.dial(address));
  }

  /** Dials as soon as a window listens at the address. */
  static async join(address: string): Promise<StandIn> {
    await untilPresent(address);
    for (;;) {
      const changed = nextChange(dirname(address)); // before the dial, so that nothing is missed
      try {
        return await StandIn.dial(address);
      } catch {
        await changed.happened; // a socket that a crash has left
      } finally {
        changed.stop();
      }
    }
  }

  get state(): State {
    return this.listener.state;
  }

  until(fits: (state: State) => boolean): Promise<State> {
    return this.listener.until(fits);
  }

  debugging(fits: (state: State) => boolean): Promise<State> {
    return this.listener.debugging(fits);
  }

  /** The process that serves the window: its extension host. */
  async pid(): Promise<number> {
    const hello = { client: { name: "stand-in", version: "1" } };
    return (await this.listener.client.ask("hello", hello)).payload?.pid as number;
  }

  async announce(...clients: ConnectedClient[]): Promise<void> {
    await this.#call("client.announce", { clients });
  }

  async report(client: ConnectedClient, act: string, more: Partial<Activity> = {}): Promise<void> {
    const entry = { client: client.id, time: Date.now(), act, target: "", outcome: "done", ok: true, ...more };
    await this.#call("client.report", { entries: [entry] });
  }

  /** Settles when the user has answered. */
  ask(
    { id, name, version }: ConnectedClient,
    detail: string,
    category?: string,
    origin = "http://127.0.0.1:5173",
  ): Promise<PermissionAskResult> {
    const page = { title: "Shop", url: "http://127.0.0.1:5173/" };
    const arg = { client: { id, name, version }, act: "browser_click", detail, page, category, origin };
    const asked = this.#call("permission.ask", arg) as Promise<unknown> as Promise<PermissionAskResult>;
    asked.catch(() => {}); // a test that has failed already does not wait for it
    return asked;
  }

  /** The connection ends: the window closes, reloads, or its extension host does. */
  async ended(): Promise<void> {
    await this.listener.client.end(userLimit);
    this.close();
  }

  close(): void {
    this.listener.close();
  }

  async #call(command: string, arg: object): Promise<Record<string, unknown>> {
    this.#calls += 1;
    const id = `call ${this.#calls}`;
    const { client } = this.listener;
    client.send({ id, type: "call", version: 2, payload: { command, arg } });
    const line: Line = await client.until((each) => each.id === id, userLimit);
    if (!line.success) throw new Error(JSON.stringify(line.error));
    return line.payload?.result as Record<string, unknown>;
  }
}

function nextChange(folder: string): { happened: Promise<void>; stop(): void } {
  let stop = () => {};
  const happened = new Promise<void>((resolve) => {
    const watcher = watch(folder, () => resolve());
    stop = () => watcher.close();
  });
  return { happened, stop };
}
