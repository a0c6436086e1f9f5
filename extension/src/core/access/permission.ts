// Asks the user whether a client may act: one question at a time, with all that one client waits for
// in one question. Obeys specs/window-protocol/commands.md, permission.ask.
//
// It shows nothing itself: a view reads `question` after each change, and calls `answer`.
import { randomUUID } from "node:crypto";
import * as l10n from "@vscode/l10n";
import { plain } from "../plaintext";
import { Argument } from "../protocol/argument";
import type { Client, PermissionAskArg, PermissionAskResult } from "../protocol/protocol.generated";
import type { Clients } from "../window/clients";
import type { Command } from "../window/connection";
import type { Store } from "../window/store";
import { isStopped } from "./access";
import { categoryName, connecting } from "./actions";

export type Choice = "once" | "category" | "session" | "connect" | "view" | "refuse";

/** The answers that the user has for these actions. */
export function choicesFor(actions: readonly AskedAction[]): readonly Choice[] {
  if (actions[0]?.act === connecting) return ["connect", "view", "refuse"];
  return sharedCategory(actions) === undefined
    ? ["once", "session", "refuse"]
    : ["once", "category", "session", "refuse"];
}

/** An action that waits for an answer. */
export interface AskedAction extends PermissionAskArg {
  /** Increases with each action. */
  readonly number: number;
}

/** What the user is asked. */
export interface Question {
  readonly id: string;
  readonly client: Client;
  /** What the client waits for, the oldest first. There may be more when it is read again. */
  readonly actions: readonly AskedAction[];
  /** When the last of them is refused without an answer, as performance.now() counts. */
  readonly until: number;
}

interface Waiting {
  readonly action: AskedAction;
  settle(result: PermissionAskResult): void;
  /** Set from when it is shown. */
  until?: number | undefined;
  timer?: NodeJS.Timeout;
}

interface PendingQuestion {
  readonly id: string;
  readonly client: Client;
  waiting: Waiting[];
}

/** Granted in place of a category. No category has this name, since the user is offered only those with a label. */
export const everything = "*";

/** What a grant covers, as the user knows it. */
export function coverName(covers: string): string {
  return covers === everything ? l10n.t("Everything") : (categoryName(covers) ?? plain(covers, 40));
}

/** What the user allows a client until it leaves, on every page. */
export interface Grant {
  readonly client: Client;
  /** A category of actions, or everything. */
  readonly covers: string;
  /** The action for which the user was asked. */
  readonly action: AskedAction;
  readonly time: number;
}

/** The category that all these actions have, if users know it. */
export function sharedCategory(actions: readonly AskedAction[]): string | undefined {
  const [first, ...others] = new Set(actions.map(({ category }) => category));
  return first !== undefined && others.length === 0 && categoryName(first) !== undefined ? first : undefined;
}

export class Permissions {
  /** By the client's id; the first is the one that the user is asked about. */
  readonly #questions = new Map<string, PendingQuestion>();
  #grants: readonly Grant[] = [];
  readonly #store: Store;
  readonly #clients: Clients;
  readonly #limit: () => number;
  readonly #listeners = new Set<() => void>();
  readonly #stopListening: (() => void)[];
  #mode: string;
  #counted = 0;
  #connected = new Set<string>();

  /** limit returns the timeout of a question in milliseconds, at the moment of asking. */
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

  /** What the user is asked now. */
  get question(): Question | undefined {
    const pending = this.#first;
    if (!pending) return undefined;
    const { id, client, waiting } = pending;
    const until = Math.max(...waiting.map((each) => each.until ?? 0));
    return { id, client, actions: waiting.map(({ action }) => action), until };
  }

  /** The CDP clients that wait for an answer, to connect. */
  get joining(): readonly Client[] {
    const joins = ({ waiting }: PendingQuestion) => waiting[0]?.action.act === connecting;
    return [...this.#questions.values()].filter(joins).map(({ client }) => client);
  }

  /** How many clients wait for an answer. */
  get waiting(): number {
    return this.#questions.size;
  }

  /** What clients are allowed for their session, the oldest first. */
  get grants(): readonly Grant[] {
    return this.#grants;
  }

  /** Asks about such actions again. */
  revoke({ client, covers }: Pick<Grant, "client" | "covers">): void {
    this.#keepGrants((grant) => grant.client.id !== client.id || grant.covers !== covers);
    this.#changed();
  }

  /** Settles when the user has answered, or when no question is needed. */
  ask(arg: PermissionAskArg, signal: AbortSignal): Promise<PermissionAskResult> {
    const { id } = arg.client;
    const { mode } = this.#store.state.access;
    if (isStopped(this.#store, arg.client)) return Promise.resolve(refusal("stopped"));
    if (mode === "view") return Promise.resolve(refusal("mode"));
    if (mode === "full") return Promise.resolve(allowed("once"));
    const covered = this.#grants.filter(({ client }) => client.id === id).map(({ covers }) => covers);
    if (covered.includes(everything)) return Promise.resolve(allowed("session"));
    if (arg.category !== undefined && covered.includes(arg.category)) return Promise.resolve(allowed("once"));
    return new Promise((settle, reject) => {
      if (signal.aborted) return reject(signal.reason);
      this.#counted += 1;
      const waiting: Waiting = { action: { ...arg, number: this.#counted }, settle };
      const pending = this.#questions.get(id) ?? { id: randomUUID(), client: arg.client, waiting: [] };
      pending.waiting.push(waiting);
      this.#questions.set(id, pending);
      const abandon = () => {
        reject(signal.reason);
        this.#drop(waiting);
      };
      signal.addEventListener("abort", abandon, { once: true });
      this.#changed();
    });
  }

  /** Answers the actions of a question that the user has seen; the others become the next question. */
  answer(question: string, choice: Choice, actions: readonly AskedAction[]): void {
    const asked = this.#first;
    if (asked?.id !== question) return; // it was answered already
    const { client, waiting } = asked;
    if (actions.length === 0 || !choicesFor(actions).includes(choice)) return;
    const numbers = new Set(actions.map(({ number }) => number));
    const grant = choice === "session" ? everything : choice === "category" ? sharedCategory(actions) : undefined;
    if (grant !== undefined) this.#grant(client, grant, actions[0] as AskedAction);
    const isAnswered = ({ action }: Waiting) =>
      numbers.has(action.number) || grant === everything || (grant !== undefined && grant === action.category);
    const others = waiting.filter((each) => !isAnswered(each));
    if (others.length === waiting.length) return; // they no longer wait
    this.#settle({ ...asked, waiting: waiting.filter(isAnswered) }, results[choice]);
    if (others.length > 0) this.#questions.set(client.id, { id: randomUUID(), client, waiting: others.map(renewed) });
    this.#changed();
  }

  /** Everything covers what was allowed before. */
  #grant(client: Client, covers: string, action: AskedAction): void {
    const isCovered = (grant: Grant) => covers === everything || grant.covers === covers;
    this.#keepGrants((grant) => grant.client.id !== client.id || !isCovered(grant));
    this.#grants = [...this.#grants, { client, covers, action, time: Date.now() }];
  }

  #keepGrants(stays: (grant: Grant) => boolean): void {
    this.#grants = this.#grants.filter(stays);
  }

  /** Calls listener after each change until the returned function is called. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Refuses what waits, and stops listening. */
  close(): void {
    for (const stop of this.#stopListening) stop();
    this.#listeners.clear();
    for (const asked of [...this.#questions.values()]) this.#settle(asked, refusal("stopped"));
  }

  get #first(): PendingQuestion | undefined {
    return this.#questions.values().next().value;
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

  #settle(asked: PendingQuestion, result: PermissionAskResult): void {
    this.#questions.delete(asked.client.id);
    for (const { settle, timer } of asked.waiting) {
      clearTimeout(timer);
      settle(result);
    }
  }

  #timedOut(waiting: Waiting): void {
    waiting.settle(refusal("timeout"));
    this.#drop(waiting);
  }

  /** Its caller no longer waits. */
  #drop(waiting: Waiting): void {
    clearTimeout(waiting.timer);
    const asked = this.#questions.get(waiting.action.client.id);
    if (!asked?.waiting.includes(waiting)) return;
    asked.waiting = asked.waiting.filter((each) => each !== waiting);
    if (asked.waiting.length === 0) this.#questions.delete(asked.client.id);
    this.#changed();
  }

  #accessChanged(): void {
    const { mode, stopped } = this.#store.state.access;
    this.#keepGrants(({ client: { id } }) => {
      const client = this.#clients.lookUp(id);
      return stopped.length === 0 || (client !== undefined && !isStopped(this.#store, client));
    });
    if (mode !== this.#mode) this.#grants = []; // the user has changed the mode
    this.#mode = mode;
    const all = [...this.#questions.values()];
    for (const asked of all) {
      if (isStopped(this.#store, asked.client)) this.#settle(asked, refusal("stopped"));
      else if (mode === "view") this.#settle(asked, refusal("mode"));
      else if (mode === "full") this.#settle(asked, allowed("once"));
    }
    if (this.#questions.size < all.length) this.#changed();
  }

  /** Refuses what a client that has left waited for. */
  #clientsChanged(): void {
    const now = new Set(this.#clients.connected.map(({ id }) => id));
    const departures = [...this.#connected].filter((id) => !now.has(id));
    this.#connected = now;
    let settled = false;
    for (const id of departures) {
      this.#keepGrants(({ client }) => client.id !== id);
      const asked = this.#questions.get(id);
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
      { waitsForUser: true, run: async (arg, { signal }) => permissions.ask(readAsk(Argument.of(arg)), signal) },
    ],
  ];
}

function readAsk(arg: Argument): PermissionAskArg {
  const page = arg.optional("page", () => arg.object("page"));
  const category = arg.optional("category", () => arg.text("category"));
  return {
    client: arg.client(),
    act: arg.text("act"),
    detail: arg.text("detail", 0),
    ...(arg.has("claim") && { claim: arg.text("claim", 0) }),
    ...(page && { page: { title: page.text("title", 0), url: page.text("url", 0) } }),
    ...(category !== undefined && { category }),
  };
}

/** It gets the full timeout again when it is shown to the user. */
function renewed({ action, settle, timer }: Waiting): Waiting {
  clearTimeout(timer);
  return { action, settle };
}

function allowed(scope: "once" | "session"): PermissionAskResult {
  return { decision: "allow", scope };
}

function refusal(reason: string): PermissionAskResult {
  return { decision: "refuse", scope: "once", reason };
}

/** What a client gets for the user's answer. */
const results: Record<Choice, PermissionAskResult> = {
  once: allowed("once"),
  category: allowed("once"),
  session: allowed("session"),
  connect: allowed("once"),
  view: { decision: "view", scope: "once" },
  refuse: refusal("human"),
};
