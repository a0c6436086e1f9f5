// Stands between a browser's port and its clients: counts connections, and refuses them on request.

import type { AddressInfo } from "node:net";
import { connect, createServer, type Socket } from "node:net";
import { hang } from "./hang";

const timeout = hang;

export class Relay {
  readonly #sockets = new Set<Socket>();
  readonly #changed = new Set<() => void>();
  readonly #server;
  /** How many connections it takes from now on. */
  takes = Number.POSITIVE_INFINITY;

  private constructor(port: number) {
    this.#server = createServer((socket) => {
      this.takes -= 1;
      if (this.takes < 0) {
        socket.destroy();
        return;
      }
      const browser = connect(port, "127.0.0.1");
      this.#sockets.add(socket);
      this.#notify();
      const end = () => {
        socket.destroy();
        browser.destroy();
        if (this.#sockets.delete(socket)) this.#notify();
      };
      for (const each of [socket, browser]) each.on("error", end).on("close", end);
      socket.pipe(browser).pipe(socket);
    });
  }

  /** In front of a browser's port on loopback. */
  static async open(port: number): Promise<Relay> {
    const relay = new Relay(port);
    await new Promise<void>((resolve) => relay.#server.listen(0, "127.0.0.1", resolve));
    return relay;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** How many are connected. */
  get connections(): number {
    return this.#sockets.size;
  }

  /** Settles when so many are connected; fails where that does not come about. */
  until(count: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const done = (settle: () => void) => {
        clearTimeout(timer);
        this.#changed.delete(look);
        settle();
      };
      const look = () => this.connections === count && done(resolve);
      const timer = setTimeout(
        () => done(() => reject(new Error(`${this.connections} are connected, not ${count}`))),
        timeout,
      );
      this.#changed.add(look);
      look();
    });
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #notify(): void {
    for (const look of this.#changed) look();
  }
}
