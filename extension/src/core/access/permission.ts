// Asks the human whether a client may act: one question at a time, and all that one client waits for
// in one question. Obeys specs/window-protocol/commands.md, permission.ask.
//
// It shows nothing. Who does looks at `question` after each change, and calls `answer`.
import { randomUUID } from "node:crypto";
import { Argument } from "../protocol/argument";
import type { Client, PermissionAskArg, PermissionAskResult } from "../protocol/protocol.generated";
import type { Clients } from "../window/clients";
import type { Command } from "../window/connection";
import type { Store } from "../window/store";
import { isStopped } from "./access";

export type Choice = "once" | "session" | "refuse";

/** An act that waits for an answer. */
export interface AskedAct extends PermissionAskArg {
  /** Counts on from act to act: a later one has a higher number. */
  readonly number: number;
}

/** What the human is asked. */
export interface Question {
  readonly id: string;
  readonly client: Client;
  /** What the client waits for, the oldest first. There may be more when it is looked at again. */
  readonly acts: readonly AskedAct[];
  /** When the last of them is refused if nobody answers, as performance.now() counts. */
  readonly until: number;
}

interface Waiting {
  readonly act: AskedAct;
  settle(result: PermissionAskResult): void;
  /** Set from when it is shown. */
  until?: number | undefined;
  timer?: NodeJS.Timeout;
}

interface Asked {
  readonly id: string;
  readonly client: Client;
  waiting: Waiting[];
}

export class Permissions {
  /** By the client's id; the first is the one that the human is asked. */
  readonly #asked = new Map<string, Asked>();
  /** The ids of clients that may act without being asked about again. */
  readonly #granted = new Set<string>();
  readonly #store: Store;
  readonly #clients: Clients;
  readonly #limit: () => number;
  readonly #listeners = new Set<() => void>();
  readonly #stopListening: (() => void)[];
  #mode: string;
  #counted = 0;
  #connected = new Set<string>();

  /** limit gives the milliseconds that the human has, at the moment of asking. */
  constructor(store: Store, clients: Clients, limit: () => number) {
    this.#store = store;
    this.#clients = clients;
    this.#limit = limit;
    this.#mode = store.state.access.mode;
    this.#stopListening = [
      store.subscribe(() => this.#accessChanged()),
      clients.subscribe(() => this.#clientsChanged()),
    ];
  }

  /** What the human is asked now. */
  get question(): Question | undefined {
    const asked = this.#first;
    if (!asked) return undefined;
    const { id, client, waiting } = asked;
    const until = Math.max(...waiting.map((each) => each.until ?? 0));
    return { id, client, acts: waiting.map(({ act }) => act), until };
  }

  /** How many clients wait for an answer. */
  get waiting(): number {
    return this.#asked.size;
  }

  isGranted(client: string): boolean {
    return this.#granted.has(client);
  }

  /** Settles when the human has answered, or the answer is clear without. */
  ask(arg: PermissionAskArg, signal: AbortSignal): Promise<PermissionAskResult> {
    const { id } = arg.client;
    const { mode } = this.#store.state.access;
    if (isStopped(this.#store, id)) return Promise.resolve(refusal("stopped"));
    if (mode === "view") return Promise.resolve(refusal("mode"));
    if (mode === "full") return Promise.resolve(allowed("once"));
    if (this.#granted.has(id)) return Promise.resolve(allowed("session"));
    return new Promise((settle, reject) => {
      if (signal.aborted) return reject(signal.reason);
      this.#counted += 1;
      const waiting: Waiting = { act: { ...arg, number: this.#counted }, settle };
      const asked = this.#asked.get(id) ?? { id: newId(), client: arg.client, waiting: [] };
      asked.waiting.push(waiting);
      this.#asked.set(id, asked);
      const givenUp = () => {
        reject(signal.reason);
        this.#gone(waiting);
      };
      signal.addEventListener("abort", givenUp, { once: true });
      this.#changed();
    });
  }

  /** seen: the number of the last act that the human saw; to what came later, "once" is no answer. */
  answer(question: string, choice: Choice, seen: number): void {
    const asked = this.#first;
    if (asked?.id !== question) return; // it was answered already
    if (choice === "refuse") this.#settle(asked, refusal("human"));
    else if (choice === "session") {
      this.#granted.add(asked.client.id);
      this.#settle(asked, allowed("session"));
    } else {
      const later = asked.waiting.filter(({ act }) => act.number > seen);
      asked.waiting = asked.waiting.filter((each) => !later.includes(each));
      this.#settle(asked, allowed("once"));
      if (later.length > 0) this.#asked.set(asked.client.id, { ...asked, id: newId(), waiting: later.map(anew) });
    }
    this.#changed();
  }

  /** Calls listener after each change until the returned function is called. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Refuses what waits, and listens to nothing any more. */
  close(): void {
    for (const stop of this.#stopListening) stop();
    this.#listeners.clear();
    for (const asked of [...this.#asked.values()]) this.#settle(asked, refusal("stopped"));
  }

  get #first(): Asked | undefined {
    return this.#asked.values().next().value;
  }

  #changed(): void {
    const asked = this.#first;
    for (const waiting of asked?.waiting ?? []) {
      if (waiting.until !== undefined) continue;
      const limit = this.#limit();
      waiting.until = performance.now() + limit;
      waiting.timer = setTimeout(() => this.#timedOut(waiting), limit);
    }
    for (const listener of this.#listeners) listener();
  }

  #settle(asked: Asked, result: PermissionAskResult): void {
    this.#asked.delete(asked.client.id);
    for (const { settle, timer } of asked.waiting) {
      clearTimeout(timer);
      settle(result);
    }
  }

  #timedOut(waiting: Waiting): void {
    waiting.settle(refusal("timeout"));
    this.#gone(waiting);
  }

  /** Nobody waits for it any more. */
  #gone(waiting: Waiting): void {
    clearTimeout(waiting.timer);
    const asked = this.#asked.get(waiting.act.client.id);
    if (!asked?.waiting.includes(waiting)) return;
    asked.waiting = asked.waiting.filter((each) => each !== waiting);
    if (asked.waiting.length === 0) this.#asked.delete(asked.client.id);
    this.#changed();
  }

  #accessChanged(): void {
    const { mode, stopped } = this.#store.state.access;
    for (const id of stopped) this.#granted.delete(id);
    if (mode !== this.#mode) this.#granted.clear(); // the human has decided anew
    this.#mode = mode;
    const all = [...this.#asked.values()];
    for (const asked of all) {
      if (stopped.includes(asked.client.id)) this.#settle(asked, refusal("stopped"));
      else if (mode === "view") this.#settle(asked, refusal("mode"));
      else if (mode === "full") this.#settle(asked, allowed("once"));
    }
    if (this.#asked.size < all.length) this.#changed();
  }

  /** What a client that was there and has left waits for concerns nobody any more. */
  #clientsChanged(): void {
    const now = new Set(this.#clients.connected.map(({ id }) => id));
    const left = [...this.#connected].filter((id) => !now.has(id));
    this.#connected = now;
    let settled = false;
    for (const id of left) {
      this.#granted.delete(id);
      const asked = this.#asked.get(id);
      if (!asked) continue;
      this.#settle(asked, refusal("stopped"));
      settled = true;
    }
    if (settled) this.#changed();
  }
}

/** The command by which coordinators ask. */
export function permissionCommands(permissions: Permissions): [string, Command][] {
  return [
    [
      "permission.ask",
      { waitsForHuman: true, run: async (arg, { signal }) => permissions.ask(readAsk(Argument.of(arg)), signal) },
    ],
  ];
}

function readAsk(arg: Argument): PermissionAskArg {
  const page = arg.optional("page", () => arg.object("page"));
  return {
    client: arg.client(),
    act: arg.text("act"),
    detail: arg.text("detail", 0),
    ...(page && { page: { title: page.text("title", 0), url: page.text("url", 0) } }),
  };
}

/** It stands in the links of a notification, which screen readers read out. */
function newId(): string {
  return randomUUID().slice(0, 8);
}

/** It has its whole time again when it is put before the human. */
function anew({ act, settle, timer }: Waiting): Waiting {
  clearTimeout(timer);
  return { act, settle };
}

function allowed(scope: "once" | "session"): PermissionAskResult {
  return { decision: "allow", scope };
}

function refusal(reason: string): PermissionAskResult {
  return { decision: "refuse", scope: "once", reason };
}
