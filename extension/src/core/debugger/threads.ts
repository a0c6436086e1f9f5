// Which threads of the window's debug sessions are paused, and why: read from the messages between the
// editor and the debug adapters, without requests and without polling.
//
// A session that started before the extension is known without its earlier messages; its threads are
// known from the first message about them.
import { whenAborted } from "../abort";
import { isBrowserType, isUsersTab } from "../browser/injection";
import type { SessionInfo } from "../browser/sessions";

/** Why and where a thread is paused. */
export interface Stop {
  readonly thread: number;
  /** In DAP's words. */
  readonly reason: string;
  readonly description?: string | undefined;
}

/** A message of the Debug Adapter Protocol, as far as it matters here. */
export interface DapMessage {
  type?: string;
  seq?: number;
  request_seq?: number;
  success?: boolean;
  event?: string;
  command?: string;
  arguments?: Record<string, unknown>;
  body?: Record<string, unknown>;
}

/** The requests that let a thread run. */
const moves = new Set(["continue", "next", "stepIn", "stepOut", "stepBack", "reverseContinue", "goto", "restartFrame"]);

export class Session {
  readonly stops = new Map<number, Stop>();
  readonly threads = new Set<number>();
  /** Its messages are seen from the beginning. */
  watched = false;
  ended = false;
  /** The adapter has refused to start: its end is no program's own end. */
  refused = false;
  /** The adapter has reported the end of its program. */
  terminated = false;
  /** How often one of its threads came to a stop. */
  count = 0;
  /** The requests in flight that let a thread run, with the stop that they left. */
  readonly moving = new Map<number, { stop: Stop | undefined; count: number }>();

  /** The adapter takes breakpoints. */
  takesBreakpoints = false;
  /** How many setBreakpoints requests were sent to the adapter, and which of them it has answered. */
  breakpointRequests = 0;
  readonly pendingBreakpoints = new Map<number, number>();
  answeredBreakpoints = 0;

  constructor(readonly info: SessionInfo) {}

  /** The stop of a thread, or of the thread that came to a stop last. */
  stopOf(thread?: number): Stop | undefined {
    return thread === undefined ? [...this.stops.values()].at(-1) : this.stops.get(thread);
  }

  get root(): SessionInfo {
    let { info } = this;
    while (info.parent) info = info.parent;
    return info;
  }
}

export class Threads {
  /** In the order of their start. */
  readonly #sessions = new Map<string, Session>();
  readonly #listeners = new Set<() => void>();

  /** A session exists; `watched` when all of its messages will be seen. */
  started(info: SessionInfo, watched = false): Session {
    if (info.parent) this.started(info.parent);
    let session = this.#sessions.get(info.id);
    if (!session) {
      session = new Session(info);
      this.#sessions.set(info.id, session);
    }
    if (watched) session.watched = true;
    this.#notify();
    return session;
  }

  /** A session has ended, and everything below it. */
  ended(id: string): void {
    const session = this.#sessions.get(id);
    if (!session) return;
    session.ended = true;
    this.#sessions.delete(id);
    for (const { info } of this.all) {
      if (info.parent?.id === id) this.ended(info.id);
    }
    this.#notify();
  }

  get all(): Session[] {
    return [...this.#sessions.values()];
  }

  get(id: string): Session | undefined {
    return this.#sessions.get(id);
  }

  /** The editor sends this to the adapter. */
  toAdapter(id: string, message: DapMessage): void {
    const session = this.#sessions.get(id);
    if (!session || message.type !== "request") return;
    if (message.command === "setBreakpoints") {
      session.breakpointRequests += 1;
      session.pendingBreakpoints.set(message.seq ?? -1, session.breakpointRequests);
    }
    if (!moves.has(message.command ?? "")) return;
    // From now on and not only from the answer: the next stop may come before that.
    const thread = Number(message.arguments?.threadId ?? session.stopOf()?.thread);
    session.moving.set(message.seq ?? -1, { stop: session.stops.get(thread), count: session.count });
    session.stops.delete(thread);
    this.#notify();
  }

  /**
   * The browser's debug session that the user means to stop by this message to the session of a page. The editor's
   * Stop ends the page that has the focus, and the browser goes on with its other tabs, as those of agents. The
   * oldest page stands for the browser: the launch has opened it. A page that was closed has reported its end before.
   */
  browserToStop(id: string, { type, command = "", arguments: args }: DapMessage): SessionInfo | undefined {
    const session = this.#sessions.get(id);
    const parent = session?.info.parent;
    const stops = type === "request" && ["terminate", "disconnect"].includes(command) && args?.restart !== true;
    if (!stops || !parent || parent.parent || session.terminated) return undefined;
    if (!isBrowserType(parent.type) || isUsersTab(parent.configuration)) return undefined;
    const oldest = this.all.find(({ info }) => info.parent?.id === parent.id);
    return oldest === session ? parent : undefined;
  }

  /** The adapter sends this to the editor. */
  fromAdapter(id: string, message: DapMessage): void {
    const session = this.#sessions.get(id);
    if (!session) return;
    if (message.type === "response") this.#response(session, message);
    else if (message.type === "event") this.#event(session, message.event, message.body ?? {});
    this.#notify();
  }

  /** Calls listener after each message, until the returned function is called. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Waits until done gives something; undefined when the limit, in ms, is over. */
  until<T>(done: () => T | undefined, signal: AbortSignal): Promise<T>;
  until<T>(done: () => T | undefined, signal: AbortSignal, limit: number): Promise<T | undefined>;
  until<T>(done: () => T | undefined, signal: AbortSignal, limit?: number): Promise<T | undefined> {
    return new Promise((resolve, reject) => {
      const finish = (settle: () => void) => {
        clearTimeout(timer);
        stop();
        stopWaiting();
        settle();
      };
      const look = () => {
        const found = done();
        if (found !== undefined) finish(() => resolve(found));
      };
      let stopWaiting = () => {};
      const timer = limit === undefined ? undefined : setTimeout(() => finish(() => resolve(undefined)), limit);
      const stop = this.onChange(look);
      stopWaiting = whenAborted(signal, () => finish(() => reject(signal.reason)));
      if (!signal.aborted) look();
    });
  }

  /**
   * Has the editor change breakpoints, and waits until the debug adapters have answered, but no longer than
   * limit, in ms. `change` returns how many were added or removed: the adapters get a request for each.
   */
  async changeBreakpoints(change: () => number, signal: AbortSignal, limit: number): Promise<number> {
    const before = this.all
      .filter(({ takesBreakpoints }) => takesBreakpoints)
      .map((each) => ({ each, sent: each.breakpointRequests }));
    const changes = change();
    const isAnswered = () => before.every(({ each, sent }) => each.ended || each.answeredBreakpoints >= sent + changes);
    if (changes > 0) await this.until(() => isAnswered() || undefined, signal, limit);
    return changes;
  }

  #response(session: Session, message: DapMessage): void {
    const { request_seq = -1, success } = message;
    if (isFailedStart(message)) session.refused = true;
    session.answeredBreakpoints = Math.max(
      session.answeredBreakpoints,
      session.pendingBreakpoints.get(request_seq) ?? 0,
    );
    session.pendingBreakpoints.delete(request_seq);
    const before = session.moving.get(request_seq);
    session.moving.delete(request_seq);
    // It did not move after all.
    if (before?.stop && success === false && session.count === before.count) {
      session.stops.set(before.stop.thread, before.stop);
    }
  }

  #event(session: Session, event: string | undefined, body: Record<string, unknown>): void {
    const thread = Number(body.threadId ?? 0);
    if (event === "stopped") {
      session.threads.add(thread);
      session.stops.delete(thread); // to the end: it is the last one now
      session.stops.set(thread, { thread, reason: String(body.reason ?? "pause"), description: describe(body) });
      session.count += 1;
    } else if (event === "continued") {
      if (body.allThreadsContinued === true || body.threadId === undefined) session.stops.clear();
      else session.stops.delete(thread);
    } else if (event === "terminated") {
      session.terminated = true;
    } else if (event === "initialized") {
      session.takesBreakpoints = session.info.configuration.noDebug !== true;
    } else if (event === "thread") {
      if (body.reason === "started") session.threads.add(thread);
      if (body.reason !== "exited") return;
      session.threads.delete(thread);
      session.stops.delete(thread);
    }
  }

  #notify(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}

/** Whether the adapter answers that it cannot start: no message follows, and the session has no other end. */
export function isFailedStart({ type, command = "", success }: DapMessage): boolean {
  return type === "response" && success === false && ["initialize", "launch", "attach"].includes(command);
}

/** The reason to show: of an exception its text, which has more detail. */
function describe({ reason, description, text }: Record<string, unknown>): string | undefined {
  const explanation = reason === "exception" ? (text ?? description) : (description ?? text);
  return typeof explanation === "string" && explanation !== "" ? explanation : undefined;
}
