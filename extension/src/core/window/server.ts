// Serves one window on its socket.
//
//     const server = new WindowServer({ name, version, identity, store, commands, log });
//     const address = await server.open(surroundings);
//     …
//     await server.close();
//
// It does not know what a browser is: the state comes from the store.
import { randomUUID } from "node:crypto";
import type { Socket } from "node:net";
import type { Identity, Surroundings } from "../address/address";
import type { Log } from "../log";
import type { Hello, Peer } from "../protocol/protocol.generated";
import { Binding, type BindingOptions } from "./binding";
import { type Command, Connection, type Host } from "./connection";
import type { Store } from "./store";

export const connectionLimit = 256;

export interface WindowOptions {
  name: string;
  version: string;
  identity: Identity;
  store: Store;
  commands: ReadonlyMap<string, Command>;
  log: Log;
  /** How long to wait before a name that is lost again is bound again. */
  backoff?: BindingOptions["backoff"];
}

export class WindowServer implements Host {
  readonly store: Store;
  readonly commands: ReadonlyMap<string, Command>;
  readonly log: Log;
  readonly session = randomUUID();
  readonly #options: WindowOptions;
  readonly #connections = new Set<Connection>();
  readonly #listeners = new Set<() => void>();
  readonly #name: Binding;

  constructor(options: WindowOptions) {
    this.#options = options;
    this.store = options.store;
    this.commands = options.commands;
    this.log = options.log;
    this.#name = new Binding({
      key: options.identity.key,
      log: options.log,
      backoff: options.backoff,
      accept: (socket) => this.#accept(socket),
      changed: () => this.changed(),
    });
  }

  /** Binds the window's address and returns it. */
  async open(around: Surroundings): Promise<string> {
    await this.#name.open(around);
    return this.address;
  }

  /** Where the window listens now. */
  get address(): string {
    return this.#name.address;
  }

  /** Notifies every client, ends them, and removes the address. */
  close(): Promise<void> {
    return this.#name.close(() => {
      for (const connection of this.#connections) connection.bye("shutdown", "the window closes");
    });
  }

  /** The clients that listen, as they named themselves. */
  get clients(): Peer[] {
    const listening = [...this.#connections].filter((connection) => connection.listening);
    return listening.map((connection) => connection.client ?? { name: "a client without a name", version: "" });
  }

  /** How many are connected, also those that have sent nothing yet. */
  get connected(): number {
    return this.#connections.size;
  }

  /** Calls listener when a connection or its clients may have changed, until the returned function is called. */
  onClients(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  hello(): Omit<Hello, "version" | "seq" | "state" | "commands" | "events"> {
    const { name, version, identity } = this.#options;
    return {
      server: { name, version, kind: "vscode" },
      session: this.session,
      pid: process.pid,
      workspace: identity.workspace,
      folders: identity.folders,
    };
  }

  changed(): void {
    for (const listener of this.#listeners) listener();
  }

  forget(connection: Connection): void {
    this.#connections.delete(connection);
    this.changed();
  }

  #accept(socket: Socket): void {
    const connection = new Connection(socket, this);
    if (this.#connections.size >= connectionLimit) {
      connection.bye("too_many_connections", `${connectionLimit} clients are connected already`);
      return;
    }
    this.#connections.add(connection);
    this.changed(); // before anything is sent to it
  }
}
