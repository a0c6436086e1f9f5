// Serves one window on its socket.
//
//     const server = new WindowServer({ name, version, identity, store, commands, log });
//     const address = await server.open(surroundings);
//     …
//     await server.close();
//
// It does not know what a browser is: the state comes from the store.
import { randomUUID } from "node:crypto";
import { type FSWatcher, watch } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { basename, dirname } from "node:path";
import { setTimeout as after } from "node:timers/promises";
import type { Identity, Surroundings } from "../address/address";
import { type Bound, bind } from "../address/bind";
import { shortName } from "../address/directory";
import { sweep } from "../address/sweep";
import { type Log, reason } from "../log";
import type { Hello, Peer } from "../protocol/protocol.generated";
import { Backoff } from "./backoff";
import { type Command, Connection, type Host } from "./connection";
import type { Store } from "./store";

export const connectionLimit = 256;

const minute = 60_000;

export interface WindowOptions {
  name: string;
  version: string;
  identity: Identity;
  store: Store;
  commands: ReadonlyMap<string, Command>;
  log: Log;
  /** How long to wait before a name that is lost again is bound again. */
  backoff?: Pick<Backoff, "next" | "reset">;
}

export class WindowServer implements Host {
  readonly store: Store;
  readonly commands: ReadonlyMap<string, Command>;
  readonly log: Log;
  readonly session = randomUUID();
  readonly #options: WindowOptions;
  readonly #connections = new Set<Connection>();
  readonly #listeners = new Set<() => void>();
  #folders: string[];
  #around: Surroundings | undefined;
  #server: Server | undefined;
  #bound: Bound | undefined;
  readonly #watchers: FSWatcher[] = [];
  /** Binding, binding again and closing, one after the other. */
  #steps: Promise<void> = Promise.resolve();
  /** Aborted by close. */
  readonly #closing = new AbortController();
  readonly #backoff: Pick<Backoff, "next" | "reset">;
  /** When it was last tried to bind again, by performance.now. */
  #boundAgain = Number.NEGATIVE_INFINITY;
  /** Whether a check of the name is due that has not begun. */
  #checkNameDue = false;

  constructor(options: WindowOptions) {
    this.#options = options;
    this.#folders = options.identity.folders;
    this.store = options.store;
    this.commands = options.commands;
    this.log = options.log;
    this.#backoff = options.backoff ?? new Backoff();
  }

  /** Binds the window's address and answers it. */
  async open(around: Surroundings): Promise<string> {
    this.#around = around;
    await this.#step(() => this.#bind());
    void this.#sweep(); // in the background
    return this.address;
  }

  /** Removes what dead windows left, as the coordinator does when it starts. Never throws. */
  async #sweep(): Promise<void> {
    if (!this.#around || this.#around.platform === "win32") return; // a pipe's name goes with its process
    try {
      const removed = await sweep(dirname(this.address), this.#around.uid, this.#closing.signal);
      if (removed.length > 0) this.log.info(`removed what dead windows left: ${removed.join(", ")}`);
    } catch (error) {
      this.log.debug(`what dead windows left may stay: ${reason(error)}`);
    }
  }

  /** Where the window listens now. */
  get address(): string {
    return this.#bound?.address ?? "";
  }

  /** Notifies every client, ends them, and removes the address. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#step(async () => {
      this.#unwatch();
      for (const connection of this.#connections) connection.bye("shutdown", "the window closes");
      // While we listen, no other file can get the socket's inode number: so the name goes first.
      await this.#bound?.release();
      const server = this.#server;
      if (server) await new Promise<void>((resolve) => server.close(() => resolve())); // within the linger
    });
  }

  #step(work: () => Promise<void>): Promise<void> {
    const done = this.#steps.then(work);
    this.#steps = done.catch(() => {}); // the caller gets the error
    return done;
  }

  async #bind(): Promise<void> {
    if (!this.#around) return;
    // Half-open: `echo … | socat` ends its side before it has the answer.
    const server = createServer({ allowHalfOpen: true }, (socket) => this.#accept(socket));
    this.#bound = await bind(server, this.#options.identity.key, this.#around);
    server.on("error", (error) => this.log.error(`the window's socket: ${reason(error)}`));
    this.#server?.close(); // its connections stay
    this.#server = server;
    this.#watch(this.#bound);
  }

  /** A name that is deleted or replaced, or whose directory clients do not find, is bound again (2.1). */
  #watch({ address, directories }: Bound): void {
    this.#unwatch();
    for (const dir of directories) {
      const ours = [basename(address), basename(dir), shortName];
      try {
        const watcher = watch(dir, (_, name) => {
          if (name === null || ours.includes(name)) this.#checkName();
        });
        watcher.on("error", (error) => this.#unwatched(error));
        this.#watchers.push(watcher);
      } catch (error) {
        this.#unwatched(error); // it serves all the same
      }
    }
    if (directories.length > 0) this.#checkName(); // for what happened before the watch
  }

  #unwatch(): void {
    for (const watcher of this.#watchers.splice(0)) watcher.close();
  }

  #checkName(): void {
    if (this.#checkNameDue) return;
    this.#checkNameDue = true;
    void this.#step(() => this.#keepName());
  }

  /** Binds again until the name leads to this window. Never throws. */
  async #keepName(): Promise<void> {
    this.#checkNameDue = false;
    while (!this.#closing.signal.aborted && !(await this.#hasName())) {
      // Back off: another program may remove the name again and again.
      if (performance.now() - this.#boundAgain > minute) this.#backoff.reset();
      else if (!(await this.#pause(this.#backoff.next()))) return;
      this.#boundAgain = performance.now();
      const was = this.address;
      try {
        await this.#bind();
        this.log.warn(`${was} was no longer this window's: it is bound again, at ${this.address}`);
        this.changed();
      } catch (error) {
        this.log.error(`agents may not find this window, which lost its address: ${reason(error)}`);
      }
    }
  }

  /** A name that cannot be checked is lost: clients cannot reach it either. */
  async #hasName(): Promise<boolean> {
    return (await this.#bound?.isOurs().catch(() => false)) ?? false;
  }

  /** Whether the window still is open after ms. */
  #pause(ms: number): Promise<boolean> {
    return after(ms, true, { signal: this.#closing.signal, ref: false }).catch(() => false);
  }

  #unwatched(error: unknown): void {
    this.log.warn(`no watcher for ${this.address}: ${reason(error)}`);
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

  /** How many are connected, also those that have sent nothing yet. */
  get connected(): number {
    return this.#connections.size;
  }

  /** Calls listener when a connection has begun or ended, or clients may have changed, until the returned function is called. */
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
    const connection = new Connection(socket, this);
    if (this.#connections.size >= connectionLimit) {
      connection.bye("too_many_connections", `${connectionLimit} clients are connected already`);
      return;
    }
    this.#connections.add(connection);
    this.changed(); // before anything is sent to it
  }
}
