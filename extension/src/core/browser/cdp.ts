// One CDP connection to a browser or a page, over Node's own WebSocket.
//
//     const cdp = await Cdp.connect(url, signal);
//     const stop = cdp.on("Target.targetCreated", (params) => …);
//     const { product } = await cdp.call("Browser.getVersion");
//     cdp.close();
//
// It never reconnects: its owner waits for `closed`.
import { reason } from "../log";

export const answerLimit = 5_000;
const connectLimit = 5_000;

export type Members = Record<string, unknown>;

// Node has it since 22; @types/node 20 does not declare it.
interface Socket extends EventTarget {
  readonly readyState: number;
  send(data: string): void;
  close(): void;
}
declare const WebSocket: new (url: string) => Socket;

interface Message {
  id?: number;
  method?: string;
  params?: Members;
  result?: Members;
  error?: { message: string };
  sessionId?: string;
}

function parse(data: string): Message | undefined {
  try {
    const message: unknown = JSON.parse(data);
    return typeof message === "object" && message !== null ? message : undefined;
  } catch {
    return undefined;
  }
}

interface Waiting {
  resolve(result: Members): void;
  reject(error: Error): void;
  timer: NodeJS.Timeout;
}

/** The other side has not responded in time. */
export class NoResponse extends Error {}

export class Cdp {
  readonly #socket: Socket;
  readonly #waiting = new Map<number, Waiting>();
  readonly #listeners = new Map<string, Set<(params: Members, session: string | undefined) => void>>();
  /** Settles when the connection has ended, from either side. */
  readonly closed: Promise<void>;
  #id = 0;
  #ended = false;

  /** The URL has a secret in it: no error names it. */
  static connect(url: string, signal?: AbortSignal): Promise<Cdp> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const socket = new WebSocket(url);
      const fail = (why: Error) => {
        settled();
        socket.close();
        reject(why);
      };
      const open = () => {
        settled();
        resolve(new Cdp(socket));
      };
      const refused = () => fail(new Error("the browser does not take the connection"));
      const aborted = () => fail(new Error("given up"));
      const timer = setTimeout(() => fail(new Error("the browser does not answer")), connectLimit);
      const settled = () => {
        clearTimeout(timer);
        socket.removeEventListener("open", open);
        socket.removeEventListener("error", refused);
        socket.removeEventListener("close", refused);
        signal?.removeEventListener("abort", aborted);
      };
      socket.addEventListener("open", open);
      socket.addEventListener("error", refused); // Node 20 lets no close follow
      socket.addEventListener("close", refused);
      signal?.addEventListener("abort", aborted);
    });
  }

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.addEventListener("message", (event) => this.#message((event as MessageEvent).data));
    this.closed = new Promise((resolve) => {
      socket.addEventListener("close", () => {
        this.#end();
        resolve();
      });
    });
  }

  /** Calls a method, in a session where one is given. */
  call(method: string, params: Members = {}, session?: string): Promise<Members> {
    if (this.#ended) return Promise.reject(new Error(`${method}: the browser has closed the connection`));
    this.#id += 1;
    const id = this.#id;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(id);
        reject(new NoResponse(`${method}: no response within ${answerLimit} ms`));
      }, answerLimit);
      this.#waiting.set(id, { resolve, reject: (error) => reject(new Error(`${method}: ${reason(error)}`)), timer });
      this.#socket.send(JSON.stringify({ id, method, params, ...(session && { sessionId: session }) }));
    });
  }

  /** Calls listener at each such event until the returned function is called. */
  on(event: string, listener: (params: Members, session: string | undefined) => void): () => void {
    const listeners = this.#listeners.get(event) ?? new Set();
    this.#listeners.set(event, listeners.add(listener));
    return () => listeners.delete(listener);
  }

  close(): void {
    this.#end();
    this.#socket.close();
  }

  #message(data: unknown): void {
    if (this.#ended || typeof data !== "string") return;
    const message = parse(data);
    if (!message) {
      this.close(); // it is no DevTools server
      return;
    }
    const { id, method, params, result, error, sessionId } = message;
    if (method !== undefined) {
      for (const listener of this.#listeners.get(method) ?? []) listener(params ?? {}, sessionId);
      return;
    }
    const waiting = this.#waiting.get(id ?? 0);
    if (!waiting) return; // it came too late
    this.#waiting.delete(id ?? 0);
    clearTimeout(waiting.timer);
    if (error) waiting.reject(new Error(error.message));
    else waiting.resolve(result ?? {});
  }

  #end(): void {
    this.#ended = true;
    for (const { reject, timer } of this.#waiting.values()) {
      clearTimeout(timer);
      reject(new Error("the browser has closed the connection"));
    }
    this.#waiting.clear();
  }
}
