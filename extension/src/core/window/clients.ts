// Who uses this window's browser, and what they did lately, as coordinators report it.
// Obeys specs/window-protocol/commands.md, client.announce and client.report.
import { isDeepStrictEqual } from "node:util";
import { Argument } from "../protocol/argument";
import type { Activity, ClientListResult, ConnectedClient } from "../protocol/protocol.generated";
import type { Command } from "./connection";

/** So many of agents, and as many of CDP clients: these send hundreds at once. */
export const actionsLimit = 200;
/** So many clients are known by name after they have left. */
const knownLimit = 200;
const announceLimit = 256;
const reportLimit = 1_000;

/** An action, with its client's name: the client may be gone. Repeats are one entry, with the last one's time. */
export interface Action extends Omit<Activity, "times"> {
  /** Counts from 1 within this window session. */
  readonly number: number;
  /** The number of the first of those that the client did without another one between them. */
  readonly run: number;
  readonly times: number;
  readonly name: string;
  readonly kind: ConnectedClient["kind"];
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

  /** One that is connected, or was. */
  lookUp(id: string): ConnectedClient | undefined {
    return this.#remembered.get(id);
  }

  /** Knows clients of an earlier time by name. */
  remember(clients: ConnectedClient[]): void {
    for (const client of clients) {
      this.#remembered.delete(client.id);
      this.#remembered.set(client.id, client);
      for (const id of this.#remembered.keys()) {
        if (this.#remembered.size <= knownLimit) break;
        this.#remembered.delete(id);
      }
    }
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

  report(entries: Activity[]): void {
    if (entries.length === 0) return;
    const actions = [...this.#actions];
    for (const entry of entries) {
      const last = actions.at(-1);
      const { times = 1, ...done } = entry;
      if (last && isSame(last, entry)) actions.splice(-1, 1, { ...last, time: entry.time, times: last.times + times });
      else actions.push(this.#action(done, times, last));
    }
    this.#actions = newest(actions);
    this.#notify();
  }

  #action(entry: Omit<Activity, "times">, times: number, last: Action | undefined): Action {
    this.#counted += 1;
    const number = this.#counted;
    const { name = "a client that has left", kind = "mcp" } = this.lookUp(entry.client) ?? {};
    return { ...entry, number, run: last?.client === entry.client ? last.run : number, times, name, kind };
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

/** An action as it was reported. */
function activity({ number, run, name, kind, times, ...reported }: Action): Activity {
  return times === 1 ? reported : { ...reported, times };
}

/** What is kept, in its order. */
function newest(actions: Action[]): Action[] {
  if (actions.length <= actionsLimit) return actions;
  const of = (wanted: string) => actions.filter(({ kind }) => kind === wanted).slice(-actionsLimit);
  return [...of("mcp"), ...of("cdp")].sort((one, other) => one.number - other.number);
}

/** Whether one repeats the other. A client that asks the page something every moment would fill the list. */
function isSame(one: Activity, other: Activity): boolean {
  const identity = ({ client, act, target, outcome, ok, url }: Activity) => [client, act, target, outcome, ok, url];
  return isDeepStrictEqual(identity(one), identity(other));
}

/** The commands by which coordinators report, and read what was reported. */
export function clientCommands(clients: Clients): [string, Command][] {
  return [
    [
      "client.announce",
      {
        run: async (arg, { connection }) => {
          const value = Argument.of(arg);
          const serving = value.has("serving") && value.flag("serving");
          clients.announce(connection, atMost(announceLimit, value, "clients").map(readClient), serving);
          return {};
        },
      },
    ],
    [
      "client.report",
      {
        run: async (arg) => {
          clients.report(atMost(reportLimit, Argument.of(arg), "entries").map(readActivity));
          return {};
        },
      },
    ],
    [
      "client.list",
      {
        run: async (): Promise<ClientListResult> => ({ clients: clients.connected, last: clients.last }),
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
  };
}
