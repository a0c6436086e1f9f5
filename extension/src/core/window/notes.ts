// What the user writes to agents about places in pages. An agent takes it with its next answer.
// Obeys specs/window-protocol/commands.md, note.give and note.take.
import { Argument } from "../protocol/argument";
import type { AnnotatedNode, Annotation, ConnectedClient, Note, NoteTakeResult } from "../protocol/protocol.generated";
import { Refusal } from "../protocol/request";
import type { Clients } from "./clients";
import type { Command } from "./connection";
import { annotationsLimit, elementLimit, pictureLimit, textLimit } from "./notelimits";
import type { Store } from "./store";

/** So many wait for one agent, the newest. */
const notesLimit = 20;

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
    return this.clients.connected.filter(({ id }) => this.refusal(id) === undefined);
  }

  /** Why an agent gets no note; undefined: it gets it. */
  refusal(client: string): string | undefined {
    const agent = this.clients.connected.find(({ id, kind }) => id === client && kind === "mcp");
    if (!agent) return "the agent has left: choose another one";
    const isStopped = this.store.state.access.stopped.includes(agent.name);
    return isStopped ? "the agent is stopped: resume it, or choose another one" : undefined;
  }

  /** Calls listener after each change of the clients until the returned function is called. */
  subscribe(listener: () => void): () => void {
    return this.clients.subscribe(listener);
  }

  /** Reports whether the agent can get it. */
  send(client: string, { text, annotations }: Note): boolean {
    if (this.refusal(client) !== undefined) return false;
    const note = {
      text: text.trim().slice(0, textLimit),
      annotations: annotations.slice(0, annotationsLimit).map(cut),
    };
    this.#waiting.set(client, [...(this.#waiting.get(client) ?? []), note].slice(-notesLimit));
    this.#publish();
    return true;
  }

  /** Returns the oldest that waits for an agent, and forgets it. */
  take(client: string): Note | undefined {
    const [note, ...rest] = this.#waiting.get(client) ?? [];
    if (rest.length > 0) this.#waiting.set(client, rest);
    else this.#waiting.delete(client);
    this.#publish();
    return note;
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

function cut({ element, text, page, node, picture }: Annotation): Annotation {
  return {
    element: element.slice(0, elementLimit),
    text: text.trim().slice(0, textLimit),
    page: { title: page.title.slice(0, elementLimit), url: page.url.slice(0, textLimit) },
    ...(node && { node }),
    ...(picture && picture.length <= pictureLimit && { picture }),
  };
}

/** The commands by which coordinators take them, and by which the user writes them in another page. */
export function noteCommands(notes: Notes): [string, Command][] {
  const give = async (value: unknown) => {
    const arg = Argument.parse(value);
    const note = arg.object("note");
    const annotations = note.objects("annotations").map(readAnnotation);
    const recipient = arg.text("recipient");
    const refusal = notes.refusal(recipient);
    if (refusal !== undefined) throw new Refusal("bad_payload", refusal);
    notes.send(recipient, { text: note.text("text", 0), annotations });
    return {};
  };
  const take = async (arg: unknown): Promise<NoteTakeResult> => {
    const note = notes.take(Argument.parse(arg).client().id);
    return note ? { note } : {};
  };
  return [
    ["note.give", { run: give }],
    ["note.take", { run: take }],
  ];
}

function readAnnotation(arg: Argument): Annotation {
  const page = arg.object("page");
  const node = arg.optional("node", () => readNode(arg.object("node")));
  const picture = arg.optional("picture", () => arg.text("picture"));
  return {
    element: arg.text("element", 0),
    text: arg.text("text", 0),
    page: { title: page.text("title", 0), url: page.text("url", 0) },
    ...(node && { node }),
    ...(picture && { picture }),
  };
}

export function readNode(arg: Argument): AnnotatedNode {
  return { target: arg.text("target"), document: arg.text("document"), id: arg.whole("id", 1) };
}
