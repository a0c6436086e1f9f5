// One client's connection to this window: requests in, responses and events out.
// Obeys specs/window-protocol/README.md sections 3 to 7 and 11.
import type { Socket } from "node:net";
import { type Log, reason } from "../log";
import { formatLine, LineReader, parseLine, TooLarge } from "../protocol/framing";
import type { Hello, Id, Peer, StateAnswer, WindowError } from "../protocol/protocol.generated";
import {
  protocolVersion,
  Refusal,
  type RequestType,
  readCall,
  readCancel,
  readHello,
  readId,
  readListen,
  readPayload,
  readType,
} from "../protocol/request";
import type { Store } from "./store";

const inFlightLimit = 256;
export const waitingLimit = 16 * 1024 * 1024;
/** Above this many waiting bytes no more requests are read, until the client has read. */
const fullAt = 1024 * 1024;
/** How long a client may take to read the last lines. */
export const linger = 2_000;
/** How long calls may still take when their client has ended its side. */
const lastCalls = 1_000;
export const callLimit = 5_000;

/** What call can run. */
export interface Command {
  /** Without a deadline, since the user may take any time. Other commands have 5 s. */
  waitsForUser?: boolean;
  run(arg: unknown, caller: Caller): Promise<unknown>;
}

/** Who runs a command. */
export interface Caller {
  /** Aborted when the call is given up. */
  readonly signal: AbortSignal;
  /** Aborted when the client's connection has ended; the same for all of its calls. */
  readonly connection: AbortSignal;
  /** As it called itself, if it did. */
  readonly peer: Peer | undefined;
}

/** The window, as its connections see it. */
export interface Host {
  readonly store: Store;
  readonly commands: ReadonlyMap<string, Command>;
  readonly log: Log;
  hello(): Omit<Hello, "version" | "seq" | "state" | "commands" | "events">;
  /** The client has sent its hello, listens now, or has gone. */
  changed(): void;
  forget(connection: Connection): void;
}

export const offeredEvents = ["state"] as const;

export class Connection {
  readonly #socket: Socket;
  readonly #host: Host;
  readonly #reader = new LineReader();
  readonly #running = new Map<Id, AbortController>();
  readonly #ended = new AbortController();
  #unsubscribe: (() => void) | undefined;
  /** The lines that wait for the client, and their length; what the socket has of them is begun. */
  #waiting: string[] = [];
  #waitingLength = 0;
  /** Set once nothing more is read and the last line is written. */
  #closing = false;
  #inputEnded = false;
  client: Peer | undefined;

  constructor(socket: Socket, host: Host) {
    this.#socket = socket;
    this.#host = host;
    socket.on("data", (chunk: Buffer) => this.#data(chunk));
    socket.on("end", () => this.#end());
    socket.on("drain", () => this.#flush());
    socket.on("error", (error) => host.log.debug(`a client's connection: ${reason(error)}`));
    socket.on("close", () => this.#closed());
  }

  get listening(): boolean {
    return this.#unsubscribe !== undefined;
  }

  /** Sends the reason and ends the connection; after a grace period it is destroyed. */
  bye(why: string, message: string): void {
    if (this.#closing) return;
    this.#waiting.push(formatLine({ type: "bye", payload: { reason: why, message } }));
    this.#finish();
  }

  #finish(): void {
    if (this.#closing) return;
    this.#closing = true;
    this.#stop();
    for (const line of this.#waiting.splice(0)) this.#socket.write(line);
    this.#socket.resume(); // what still comes is read and dropped, else the system would discard our last lines
    this.#socket.end();
    const timer = setTimeout(() => this.#socket.destroy(), linger);
    this.#socket.once("close", () => clearTimeout(timer));
  }

  #stop(): void {
    this.#unsubscribe?.();
    this.#unsubscribe = undefined;
    for (const abort of this.#running.values()) abort.abort(new Refusal("cancelled", "the connection has ended"));
    this.#ended.abort();
  }

  #closed(): void {
    this.#closing = true;
    this.#stop();
    this.#host.forget(this);
  }

  /** The client has sent all that it will, or is gone: that looks the same from here. */
  #end(): void {
    this.#inputEnded = true;
    this.#finishWhenDone();
    if (this.#closing) return;
    const timer = setTimeout(() => this.#finish(), lastCalls);
    this.#socket.once("close", () => clearTimeout(timer));
  }

  #finishWhenDone(): void {
    if (this.#inputEnded && this.#running.size === 0) this.#finish();
  }

  #data(chunk: Buffer): void {
    if (this.#closing) return;
    try {
      for (const line of this.#reader.read(chunk)) {
        this.#line(line);
        if (this.#closing) return;
      }
    } catch (error) {
      if (!(error instanceof TooLarge)) throw error;
      this.#refuse(null, new Refusal("too_large", error.message));
      this.bye("too_large", error.message);
    }
  }

  #line(line: Uint8Array): void {
    let id: Id | null = null;
    try {
      const message = readMessage(line);
      id = readId(message);
      const type = readType(message);
      if (this.#running.has(id))
        throw new Refusal("duplicate_id", `a request with the id ${JSON.stringify(id)} is in flight already`);
      // A cancel makes room.
      if (type !== "cancel" && this.#running.size >= inFlightLimit) {
        throw new Refusal("too_many", `${inFlightLimit} requests of this connection are in flight already`);
      }
      this.#handle(id, type, readPayload(message, type));
    } catch (error) {
      this.#refuse(id, error);
    }
  }

  #handle(id: Id, type: RequestType, payload: Record<string, unknown>): void {
    if (type === "hello") this.#hello(id, payload);
    else if (type === "ping") this.#answer(id, {});
    else if (type === "state") this.#answer(id, this.#now());
    else if (type === "listen") this.#listen(id, payload);
    else if (type === "call") this.#call(id, payload);
    else this.#cancel(id, payload);
  }

  #now(): StateAnswer {
    const { seq, state } = this.#host.store;
    return { session: this.#host.hello().session, seq, state };
  }

  #hello(id: Id, payload: Record<string, unknown>): void {
    this.client = readHello(payload).client;
    const { store, commands } = this.#host;
    const answer: Hello = {
      version: protocolVersion,
      ...this.#host.hello(),
      commands: [...commands.keys()],
      events: [...offeredEvents],
      seq: store.seq,
      state: store.state,
    };
    this.#answer(id, answer);
    this.#host.changed();
  }

  #listen(id: Id, payload: Record<string, unknown>): void {
    readListen(payload, offeredEvents);
    // Nothing can happen between the snapshot and the subscription: this is one step.
    this.#unsubscribe?.();
    this.#answer(id, this.#now());
    if (this.#closing) return;
    this.#unsubscribe = this.#host.store.subscribe((event) => this.#write(event));
    this.#host.changed();
  }

  #call(id: Id, payload: Record<string, unknown>): void {
    const { command: name, arg } = readCall(payload);
    const command = this.#host.commands.get(name);
    if (!command) {
      const offered = [...this.#host.commands.keys()];
      throw new Refusal("unknown_command", "no such command is offered", { offered });
    }
    void this.#run(id, command, arg);
  }

  async #run(id: Id, command: Command, arg: unknown): Promise<void> {
    const abort = new AbortController();
    this.#running.set(id, abort);
    const caller = { signal: abort.signal, connection: this.#ended.signal, peer: this.client };
    const late = command.waitsForUser
      ? undefined
      : setTimeout(() => abort.abort(new Refusal("deadline", `no answer within ${callLimit} ms`)), callLimit);
    try {
      const result = await Promise.race([command.run(arg, caller), aborted(abort.signal)]);
      this.#settle(id, () => this.#answer(id, { result: result ?? null }));
    } catch (error) {
      this.#settle(id, () => this.#refuse(id, error));
    } finally {
      clearTimeout(late);
    }
  }

  /** The id is free again before the answer is on its way. */
  #settle(id: Id, answer: () => void): void {
    this.#running.delete(id);
    answer();
    this.#finishWhenDone();
  }

  #cancel(id: Id, payload: Record<string, unknown>): void {
    const running = this.#running.get(readCancel(payload).id);
    running?.abort(new Refusal("cancelled", "given up by cancel"));
    this.#answer(id, { cancelled: running !== undefined });
  }

  #answer(id: Id, payload: object): void {
    this.#write({ id, success: true, payload });
  }

  #refuse(id: Id | null, error: unknown): void {
    const isRefusal = error instanceof Refusal;
    if (!isRefusal) this.#host.log.error(`a request failed: ${reason(error)}`);
    const { code, message, data } = isRefusal ? error : new Refusal("internal", reason(error));
    const body: WindowError = { code, message, ...(data && { data }) };
    try {
      this.#write({ id, success: false, error: body });
    } catch {
      this.#write({ id, success: false, error: { code, message: "the error's text and data cannot be sent" } });
    }
  }

  /** Throws, and sends nothing, where there is no line for the message: an answer becomes a refusal then. */
  #write(message: object): void {
    if (this.#closing) return;
    const line = formatLine(message);
    this.#waiting.push(line);
    this.#waitingLength += Buffer.byteLength(line);
    this.#flush();
    const length = this.#waitingLength + this.#socket.writableLength;
    if (length > waitingLimit) {
      this.#waiting = []; // else the client could not take the reason in time
      this.bye("slow_reader", `${length} bytes wait for this client`);
    } else if (length > fullAt) this.#socket.pause();
  }

  /** Gives the socket one line after the other, so that those it has not begun can be dropped. */
  #flush(): void {
    while (this.#waiting.length > 0 && !this.#socket.writableNeedDrain) {
      const line = this.#waiting.shift() as string;
      this.#waitingLength -= Buffer.byteLength(line);
      this.#socket.write(line);
    }
    if (this.#waiting.length === 0) this.#socket.resume();
  }
}

function readMessage(line: Uint8Array): Record<string, unknown> {
  try {
    return parseLine(line);
  } catch (error) {
    throw new Refusal("malformed", `the line is not a JSON object in UTF-8: ${reason(error)}`);
  }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}
