// Serves one window on its socket.
//
//     const server = new WindowServer({ name, version, identity, store, commands, log });
//     const address = await server.open(surroundings);
//     …
//     await server.close();
//
// It does not know what a browser is: the store says what there is to tell.
import { randomUUID } from "node:crypto";
import { createServer, type Server, type Socket } from "node:net";
import type { Identity, Surroundings } from "./address";
import { type Bound, bind } from "./bind";
import { type Command, Connection, type Host } from "./connection";
import { type Log, reason } from "./log";
import type { Hello, Peer } from "./protocol.generated";
import type { Store } from "./store";

export const connectionLimit = 256;

export interface WindowOptions {
  name: string;
  version: string;
  identity: Identity;
  store: Store;
  commands: ReadonlyMap<string, Command>;
  log: Log;
}

export class WindowServer implements Host {
  readonly store: Store;
  readonly commands: ReadonlyMap<string, Command>;
  readonly log: Log;
  readonly session = randomUUID();
  readonly #options: WindowOptions;
  readonly #connections = new Set<Connection>();
  readonly #listeners = new Set<() => void>();
  readonly #server: Server;
  #folders: string[];
  #bound: Bound | undefined;

  constructor(options: WindowOptions) {
    this.#options = options;
    this.#folders = options.identity.folders;
    this.store = options.store;
    this.commands = options.commands;
    this.log = options.log;
    // Half-open: `echo … | socat` ends its side before it has the answer.
    this.#server = createServer({ allowHalfOpen: true }, (socket) => this.#accept(socket));
  }

  /** Binds the window's address and answers it. */
  async open(around: Surroundings): Promise<string> {
    this.#bound = await bind(this.#server, this.#options.identity.key, around);
    this.#server.on("error", (error) => this.log.error(`the window's socket: ${reason(error)}`));
    return this.#bound.address;
  }

  /** Tells every client, ends them, and removes the address. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const connection of this.#connections) connection.bye("shutdown", "the window closes");
    await this.#bound?.release();
    await closed; // connections end within their linger
  }

  /** The folders of the workspace have changed, its identity has not. */
  set folders(folders: string[]) {
    this.#folders = folders;
  }

  /** The clients that listen, as they named themselves. */
  get clients(): Peer[] {
    const listening = [...this.#connections].filter((connection) => connection.listening);
    return listening.map((connection) => connection.client ?? { name: "a client without a name", version: "" });
  }

  /** Calls listener when clients may have changed, until the returned function is called. */
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
      folders: this.#folders,
    };
  }

  changed(): void {
    for (const listener of this.#listeners) listener();
  }

  gone(connection: Connection): void {
    this.#connections.delete(connection);
    this.changed();
  }

  #accept(socket: Socket): void {
    const full = this.#connections.size >= connectionLimit;
    const connection = new Connection(socket, this);
    this.#connections.add(connection);
    if (full) connection.bye("too_many_connections", `${connectionLimit} clients are connected already`);
  }
}
