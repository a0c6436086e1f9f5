// Who uses this window's browser, and what they did lately, as coordinators report it.
// Obeys specs/window-protocol/commands.md, client.announce and client.report.
import { isDeepStrictEqual } from "node:util";
import { keepNewest } from "../newest";
import { Argument } from "../protocol/argument";
import type {
  Activity,
  ActivityDetails,
  ActivityEffect,
  ClientListResult,
  ConnectedClient,
  RunningCall,
} from "../protocol/protocol.generated";
import type { Command } from "./connection";
import { lastPage } from "./lastpage";

/** So many of agents, and as many of CDP clients, which send hundreds at once, and of the user. */
export const actionsLimit = 200;
/** So many clients are known by name after they have left. */
const knownLimit = 200;
const announceLimit = 256;
const reportLimit = 1_000;
/** So many actions have a picture, the newest. */
export const picturesLimit = 50;
const runningLimit = 16;
const effectsLimit = 50;
/** Of a text, in characters: an effect's, a script's, a picture's base64. */
const [effectLimit, scriptLimit, pictureLimit] = [1_000, 16_000, 32_000];

/**
 * An action, with its client's name: the client may be gone. Repeats are one entry, with the last one's time. What the
 * user has decided is one too: `act` has its words, and it has no name.
 */
export interface Action extends Omit<Activity, "times"> {
  /** Counts from 1 within this window session. */
  readonly number: number;
  /** The number of the first of those that the client did without another one between them. */
  readonly run: number;
  readonly times: number;
  readonly name: string;
  readonly kind: Actor;
  /** In the user's own browser. */
  readonly personal?: boolean;
}

export const actors = ["mcp", "cdp", "user"] as const;
export type Actor = (typeof actors)[number];

/** A call that has not ended, with its client. */
export interface Running extends RunningCall {
  readonly client: string;
  readonly name: string;
}

export class Clients {
  /** By the connection that announced them. */
  readonly #announced = new Map<AbortSignal, ConnectedClient[]>();
  /** The connections whose coordinator serves the window's endpoint: one, or for a moment two. */
  readonly #serving = new Set<AbortSignal>();
  readonly #remembered = new Map<string, ConnectedClient>();
  #actions: Action[] = [];
  #counted = 0;
  readonly #listeners = new Set<() => void>();

  /** Those that are connected, the newest first. */
  get connected(): ConnectedClient[] {
    const all = new Map([...this.#announced.values()].flat().map((client) => [client.id, client]));
    return [...all.values()].sort((one, other) => other.since - one.since);
  }

  /** The calls that run now, those of the newest client first. */
  get running(): Running[] {
    return this.connected.flatMap(({ id, name, running = [] }) =>
      running.map((call) => ({ ...call, client: id, name })),
    );
  }

  /** Whether a coordinator serves the window's endpoint, as it announces. */
  get served(): boolean {
    return this.#serving.size > 0;
  }

  /** What they did, the newest last. */
  get actions(): readonly Action[] {
    return this.#actions;
  }

  /** The last action of each connected client, if it is still known. */
  get last(): Activity[] {
    return this.connected
      .flatMap(({ id }) => this.#actions.findLast(({ client }) => client === id) ?? [])
      .map(activity);
  }

  /** The page in which an agent acted last. */
  get lastPage(): string | undefined {
    const last = new Map(this.last.map((action) => [action.client, action]));
    return lastPage(this.connected.map((client) => ({ ...client, last: last.get(client.id) ?? null })));
  }

  /** One that is connected, or was. */
  lookUp(id: string): ConnectedClient | undefined {
    return this.#remembered.get(id);
  }

  /** Knows clients of an earlier time by name. */
  remember(clients: ConnectedClient[]): void {
    for (const { running, ...client } of clients) {
      this.#remembered.delete(client.id);
      this.#remembered.set(client.id, client);
    }
    keepNewest(this.#remembered, knownLimit);
  }

  /** Replaces what the connection announced before; it ends with the connection. */
  announce(connection: AbortSignal, clients: ConnectedClient[], serving = false): void {
    if (connection.aborted) return;
    if (!this.#announced.has(connection)) {
      const forget = () => {
        this.#announced.delete(connection);
        this.#serving.delete(connection);
        this.#notify();
      };
      connection.addEventListener("abort", forget, { once: true });
    }
    if (serving) this.#serving.add(connection);
    else this.#serving.delete(connection);
    this.#announced.set(connection, clients);
    this.remember(clients);
    this.#notify();
  }

  /** Begins with what was done before the window was reloaded. */
  restore(actions: readonly Action[]): void {
    this.#actions = [...actions];
    this.#counted = Math.max(0, ...actions.map(({ number }) => number));
    this.#notify();
  }

  report(entries: Activity[], personal = false): void {
    if (entries.length === 0) return;
    const actions = [...this.#actions];
    for (const entry of entries) {
      const last = actions.at(-1);
      const { times = 1, ...done } = entry;
      const { name = "a client that has left", kind = "mcp" } = this.lookUp(entry.client) ?? {};
      if (last && isSame(last, entry)) actions.splice(-1, 1, { ...last, ...done, times: last.times + times });
      else actions.push(this.#action({ ...done, times, name, kind, ...(personal && { personal }) }, last));
    }
    this.#actions = newest(actions);
    this.#notify();
  }

  /** What the user has decided, in their words. */
  userDid(act: string): void {
    const entry = { client: "user", time: Date.now(), act, target: "", outcome: "", ok: true };
    const action = this.#action({ ...entry, times: 1, name: "", kind: "user" }, this.#actions.at(-1));
    this.#actions = newest([...this.#actions, action]);
    this.#notify();
  }

  #action(entry: Omit<Action, "number" | "run">, last: Action | undefined): Action {
    this.#counted += 1;
    const number = this.#counted;
    return { ...entry, number, run: last?.client === entry.client ? last.run : number };
  }

  /** Forgets what was done. */
  clear(): void {
    this.#actions = [];
    this.#notify();
  }

  /** Calls listener after each change until the returned function is called. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #notify(): void {
    for (const listener of this.#listeners) listener();
  }
}

/** A client, without what may have been typed. */
function withoutScripts({ running, ...client }: ConnectedClient): ConnectedClient {
  return { ...client, ...(running && { running: running.map(({ script, ...call }) => call) }) };
}

/** An action as it was reported, without what is for the user alone. */
function activity({ number, run, name, kind, personal, times, details, ...reported }: Action): Activity {
  return times === 1 ? reported : { ...reported, times };
}

/** What is kept, in its order. */
function newest(actions: Action[]): Action[] {
  const pictured = actions.filter(({ details }) => details?.picture !== undefined);
  for (const action of pictured.slice(0, -picturesLimit)) actions[actions.indexOf(action)] = withoutPicture(action);
  if (actions.length <= actionsLimit) return actions;
  const latest = (wanted: Actor) => actions.filter(({ kind }) => kind === wanted).slice(-actionsLimit);
  return actors.flatMap(latest).sort((one, other) => one.number - other.number);
}

function withoutPicture(action: Action): Action {
  if (action.details?.picture === undefined) return action;
  const { picture, ...details } = action.details;
  return { ...action, details };
}

/**
 * Whether one repeats the other. A client that asks the page something every moment would fill the list. Each
 * action from which something followed is shown.
 */
function isSame(one: Activity, other: Activity): boolean {
  const identity = ({ client, act, target, outcome, ok, url, details = { duration: 0 } }: Activity) => {
    const { reason, covers, script } = details;
    return [client, act, target, outcome, ok, url, reason, covers, script];
  };
  if (one.details?.effects || other.details?.effects) return false;
  return isDeepStrictEqual(identity(one), identity(other));
}

/** The commands by which coordinators report, and read what was reported. */
export function clientCommands(clients: Clients, isPersonal = () => false): [string, Command][] {
  return [
    [
      "client.announce",
      {
        run: async (arg, { connection }) => {
          const value = Argument.parse(arg);
          const serving = value.has("serving") && value.flag("serving");
          clients.announce(connection, atMost(announceLimit, value, "clients").map(readClient), serving);
          return { pictures: true };
        },
      },
    ],
    [
      "client.report",
      {
        run: async (arg) => {
          const entries = atMost(reportLimit, Argument.parse(arg), "entries").map(readActivity);
          clients.report(entries, isPersonal());
          return {};
        },
      },
    ],
    [
      "client.list",
      {
        run: async (): Promise<ClientListResult> => ({
          clients: clients.connected.map(withoutScripts),
          last: clients.last,
        }),
      },
    ],
  ];
}

function atMost(limit: number, arg: Argument, list: string): Argument[] {
  const items = arg.objects(list);
  if (items.length > limit) throw arg.bad(list, `must not have more than ${limit} items`);
  return items;
}

function readClient(client: Argument): ConnectedClient {
  return {
    id: client.text("id"),
    name: client.text("name"),
    version: client.text("version", 0),
    kind: client.choice("kind", ["mcp", "cdp"]),
    since: client.whole("since", 0),
    ...(client.has("page") && { page: client.text("page") }),
    ...(client.has("access") && { access: client.text("access") }),
    ...(client.has("running") && {
      running: distinct(client.objects("running").slice(0, runningLimit).map(readRunning)),
    }),
  };
}

/** Without calls that a view could not tell apart: an editor refuses two rows of one id. */
function distinct(calls: RunningCall[]): RunningCall[] {
  return [...new Map(calls.map((call) => [`${call.time} ${call.act}`, call])).values()];
}

function readRunning(call: Argument): RunningCall {
  return {
    time: call.whole("time", 0),
    act: call.text("act"),
    target: call.text("target", 0),
    ...(call.has("script") && { script: call.text("script").slice(0, scriptLimit) }),
  };
}

export function readActivity(entry: Argument): Activity {
  return {
    client: entry.text("client"),
    time: entry.whole("time", 0),
    act: entry.text("act"),
    target: entry.text("target", 0),
    outcome: entry.text("outcome", 0),
    ok: entry.flag("ok"),
    ...(entry.has("url") && { url: entry.text("url", 0) }),
    ...(entry.has("times") && { times: entry.whole("times", 1) }),
    ...(entry.has("details") && { details: readDetails(entry.object("details")) }),
  };
}

function readDetails(details: Argument): ActivityDetails {
  const picture = details.optional("picture", () => details.text("picture"));
  const effects = details.optional("effects", () => details.objects("effects"))?.slice(0, effectsLimit) ?? [];
  return {
    duration: details.whole("duration", 0),
    ...(details.has("reason") && { reason: details.text("reason") }),
    ...(details.has("covers") && { covers: details.text("covers") }),
    ...(details.has("script") && { script: details.text("script").slice(0, scriptLimit) }),
    ...(effects.length > 0 && { effects: effects.map(readEffect) }),
    ...(picture !== undefined && isPicture(picture) && { picture }),
  };
}

function readEffect(effect: Argument): ActivityEffect {
  return {
    kind: effect.text("kind"),
    text: effect.text("text", 0).slice(0, effectLimit),
    ...(effect.has("place") && { place: effect.text("place", 0).slice(0, effectLimit) }),
    ...(effect.has("late") && { late: effect.flag("late") }),
  };
}

/** Whether it is the base64 of a JPEG, and nothing that would end a link. */
function isPicture(text: string): boolean {
  return text.length <= pictureLimit && /^\/9j\/[A-Za-z0-9+/]*={0,2}$/.test(text);
}
