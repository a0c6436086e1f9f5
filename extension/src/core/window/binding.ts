// A window's address: binds it, and binds it again when it is lost.
// Obeys specs/window-protocol/README.md section 2.1.
import { type FSWatcher, watch } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { basename } from "node:path";
import { setTimeout as after } from "node:timers/promises";
import type { Surroundings } from "../address/address";
import { type Bound, bind } from "../address/bind";
import { shortName } from "../address/directory";
import { type Log, reason } from "../log";
import { Backoff } from "./backoff";

const minute = 60_000;

export interface BindingOptions {
  /** The key of the window's identity. */
  key: string;
  log: Log;
  /** How long to wait before a name that is lost again is bound again. */
  backoff?: Pick<Backoff, "next" | "reset"> | undefined;
  accept(socket: Socket): void;
  /** The name was lost, and another socket has it now. */
  changed(): void;
}

export class Binding {
  readonly #options: BindingOptions;
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
  #checkDue = false;

  constructor(options: BindingOptions) {
    this.#options = options;
    this.#backoff = options.backoff ?? new Backoff();
  }

  /** Where the window listens now; empty before it does. */
  get address(): string {
    return this.#bound?.address ?? "";
  }

  /** Binds the name. */
  async open(around: Surroundings): Promise<void> {
    this.#around = around;
    await this.#step(() => this.#bind());
  }

  /** Calls leave, which ends the connections, and releases the name. */
  async close(leave: () => void): Promise<void> {
    this.#closing.abort();
    await this.#step(async () => {
      this.#unwatch();
      leave();
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
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      // One that comes while the window closes would keep it from closing.
      if (this.#closing.signal.aborted) socket.destroy();
      else this.#options.accept(socket);
    });
    this.#bound = await bind(server, this.#options.key, this.#around);
    server.on("error", (error) => this.#options.log.error(`the window's socket: ${reason(error)}`));
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
          if (name === null || ours.includes(name)) this.#check();
        });
        watcher.on("error", (error) => this.#warn(error));
        this.#watchers.push(watcher);
      } catch (error) {
        this.#warn(error); // it serves all the same
      }
    }
    if (directories.length > 0) this.#check(); // for what happened before the watch
  }

  #unwatch(): void {
    for (const watcher of this.#watchers.splice(0)) watcher.close();
  }

  #check(): void {
    if (this.#checkDue) return;
    this.#checkDue = true;
    void this.#step(() => this.#keepName());
  }

  /** Binds again until the name leads to this window. Never throws. */
  async #keepName(): Promise<void> {
    this.#checkDue = false;
    while (!this.#closing.signal.aborted && !(await this.#hasName())) {
      // Back off: another program may remove the name again and again.
      if (performance.now() - this.#boundAgain > minute) this.#backoff.reset();
      else if (!(await this.#pause(this.#backoff.next()))) return;
      this.#boundAgain = performance.now();
      const was = this.address;
      try {
        await this.#bind();
        this.#options.log.warn(`${was} was no longer this window's: it is bound again, at ${this.address}`);
        this.#options.changed();
      } catch (error) {
        this.#options.log.error(`agents may not find this window, which lost its address: ${reason(error)}`);
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

  #warn(error: unknown): void {
    this.#options.log.warn(`no watcher for ${this.address}: ${reason(error)}`);
  }
}
