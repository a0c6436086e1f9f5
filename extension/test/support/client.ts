// A client of the window protocol for tests: small, strict, and not the extension's own code.
import { createConnection, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { hang } from "./hang";

export type Line = Record<string, unknown> & { payload?: Record<string, unknown> };

export class Client {
  /** Everything that came, in order. */
  readonly lines: Line[] = [];
  #ended = false;
  #wake = new Set<() => void>();
  #id = 1000;

  private constructor(readonly socket: Socket) {
    const reader = createInterface({ input: socket, crlfDelay: Number.POSITIVE_INFINITY });
    reader.on("line", (line) => {
      this.lines.push(JSON.parse(line));
      this.#notify();
    });
    reader.on("error", () => {}); // the input's own, once more
    reader.on("close", () => {
      this.#ended = true;
      this.#notify();
    });
    socket.on("error", () => {});
  }

  static dial(address: string): Promise<Client> {
    return new Promise((resolve, reject) => {
      const socket = createConnection({ path: address, allowHalfOpen: true });
      socket.once("error", reject);
      socket.once("connect", () => {
        socket.off("error", reject);
        resolve(new Client(socket));
      });
    });
  }

  send(message: object): void {
    this.socket.write(`${JSON.stringify(message)}\n`);
  }

  /** The response to a request. */
  ask(type: string, payload?: object, limit?: number): Promise<Line> {
    const id = this.#id++;
    this.send({ id, type, version: 2, payload });
    return this.until((line) => line.id === id, limit);
  }

  /** The first line, also of those that came already, that fits. */
  async until(fits: (line: Line) => boolean, limit = hang): Promise<Line> {
    const deadline = performance.now() + limit;
    for (;;) {
      const found = this.lines.find(fits);
      if (found) return found;
      if (this.#ended) throw new Error(`the connection ended after ${JSON.stringify(this.lines).slice(0, 2000)}`);
      await this.#change(deadline - performance.now());
    }
  }

  /** Waits for the window to end the connection. */
  async end(limit = hang): Promise<void> {
    const deadline = performance.now() + limit;
    while (!this.#ended) await this.#change(deadline - performance.now());
  }

  close(): void {
    this.socket.destroy();
  }

  #notify(): void {
    for (const wake of this.#wake) wake();
  }

  #change(limit: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const done = (error?: Error) => {
        clearTimeout(timer);
        this.#wake.delete(wake);
        if (error) reject(error);
        else resolve();
      };
      const wake = () => done();
      const last = () => JSON.stringify(this.lines.slice(-3)).slice(0, 2000);
      const timer = setTimeout(() => done(new Error(`nothing that fits came in time; the last was ${last()}`)), limit);
      this.#wake.add(wake);
    });
  }
}
