// The commands by which a client debugs together with the user: debug.start, debug.state and so on.
// Obeys specs/window-protocol/commands.md.
//
// All goes through the editor's own debugger, so that the user sees the same state. Threads follows what the
// editor and its debug adapters do; this resolves the session and thread, and shapes the results.

import { isBrowserType, isUsersTab } from "../browser/injection";
import { reason } from "../log";
import { keepNewest } from "../newest";
import { Argument } from "../protocol/argument";
import type {
  AccessMode,
  Breakpoint,
  DebugEvaluateResult,
  DebugSessionState,
  DebugStartResult,
  DebugStateResult,
  DebugStepResult,
} from "../protocol/protocol.generated";
import { Refusal } from "../protocol/request";
import type { Caller, Command } from "../window/connection";
import { type Ask, frameLimit, members, readFrames, readScopes, shorten, type ToFile } from "./frames";
import { choose, type Launch, type Start, startMark } from "./launches";
import type { Session, Stop, Threads } from "./threads";

/** The editor's debugger. */
export interface DebugEditor {
  /** The access mode that the user has set. */
  readonly mode: AccessMode;
  launches(): Launch[];
  /** The first of the window's folders. */
  readonly firstFolder: string | undefined;
  /** Resolves to false where the editor did not start it; the editor has shown the user why. */
  start(start: Start): PromiseLike<boolean>;
  stop(session: string): PromiseLike<void>;
  /** Asks the debug adapter of a session. */
  ask(session: string, command: string, args: Record<string, unknown>): PromiseLike<unknown>;
  /** The path of a folder as the editor has it. */
  folder(path: string): Promise<string>;
  readonly toFile: ToFile;
  /** The absolute path of an existing file; throws if it does not exist. */
  file(path: string): Promise<string>;
  breakpoints(): Breakpoint[];
  /** Sets one in place of those of its line, for the client of this name; answers how many have come and gone. */
  setBreakpoint(
    breakpoint: Pick<Breakpoint, "path" | "line" | "condition" | "logMessage">,
    client: string | undefined,
  ): number;
  /** Removes those of a file, or of one line of it; answers how many. */
  removeBreakpoints(path: string, line: number | undefined): number;
  reveal(path: string, line: number | undefined, column: number | undefined): PromiseLike<void>;
}

/** How long a step may run before the answer is that it runs on; a browser need not stop again. */
const stepLimit = 2_000;
/** How long a browser may take to have its first page. js-debug cannot be stopped well before. */
const pageLimit = 10_000;
const stopLimit = 4_500;
/** How long the debug adapters may take to get the breakpoints. VS Code sends the first after about a second. */
const breakpointLimit = 4_000;
/** So many starts have an owner, the newest. */
const ownersLimit = 200;
/** How long a start may take. */
export const startLimit = 30_000;
const waits =
  "a dialog may be open in the window, or a task runs first. Ask the user to look there, and see debug.state";

const stepRequests = { continue: "continue", over: "next", into: "stepIn", out: "stepOut", pause: "pause" } as const;
type StepAction = keyof typeof stepRequests;
const stepActions = Object.keys(stepRequests) as StepAction[];

/** Who started a session: a client by its id, or the connection that named none. */
type Owner = string | AbortSignal;

export class Debugger {
  readonly #threads: Threads;
  readonly #editor: DebugEditor;
  /** Of what clients started, by the sessions' ids and the marks of their configurations. */
  readonly #owners = new Map<string, Owner>();
  /** One start at a time, so that a compound's sessions are not taken for the user's. */
  #starts: Promise<unknown> = Promise.resolve();
  /** The names of the sessions of starts that the editor has not settled. */
  readonly #starting = new Set<readonly string[]>();

  constructor(threads: Threads, editor: DebugEditor) {
    this.#threads = threads;
    this.#editor = editor;
  }

  get commands(): [string, Command][] {
    const command = (run: (arg: Argument, caller: Caller) => Promise<unknown>, waitsForUser = false): Command => ({
      waitsForUser,
      run: async (arg, caller) => run(Argument.parse(arg), caller),
    });
    const mutating = (run: (arg: Argument, caller: Caller) => Promise<unknown>, waitsForUser = false): Command =>
      command(async (arg, caller) => {
        this.#refuseInView();
        return run(arg, caller);
      }, waitsForUser);
    return [
      ["debug.start", command((arg, caller) => this.#start(arg, caller), true)],
      ["debug.state", command((arg) => this.#state(arg))],
      ["debug.breakpoints", command((arg, caller) => this.#breakpoints(arg, caller))],
      ["debug.step", mutating((arg, caller) => this.#step(arg, caller), true)],
      ["debug.evaluate", mutating((arg) => this.#evaluate(arg))],
      ["debug.stop", mutating((arg, caller) => this.#stop(arg, caller))],
      ["editor.reveal", command((arg) => this.#reveal(arg))],
    ];
  }

  /** In the mode `ask` the coordinator asks the user before it forwards a call; `view` is enforced here too. */
  #refuseInView(): void {
    if (this.#editor.mode !== "view") return;
    throw new Refusal("refused", 'the user lets agents only read (the access mode is "view"): ask them to change it');
  }

  async #start(arg: Argument, caller: Caller): Promise<DebugStartResult> {
    // Without a client the user started it, with the coordinator's --launch.
    if (arg.has("client")) this.#refuseInView();
    const owner = ownerOf(arg, caller);
    const work = this.#starts.then(() => this.#startNow(arg, owner, caller.signal));
    this.#starts = work.catch(() => {}); // the caller gets the error
    return work;
  }

  async #startNow(arg: Argument, owner: Owner, signal: AbortSignal): Promise<DebugStartResult> {
    signal.throwIfAborted();
    const folder = arg.has("folder") ? await this.#editor.folder(arg.text("folder")) : undefined;
    const { mark, ...start } = choose(arg, this.#editor.launches(), folder, this.#editor.firstFolder);
    this.#refuseTwice(start);
    const compound = typeof start.what === "string";
    const before = new Set(this.#threads.all.map(({ info }) => info.id));
    const isOurs = ({ info }: Session) => {
      const { name, [startMark]: marked } = info.configuration;
      if (!compound) return marked === mark;
      // The editor cannot mark these: they are the roots of such a name that come while it starts them.
      return !info.parent && !before.has(info.id) && start.names.includes(String(name));
    };
    this.#own(mark, owner);
    this.#starting.add(start.names);
    const claim = () => {
      for (const { info } of this.#threads.all.filter(isOurs)) this.#own(info.id, owner);
    };
    const stopClaiming = compound ? this.#threads.onChange(claim) : () => {};
    const ending = new AbortController();
    const timeOut = () =>
      ending.abort(new Refusal("deadline", `VS Code has not started ${label(start)} yet: ${waits}`));
    const timer = setTimeout(timeOut, startLimit);
    try {
      const limit = AbortSignal.any([signal, ending.signal]);
      const appearance = this.#threads.until(() => this.#threads.all.find(isOurs), limit);
      const started = (async () => this.#editor.start(start))().finally(() => {
        this.#starting.delete(start.names);
        stopClaiming();
      });
      const accepted = started.then((ok) => {
        if (!ok) throw new Refusal("internal", `VS Code did not start ${label(start)}: the window shows why`);
      });
      const both = Promise.all([appearance, accepted]).then(([session]) => session);
      const session = await Promise.race([both, this.#failedStart(appearance, start, limit)]);
      if (isBrowserType(session.info.type)) await this.#firstPage(session, signal);
      return { session: session.info.id, name: session.info.name };
    } finally {
      clearTimeout(timer);
      ending.abort();
    }
  }

  /** Throws when the caller no longer waits, or when the session has ended while a dialog shows its error. */
  async #failedStart(appearance: Promise<Session>, { what, names }: Start, limit: AbortSignal): Promise<never> {
    const session = await appearance;
    // A program may end by itself before the editor answers; a browser does not.
    const failed = () => session.refused || (isBrowserType(session.info.type) && session.ended);
    const hasEnded = () => typeof what !== "string" && failed();
    await this.#threads.until(() => hasEnded() || undefined, limit);
    this.#starting.delete(names); // the next one need not wait until the user has closed the dialog
    throw new Refusal("internal", `${session.info.name} ended at once: the window shows why`);
  }

  /** Two sessions of one configuration would fight over one profile, and js-debug would ask the user. */
  #refuseTwice(start: Start): void {
    const open = [...this.#starting].flat().find((name) => start.names.includes(name));
    if (open !== undefined)
      throw new Refusal("bad_payload", `${JSON.stringify(open)} is being started already: ${waits}`);
    for (const { info } of this.#threads.all) {
      const { name } = info.configuration;
      if (info.parent || typeof name !== "string") continue;
      const matches = start.names.includes(name);
      if (!matches) continue;
      const advice = `use its session ${info.id}, and open another page in its browser`;
      const message = `${JSON.stringify(name)} is being debugged already: ${advice}`;
      throw new Refusal("bad_payload", message, { session: info.id });
    }
  }

  async #firstPage(root: Session, signal: AbortSignal): Promise<void> {
    const hasPage = () => this.#threads.all.some(({ info }) => info.parent?.id === root.info.id) || root.ended;
    await this.#threads.until(() => hasPage() || undefined, signal, pageLimit);
    if (root.ended) throw new Refusal("internal", `${root.info.name} ended at once: the debug console shows why`);
  }

  async #state(arg: Argument): Promise<DebugStateResult> {
    const thread = arg.optional("thread", () => arg.whole("thread", 0));
    const sessions = this.#within(arg);
    return { sessions: await Promise.all(sessions.map((session) => this.#stateOf(session, thread))) };
  }

  async #stateOf(session: Session, thread: number | undefined): Promise<DebugSessionState> {
    const { id, name, type, parent } = session.info;
    const configuration = session.root.configuration.name;
    const state: DebugSessionState = {
      id,
      name,
      type,
      ...(parent && { parent: parent.id }),
      ...(typeof configuration === "string" && { configuration }),
      state: "running",
    };
    const ask = this.#asking(session);
    const stop = session.watched ? session.stopOf(thread) : await pausedThread(ask, thread);
    if (!stop) return state;
    try {
      const frames = await readFrames(ask, this.#editor.toFile, stop.thread, frameLimit);
      const [top] = frames;
      const scopes = top ? await readScopes(ask, top.id) : [];
      const { reason: why, description } = stop;
      return {
        ...state,
        state: "paused",
        ...(why !== "" && { reason: why }),
        ...(description !== undefined && { description }),
        thread: stop.thread,
        frames,
        scopes,
      };
    } catch (error) {
      if (session.ended || session.stopOf(stop.thread) !== stop) return state; // it went on meanwhile
      throw error;
    }
  }

  async #breakpoints(arg: Argument, { signal }: Caller): Promise<{ breakpoints: Breakpoint[] }> {
    const action = arg.choice("action", ["list", "set", "remove"]);
    if (action !== "list") this.#refuseInView();
    if (action === "set") {
      const condition = arg.optional("condition", () => arg.text("condition", 0)) || undefined;
      const logMessage = arg.optional("logMessage", () => arg.text("logMessage", 0)) || undefined;
      const line = arg.whole("line", 1);
      const path = await this.#file(arg);
      const breakpoint = {
        path,
        line,
        ...(condition !== undefined && { condition }),
        ...(logMessage !== undefined && { logMessage }),
      };
      const client = arg.optional("client", () => arg.client())?.name;
      const set = () => this.#editor.setBreakpoint(breakpoint, client);
      await this.#threads.changeBreakpoints(set, signal, breakpointLimit);
    } else if (action === "remove") {
      const line = arg.optional("line", () => arg.whole("line", 1));
      const path = await this.#file(arg);
      const remove = () => this.#editor.removeBreakpoints(path, line);
      if ((await this.#threads.changeBreakpoints(remove, signal, breakpointLimit)) === 0) {
        throw arg.bad(line === undefined ? "path" : "line", "has no breakpoint: list them to see where there are");
      }
    }
    return { breakpoints: this.#editor.breakpoints() };
  }

  async #step(arg: Argument, caller: Caller): Promise<DebugStepResult> {
    const action = arg.choice("action", stepActions);
    const thread = arg.optional("thread", () => arg.whole("thread", 0));
    const session = this.#resolve(arg, action === "pause" ? "running" : "paused");
    const ask = this.#asking(session);
    const stop = session.watched ? session.stopOf(thread) : await pausedThread(ask, thread);
    if (action === "pause") {
      if (stop) return this.#stepped(session, stop.thread, stop);
    } else if (!stop) {
      throw new Refusal("bad_payload", `${session.info.name} is not paused: set a breakpoint, or pause it first`, {
        session: session.info.id,
      });
    }
    const target = stop?.thread ?? thread ?? [...session.threads][0] ?? (await firstThread(ask));
    const { count } = session;
    await ask(stepRequests[action], { threadId: target });
    const stopped = () => {
      if (session.ended) return "ended";
      return session.count > count ? session.stopOf(target) : undefined;
    };
    const limit = action === "continue" ? 0 : stepLimit;
    const found = stopped() ?? (limit > 0 ? await this.#threads.until(stopped, caller.signal, limit) : undefined);
    return this.#stepped(session, target, found);
  }

  async #stepped(session: Session, thread: number, stop: Stop | "ended" | undefined): Promise<DebugStepResult> {
    const target = { session: session.info.id, thread };
    if (stop === "ended") return { session: session.info.id, state: "ended" };
    if (!stop) return { ...target, state: "running" };
    const [frame] = await readFrames(this.#asking(session), this.#editor.toFile, thread, 1);
    return { ...target, state: "paused", ...(stop.reason !== "" && { reason: stop.reason }), ...(frame && { frame }) };
  }

  async #evaluate(arg: Argument): Promise<DebugEvaluateResult> {
    const expression = arg.text("expression");
    const frame = arg.optional("frame", () => arg.whole("frame", 0));
    const session = this.#resolve(arg, frame === undefined ? "any" : "paused");
    const ask = this.#asking(session);
    const frameId = frame ?? (await this.#topFrame(session, ask));
    const args = { expression, context: "repl", ...(frameId !== undefined && { frameId }) };
    const { result, type } = members(await ask("evaluate", args));
    return { result: shorten(String(result ?? "")), ...(typeof type === "string" && type !== "" && { type }) };
  }

  /** A paused session evaluates in its top frame. */
  async #topFrame(session: Session, ask: Ask): Promise<number | undefined> {
    const stop = session.stopOf();
    return stop && (await readFrames(ask, this.#editor.toFile, stop.thread, 1))[0]?.id;
  }

  async #stop(arg: Argument, caller: Caller): Promise<Record<string, never>> {
    const { root } = this.#session(arg);
    const { [startMark]: mark } = root.configuration;
    const owner = this.#owners.get(root.id) ?? this.#owners.get(String(mark));
    if (owner !== ownerOf(arg, caller)) {
      const message = `${root.name} was not started by this client, which cannot stop it: ask the user to stop it`;
      throw new Refusal("refused", message, { session: root.id });
    }
    // Of the user's own tab only the pages are stopped: with its root the editor would close the tab.
    const pages = this.#threads.all.map(({ info }) => info).filter(({ parent }) => parent?.id === root.id);
    const stopped = isUsersTab(root.configuration) ? pages : [root];
    for (const { id } of stopped) await this.#editor.stop(id);
    const hasEnded = () => stopped.every(({ id }) => !this.#threads.get(id)) || undefined;
    if (!(await this.#threads.until(hasEnded, caller.signal, stopLimit))) {
      throw new Refusal("deadline", `${root.name} was asked to stop and still runs: see debug.state`);
    }
    return {};
  }

  /** A restart uses the id and the mark of the ended session again. */
  #own(session: string, owner: Owner): void {
    this.#owners.set(session, owner);
    keepNewest(this.#owners, ownersLimit);
  }

  async #reveal(arg: Argument): Promise<Record<string, never>> {
    const line = arg.optional("line", () => arg.whole("line", 1));
    const column = arg.optional("column", () => arg.whole("column", 1));
    await this.#editor.reveal(await this.#file(arg), line, column);
    return {};
  }

  /** The session that the argument names. */
  #session(arg: Argument): Session {
    const session = this.#threads.get(arg.text("session"));
    if (session) return session;
    const sessions = this.#threads.all.map(describe);
    throw new Refusal("bad_payload", `there is no such debug session; ${listed(sessions)}`, {
      path: "/payload/arg/session",
      sessions,
    });
  }

  /** The session that the argument names, with all below it; without a name, all. */
  #within(arg: Argument): Session[] {
    if (!arg.has("session")) return this.#threads.all;
    const top = this.#session(arg);
    return this.#threads.all.filter((session) => session === top || isBelow(session, top));
  }

  /**
   * Resolves the only session that fits, within the named one: the paused one, or else a page
   * rather than its frames and workers.
   */
  #resolve(arg: Argument, want: "paused" | "running" | "any"): Session {
    const within = this.#within(arg);
    const paused = within.filter((session) => session.stopOf());
    const able = within.filter((session) => session.threads.size > 0 || !session.watched);
    const tops = able.filter((session) => !able.some((other) => isBelow(session, other)));
    const unseen = tops.filter((session) => !session.watched); // whether they are paused only their adapter knows
    const wantPaused = want === "paused" || (want === "any" && paused.length > 0);
    const fitting = !wantPaused ? tops : paused.length > 0 ? paused : unseen;
    const [only, other] = fitting;
    if (only && !other) return only;
    const sessions = (only ? fitting : within).map(describe);
    const description = only
      ? `more than one debug session ${wantPaused ? "is paused" : "runs"}: name one as "session"`
      : wantPaused && within.length > 0
        ? "no debug session is paused: set a breakpoint, or pause one first"
        : "there is no page or program that is debugged: start one by debug.start";
    throw new Refusal("bad_payload", `${description}; ${listed(sessions)}`, { sessions });
  }

  async #file(arg: Argument): Promise<string> {
    try {
      return await this.#editor.file(arg.text("path"));
    } catch (error) {
      if (error instanceof Refusal) throw error;
      throw arg.bad("path", `cannot be opened: ${reason(error)}`);
    }
  }

  /** What the debug adapter refuses is the answer, and no fault of the window. */
  #asking({ info }: Session): Ask {
    return async (command, args) => {
      try {
        return await this.#editor.ask(info.id, command, args);
      } catch (error) {
        throw new Refusal("bad_payload", reason(error), { session: info.id });
      }
    };
  }
}

function isBelow(session: Session, top: Session): boolean {
  for (let { parent } = session.info; parent; { parent } = parent) {
    if (parent.id === top.info.id) return true;
  }
  return false;
}

function ownerOf(arg: Argument, caller: Caller): Owner {
  return arg.optional("client", () => arg.client())?.id ?? caller.connection;
}

/** The first paused thread of a session whose messages were not seen. */
async function pausedThread(ask: Ask, thread: number | undefined): Promise<Stop | undefined> {
  const ids = thread === undefined ? await threadsOf(ask) : [thread];
  for (const id of ids) {
    // To ask for the stack of a thread that runs is an error.
    const frames = await readFrames(ask, () => undefined, id, 1).catch(() => []);
    if (frames.length > 0) return { thread: id, reason: "" };
  }
  return undefined;
}

async function threadsOf(ask: Ask): Promise<number[]> {
  const { threads } = members(await ask("threads", {}));
  return Array.isArray(threads) ? threads.map((thread: unknown) => Number(members(thread).id)) : [];
}

async function firstThread(ask: Ask): Promise<number> {
  const [first] = await threadsOf(ask);
  if (first === undefined) throw new Refusal("bad_payload", "this debug session has no thread: name one of its pages");
  return first;
}

function describe(session: Session): { id: string; name: string; state: string } {
  const { id, name } = session.info;
  return { id, name, state: session.stopOf() ? "paused" : "running" };
}

function listed(sessions: { id: string; name: string; state: string }[]): string {
  if (sessions.length === 0) return "there is none";
  return `there are ${sessions.map(({ id, name, state }) => `${id} (${JSON.stringify(name)}, ${state})`).join(", ")}`;
}

function label({ what }: Start): string {
  return JSON.stringify(typeof what === "string" ? what : what.name);
}
