// What the user writes to agents about elements of a page. An agent takes it with its next answer.
// Obeys specs/window-protocol/commands.md, note.take.
import { Argument } from "../protocol/argument";
import type { ConnectedClient, Note, NoteTakeResult } from "../protocol/protocol.generated";
import type { Clients } from "./clients";
import type { Command } from "./connection";
import type { Store } from "./store";

/** So many wait for one agent, the newest. */
const notesLimit = 20;
const textLimit = 2_000;
const elementLimit = 300;

export class Notes {
  /** By the agent's id. */
  readonly #waiting = new Map<string, Note[]>();
  readonly #unsubscribe: () => void;

  constructor(
    private readonly store: Store,
    private readonly clients: Clients,
  ) {
    this.#unsubscribe = clients.subscribe(() => this.#clientsChanged());
  }

  /** The agents that can be written to. */
  get recipients(): ConnectedClient[] {
    const { stopped } = this.store.state.access;
    return this.clients.connected.filter(({ kind, name }) => kind === "mcp" && !stopped.includes(name));
  }

  /** Calls listener after each change of the clients until the returned function is called. */
  subscribe(listener: () => void): () => void {
    return this.clients.subscribe(listener);
  }

  /** Reports whether the agent can get it. */
  send(client: string, { text, page, elements }: Note): boolean {
    if (!this.recipients.some(({ id }) => id === client)) return false;
    const note = {
      text: text.trim().slice(0, textLimit),
      page: { title: page.title.slice(0, elementLimit), url: page.url.slice(0, textLimit) },
      elements: elements.map((element) => element.slice(0, elementLimit)),
    };
    this.#waiting.set(client, [...(this.#waiting.get(client) ?? []), note].slice(-notesLimit));
    this.#publish();
    return true;
  }

  /** Returns what waits for an agent, the oldest first, and forgets it. */
  take(client: string): Note[] {
    const notes = this.#waiting.get(client) ?? [];
    this.#waiting.delete(client);
    this.#publish();
    return notes;
  }

  close(): void {
    this.#unsubscribe();
  }

  #clientsChanged(): void {
    const connected = new Set(this.clients.connected.map(({ id }) => id));
    for (const id of this.#waiting.keys()) if (!connected.has(id)) this.#waiting.delete(id);
    this.#publish();
  }

  #publish(): void {
    this.store.set({ notes: [...this.#waiting.keys()] });
  }
}

/** The command by which coordinators take them. */
export function noteCommands(notes: Notes): [string, Command][] {
  const run = async (arg: unknown): Promise<NoteTakeResult> => ({
    notes: notes.take(Argument.of(arg).client().id),
  });
  return [["note.take", { run }]];
}
