// What listens to the window's state or its clients no longer listens once it is closed.
import { expect, test, vi } from "vitest";
import { Permissions } from "../../src/core/access/permission";
import { Pages } from "../../src/core/browser/pages";
import { Sessions } from "../../src/core/browser/sessions";
import { type Agents, LiveView } from "../../src/core/liveview/liveview";
import { silent } from "../../src/core/log";
import { Clients } from "../../src/core/window/clients";
import { EditorContext } from "../../src/core/window/editorcontext";
import { Notes } from "../../src/core/window/notes";
import { Store } from "../../src/core/window/store";

const noSessions = (store: Store) => new Sessions(store, async () => undefined, silent);

function agentsOf(clients: Clients): Agents {
  return { lastPage: undefined, asked: [], waiting: "", subscribe: (listener) => clients.subscribe(listener) };
}

/** How many listen, from now on. */
function counted<L>(source: { subscribe(listener: L): () => void }): () => number {
  const subscribe = source.subscribe.bind(source);
  let count = 0;
  source.subscribe = (listener) => {
    const stop = subscribe(listener);
    count += 1;
    return () => {
      count -= 1;
      stop();
    };
  };
  return () => count;
}

test.each([
  ["questions", (store: Store, clients: Clients) => new Permissions(store, clients, () => 1_000)],
  ["the pages", (store: Store) => new Pages(store, silent)],
  [
    "the live view",
    (store: Store, clients: Clients) =>
      new LiveView(store, noSessions(store), silent, new Notes(store, new Clients()), agentsOf(clients)),
  ],
])("%s", (_, open) => {
  const [store, clients] = [new Store(), new Clients()];
  const [ofStore, ofClients] = [counted(store), counted(clients)];
  const opened = open(store, clients);
  expect(ofStore()).toBeGreaterThan(0);
  opened.close();
  expect([ofStore(), ofClients()]).toEqual([0, 0]);
});

test("the editor's context has no timer left", () => {
  vi.useFakeTimers();
  const context = new EditorContext(
    new Store(),
    () => undefined,
    () => true,
  );
  context.changed();
  expect(vi.getTimerCount()).toBe(1);
  context.close();
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});
