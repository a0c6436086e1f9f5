// What the coordinator reports of all windows and browsers, and what the user has it do.
import type { Choice } from "../../core/access/permission";
import { actOnPage, type Page, pageActions } from "../../core/browser/pages";
import type { Tab } from "../../core/browser/usertabs";
import type { AccessMode, Note, PendingQuestion, State } from "../../core/protocol/protocol.generated";
import type { States } from "../../core/window/store";

/** A client of a window's browser. */
export interface ShownClient {
  id: string;
  name: string;
  version: string;
  kind: "mcp" | "cdp";
  since: string;
  /** That it works in. */
  page?: string;
  /** The calls that have run for a while, the oldest first. */
  running?: { time: string; text: string }[];
  last?: { time: string; text: string; failed?: string; url?: string } | null;
  stopped?: boolean;
}

/** What a text of an action consists of: a tool's or a CDP method's name, and its target. */
export function partsOf(text: string): { act: string; target: string } {
  const [act = "", ...target] = text.split(" ");
  return { act, target: target.join(" ") };
}

/** The calls that a client runs. */
export function runningOf({ name, running = [] }: ShownClient) {
  return running.map(({ text }) => ({ name, ...partsOf(text) }));
}

/** A window, or a browser without one. */
export interface ShownWindow {
  key: string;
  title: string;
  place: string;
  kind: string;
  product: string;
  mode: AccessMode | "";
  stopped: string[];
  /** Whether the user has taken over the browser. */
  takenOver: boolean;
  /** Whether the user can change here what clients may do. */
  controls: boolean;
  /** Whether the user can write to agents here. */
  notes: boolean;
  clients: ShownClient[];
  questions: PendingQuestion[];
  state: Pick<State, "browser" | "pages" | "debugSessions">;
  /** Names the user's own browser; empty: it is another one. */
  own: string;
  /** Whether the user hands tabs of that over here: in the first of its windows. */
  hands?: boolean;
}

type Change = { mode: AccessMode } | { stop: string } | { resume: string } | { takenOver: boolean };

export class Feed {
  readonly #listeners = new Set<() => void>();
  #windows: readonly ShownWindow[] = [];
  #root = "";
  #lost = false;
  #listed = false;

  /** Asks the coordinator for reports, below the path of this tab. */
  connect(root: string): void {
    this.#root = root;
    const source = new EventSource(`${root}feed`);
    source.addEventListener("message", ({ data }) => {
      const { windows } = JSON.parse(data) as { windows: ShownWindow[] };
      const isFirst = ({ own }: ShownWindow, index: number) => windows.findIndex((each) => each.own === own) === index;
      this.#windows = windows.map((each, index) => ({ ...each, hands: each.own !== "" && isFirst(each, index) }));
      this.#lost = false;
      this.#listed = true;
      this.#notify();
    });
    source.addEventListener("error", () => {
      this.#lost = true;
      this.#notify();
    });
  }

  get windows(): readonly ShownWindow[] {
    return this.#windows;
  }

  /** Whether the coordinator has reported once. */
  get listed(): boolean {
    return this.#listed;
  }

  /** Whether the coordinator no longer reports. */
  get lost(): boolean {
    return this.#lost;
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The state of a window, as the live view reads it. The coordinator stands between it and the browsers. */
  states(key: string): States {
    const read = () => this.#state(key);
    return {
      get state() {
        return read();
      },
      subscribe: (listener) => this.subscribe(listener),
    };
  }

  #state(key: string): State {
    const window = this.#windows.find((each) => each.key === key);
    const { browser = null, pages = [], debugSessions = [] } = window?.state ?? {};
    return {
      revision: 0,
      debugSessions,
      browser: browser && { ...browser, url: this.#relay(browser.url) },
      pages: pages.map((page) => ({ ...page, url: this.#relay(page.url) })),
      access: { mode: "view", stopped: [], takenOver: window?.takenOver ?? false },
    };
  }

  #relay(path: string): string {
    const url = new URL(this.#root + path, location.href);
    url.protocol = "ws:";
    return url.href;
  }

  #notify(): void {
    for (const listener of this.#listeners) listener();
  }

  /** Answers for the actions of a question up to a number, with the tab for an agent that asks for one. */
  async answer(window: string, question: string, choice: Choice, last: number, tab?: string): Promise<void> {
    await this.#call({ window, command: "permission.answer", arg: { question, choice, last, tab } });
  }

  async change(window: string, arg: Change): Promise<void> {
    await this.#call({ window, command: "access.change", arg });
  }

  async giveNote(window: string, recipient: string, note: Note): Promise<void> {
    await this.#call({ window, command: "note.give", arg: { recipient, note } });
  }

  /** The user's tabs in the user's own browser. */
  async tabs(own: string): Promise<Tab[]> {
    const response = await this.#call({ command: "tab.list", arg: { own } });
    return (await response.json()) as Tab[];
  }

  /** Hands a tab over, or takes it back, and returns the tabs then. */
  async toggle(own: string, { id, handedOver }: Tab): Promise<Tab[]> {
    const command = handedOver ? "tab.takeBack" : "tab.handOver";
    const response = await this.#call({ command, arg: { own, tab: id } });
    return (await response.json()) as Tab[];
  }

  async closePage(window: string, page: Page): Promise<void> {
    const { browser } = this.#state(window);
    if (browser) await actOnPage(browser.url, page, pageActions.closePage);
  }

  async #call(body: object): Promise<Response> {
    const response = await fetch(`${this.#root}call`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(await response.text());
    return response;
  }
}
