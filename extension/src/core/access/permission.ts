// Asks the user whether a client may act: one question at a time, with all that one client waits for
// in one question. Obeys specs/window-protocol/commands.md, permission.ask.
//
// It shows nothing itself: a view reads `question` after each change, and calls `answer`.
import { randomUUID } from "node:crypto";
import * as l10n from "@vscode/l10n";
import { clientName, plain, siteOf } from "../plaintext";
import { Argument } from "../protocol/argument";
import type {
  Client,
  PendingQuestion,
  PermissionAskArg,
  PermissionAskResult,
  PermissionChoice,
} from "../protocol/protocol.generated";
import { Refusal } from "../protocol/request";
import type { Clients } from "../window/clients";
import type { Command } from "../window/connection";
import { readNode } from "../window/notes";
import type { Store } from "../window/store";
import { isStopped } from "./access";
import {
  categoryName,
  connecting,
  isOfEverySite,
  named,
  recordingUser,
  requestingTab,
  showingRecording,
} from "./actions";
import type { Recordings } from "./record";

export type Choice = PermissionChoice;

/** So many elements of one action are marked. */
const nodesLimit = 50;

/** The answers that the user has for these actions. */
export function choicesFor(actions: readonly AskedAction[]): readonly Choice[] {
  if (actions[0]?.act === connecting) return ["connect", "view", "refuse"];
  if (actions.some(isAskedAlways)) return ["once", "refuse"];
  const ofSite: Choice[] = sharedOrigin(actions) === undefined ? [] : ["session"];
  return grantFor(actions, "category") === undefined
    ? ["once", ...ofSite, "refuse"]
    : ["once", "category", ...ofSite, "refuse"];
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

/** The result of a question, with the tab that the user has chosen for an agent that asks for one. */
type Answer = PermissionAskResult & { tab?: string };

interface Waiting {
  readonly action: AskedAction;
  settle(result: Answer): void;
  /** Set from when it is shown. */
  until?: number | undefined;
  timer?: NodeJS.Timeout;
}

interface OpenQuestion {
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

/** The same with where it holds. */
export function coverText({ covers, origin }: Cover): string {
  return origin === undefined ? coverName(covers) : l10n.t("{0} on {1}", coverName(covers), siteOf(origin));
}

/** What the user allows a client, until it leaves. */
export interface Grant extends Cover {
  readonly client: Client;
  /** The action for which the user was asked. */
  readonly action: AskedAction;
  readonly time: number;
}

interface Cover {
  /** A category of actions, or everything. */
  readonly covers: string;
  /** Where they may be done. Only actions of a kind that has no site have none. */
  readonly origin: string | undefined;
}

/** What the choice allows besides these actions; undefined: it allows no more, or is none of theirs. */
function grantFor(actions: readonly AskedAction[], choice: Choice): Cover | undefined {
  const origin = sharedOrigin(actions);
  const category = sharedCategory(actions);
  if (choice === "session" && origin !== undefined) return { covers: everything, origin };
  if (choice !== "category" || category === undefined) return undefined;
  const isEverywhere = isOfEverySite(category) && actions.every((action) => action.origin === undefined);
  return origin !== undefined || isEverywhere ? { covers: category, origin } : undefined;
}

function isCovered(action: PermissionAskArg, { covers, origin }: Cover): boolean {
  if (isAskedAlways(action) || action.origin !== origin) return false;
  return covers === everything ? origin !== undefined : covers === action.category;
}

/** The origin on which all these actions are. */
export function sharedOrigin(actions: readonly AskedAction[]): string | undefined {
  const [first, ...others] = new Set(actions.map(({ origin }) => origin));
  return others.length === 0 ? first : undefined;
}

/** Whether no mode and no grant covers it. */
function isAskedAlways({ act }: Pick<PermissionAskArg, "act">): boolean {
  return act === requestingTab || act === recordingUser;
}

/** The category that all these actions have, if users know it. */
export function sharedCategory(actions: readonly AskedAction[]): string | undefined {
  const [first, ...others] = new Set(actions.map(({ category }) => category));
  return first !== undefined && others.length === 0 && categoryName(first) !== undefined ? first : undefined;
}

export class Permissions {
  /** By the client's id; the first is the one that the user is asked about. */
  readonly #questions = new Map<string, OpenQuestion>();
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
    const expiry = Math.max(...waiting.map((each) => each.until ?? 0));
    return { id, client, actions: waiting.map(({ action }) => action), until: expiry };
  }

  /** The CDP clients that wait for an answer, to connect. */
  get joining(): readonly Client[] {
    const joins = ({ waiting }: OpenQuestion) => waiting[0]?.action.act === connecting;
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
  revoke({ client, ...cover }: Omit<Grant, "action" | "time">): void {
    const { covers, origin } = cover;
    this.#keepGrants((each) => each.client.id !== client.id || each.covers !== covers || each.origin !== origin);
    this.#clients.userDid(l10n.t("Revoked for {0}: {1}", clientName(client), coverText(cover)));
    this.#changed();
  }

  /** Asks the user whether they hand over a tab of their own browser, if possible of a site. */
  askForTab(client: Client, site: string | undefined, signal: AbortSignal): Promise<Answer> {
    const detail =
      site === undefined
        ? l10n.t("use a tab that you choose next")
        : l10n.t("use a tab that you choose next, if possible one of {0}", site);
    return this.ask({ client, act: requestingTab, detail }, signal);
  }

  /** Asks about everything again: it was allowed in another browser. */
  revokeAll(): void {
    this.#grants = [];
    this.#changed();
  }

  /** Settles when the user has answered, or when no question is needed. */
  ask(arg: PermissionAskArg, signal: AbortSignal): Promise<Answer> {
    const { id } = arg.client;
    const { mode } = this.#store.state.access;
    if (isStopped(this.#store, arg.client)) return Promise.resolve(refusal("stopped"));
    const always = isAskedAlways(arg);
    if (mode === "view" && !always) return Promise.resolve(refusal("mode"));
    if (mode === "full" && !always) return Promise.resolve(allowedByMode);
    const grant = this.#grants.find((each) => each.client.id === id && isCovered(arg, each));
    if (grant) return Promise.resolve({ ...allowed, reason: "grant", covers: grant.covers });
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

  /**
   * Answers the actions of a question that the user has seen; the others become the next question. False: there is
   * nothing of it to answer.
   */
  answer(question: string, choice: Choice, actions: readonly AskedAction[], tab?: string): boolean {
    const asked = this.#first;
    if (asked?.id !== question) return false; // it was answered already
    const { client } = asked;
    if (actions.length === 0 || !choicesFor(actions).includes(choice)) return false;
    const numbers = new Set(actions.map(({ number }) => number));
    const cover = grantFor(actions, choice);
    if (cover) this.#grant(client, cover, actions[0] as AskedAction);
    const isAnswered = ({ action }: Waiting) =>
      numbers.has(action.number) || (cover !== undefined && isCovered(action, cover));
    const settled = this.#settlePart(asked, isAnswered, results[choice], tab);
    if (settled && choice === "connect") this.#clients.userDid(l10n.t("Let {0} connect", clientName(client)));
    if (settled && choice === "view")
      this.#clients.userDid(l10n.t("Let {0} connect, to view only", clientName(client)));
    if (settled) this.#changed(); // else they no longer wait
    return settled;
  }

  /** Everything covers what was allowed before on that origin. */
  #grant(client: Client, { covers, origin }: Cover, action: AskedAction): void {
    const isWithin = (grant: Grant) => grant.origin === origin && (covers === everything || grant.covers === covers);
    this.#keepGrants((grant) => grant.client.id !== client.id || !isWithin(grant));
    this.#grants = [...this.#grants, { client, covers, origin, action, time: Date.now() }];
    const what = coverText({ covers, origin });
    this.#clients.userDid(l10n.t("Allowed {0} for this session: {1}", clientName(client), what));
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
    for (const question of [...this.#questions.values()]) this.#settle(question, refusal("stopped"));
  }

  get #first(): OpenQuestion | undefined {
    return this.#questions.values().next().value;
  }

  #changed(): void {
    const question = this.#first;
    for (const waiting of question?.waiting ?? []) {
      if (waiting.until !== undefined) continue;
      const limit = this.#limit();
      waiting.until = performance.now() + limit;
      waiting.timer = setTimeout(() => this.#timedOut(waiting), limit);
    }
    for (const listener of this.#listeners) listener();
  }

  #settle(asked: OpenQuestion, result: PermissionAskResult, tab?: string): void {
    this.#questions.delete(asked.client.id);
    for (const { action, settle, timer } of asked.waiting) {
      clearTimeout(timer);
      settle(tab !== undefined && isAskedAlways(action) ? { ...result, tab } : result);
    }
  }

  /** Settles some of a question's actions; the others become the next question. Returns whether there were any. */
  #settlePart(
    asked: OpenQuestion,
    isPart: (each: Waiting) => boolean,
    result: PermissionAskResult,
    tab?: string,
  ): boolean {
    const { client, waiting } = asked;
    const others = waiting.filter((each) => !isPart(each));
    if (others.length === waiting.length) return false;
    this.#settle({ ...asked, waiting: waiting.filter(isPart) }, result, tab);
    for (const each of others) renew(each);
    if (others.length > 0) this.#questions.set(client.id, { id: randomUUID(), client, waiting: others });
    return true;
  }

  #timedOut(waiting: Waiting): void {
    waiting.settle(refusal("timeout"));
    this.#drop(waiting);
  }

  /** Its caller no longer waits. */
  #drop(waiting: Waiting): void {
    clearTimeout(waiting.timer);
    const question = this.#questions.get(waiting.action.client.id);
    if (!question?.waiting.includes(waiting)) return;
    question.waiting = question.waiting.filter((each) => each !== waiting);
    if (question.waiting.length === 0) this.#questions.delete(question.client.id);
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
    const byMode = mode === "view" ? refusal("mode") : mode === "full" ? allowedByMode : undefined;
    const isByMode = ({ action }: Waiting) => !isAskedAlways(action);
    let settled = false;
    for (const question of [...this.#questions.values()]) {
      const stopped = isStopped(this.#store, question.client);
      const result = stopped ? refusal("stopped") : byMode;
      if (result && this.#settlePart(question, stopped ? () => true : isByMode, result)) settled = true;
    }
    if (settled) this.#changed();
  }

  /** Refuses what a client that has left waited for. */
  #clientsChanged(): void {
    const now = new Set(this.#clients.connected.map(({ id }) => id));
    const departures = [...this.#connected].filter((id) => !now.has(id));
    this.#connected = now;
    let settled = false;
    for (const id of departures) {
      this.#keepGrants(({ client }) => client.id !== id);
      const question = this.#questions.get(id);
      if (!question) continue;
      this.#settle(question, refusal("stopped"));
      settled = true;
    }
    if (settled) this.#changed();
  }
}

const choices: readonly Choice[] = ["once", "category", "session", "connect", "view", "refuse"];

/** The commands by which coordinators ask, and by which a page of the user's shows the question and answers it. */
export function permissionCommands(permissions: Permissions, recordings: Recordings): [string, Command][] {
  return [
    [
      "permission.ask",
      { waitsForUser: true, run: async (arg, { signal }) => permissions.ask(readAsk(Argument.parse(arg)), signal) },
    ],
    ["permission.list", { run: async () => ({ questions: [...recordings.listed, ...listed(permissions.question)] }) }],
    [
      "permission.answer",
      {
        run: async (value) => {
          const arg = Argument.parse(value);
          const [question, last] = [arg.text("question"), arg.whole("last", 0)];
          const actions = permissions.question?.actions.filter(({ number }) => number <= last) ?? [];
          const tab = arg.optional("tab", () => arg.text("tab"));
          const choice = arg.choice("choice", choices);
          if (choice === "refuse" && recordings.end(question)) return {};
          if (!permissions.answer(question, choice, actions, tab)) {
            throw new Refusal(
              "refused",
              l10n.t("Nothing was answered: no such question waits, or not for this answer"),
            );
          }
          return {};
        },
      },
    ],
  ];
}

function listed(question: Question | undefined): PendingQuestion[] {
  if (!question) return [];
  const { id, client } = question;
  const actions = question.actions.map(({ number, ...action }) => ({ number, action }));
  return [{ id, client, actions, choices: [...choicesFor(named(question))] }];
}

function readAsk(arg: Argument): PermissionAskArg {
  const page = arg.optional("page", () => arg.object("page"));
  const category = arg.optional("category", () => arg.text("category"));
  const origin = arg.optional("origin", () => arg.text("origin"));
  const nodes = arg.optional("nodes", () => arg.objects("nodes").slice(0, nodesLimit).map(readNode));
  const act = arg.text("act");
  // It would be shown as a recording, to which the user has agreed.
  if (act === showingRecording) throw arg.bad("act", `must not be ${showingRecording}`);
  return {
    client: arg.client(),
    act,
    detail: arg.text("detail", 0),
    ...(arg.has("claim") && { claim: arg.text("claim", 0) }),
    ...(page && { page: { title: page.text("title", 0), url: page.text("url", 0) } }),
    ...(category !== undefined && { category }),
    ...(origin !== undefined && { origin }),
    ...(nodes && { nodes }),
  };
}

/** It gets the full timeout again when it is shown to the user. */
function renew(waiting: Waiting): void {
  clearTimeout(waiting.timer);
  waiting.until = undefined;
}

/** Also for a session: the client asks each time, so that what the user revokes is revoked there too. */
const allowed: PermissionAskResult = { decision: "allow", reason: "human" };
const allowedByMode: PermissionAskResult = { ...allowed, reason: "mode" };

function refusal(reason: string): PermissionAskResult {
  return { decision: "refuse", reason };
}

/** What a client gets for the user's answer. */
const results: Record<Choice, PermissionAskResult> = {
  once: allowed,
  category: allowed,
  session: allowed,
  connect: allowed,
  view: { decision: "view" },
  refuse: refusal("human"),
};
