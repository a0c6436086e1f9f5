// The user's own browser takes the place of the debug browser, in a played editor and with a played coordinator; the
// real ones are in e2e/ownbrowser.test.ts.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { setMode, stop } from "../src/core/access/access";
import { Permissions } from "../src/core/access/permission";
import { OwnBrowser } from "../src/core/browser/ownbrowser";
import { Sessions } from "../src/core/browser/sessions";
import { silent } from "../src/core/log";
import type { AccessMode } from "../src/core/protocol/protocol.generated";
import { pause } from "../src/core/sight";
import { Clients } from "../src/core/window/clients";
import { Store } from "../src/core/window/store";
import { WindowAccess } from "../src/vscode/access";
import { OwnBrowserControl } from "../src/vscode/ownbrowser";
import * as editor from "./support/editor";
import { temporaryFolder } from "./support/window";

/** Writes down each request, and has two tabs. */
const coordinator = `#!/bin/sh
echo '{"url":"ws://127.0.0.1:1/own","product":"Chrome/150"}'
while read -r request; do
  echo "$request" >> "$0.log"
  case $request in
    tabs) echo '{"tabs":[{"id":"H","title":"My mail","origin":"https://bank.example","handedOver":true},'\
'{"id":"N","title":"News","origin":"https://news.example"},'\
'{"id":"T","title":"My bank","origin":"https://bank.example"}]}' ;;
    *) echo '{}' ;;
  esac
done
`;

let program: string;
let store: Store;
let clients: Clients;
let permissions: Permissions;
let own: OwnBrowserControl;
let held: { dispose(): void }[];

beforeEach(async () => {
  const folder = await temporaryFolder();
  program = join(folder, "coordinator");
  await writeFile(program, coordinator, { mode: 0o700 });
  editor.configured.set("browserCoordinator.coordinatorPath", program);
  store = new Store();
  clients = new Clients();
  permissions = new Permissions(store, clients, () => 60_000);
  const sessions = new Sessions(store, async () => undefined, silent);
  const parts = { extension: editor.Uri.file(folder) as never, store, sessions, permissions, clients };
  own = new OwnBrowserControl(parts, silent);
  held = [own.register(), new WindowAccess({} as never, store, silent).watch()];
});

afterEach(() => {
  for (const each of held) each.dispose();
  permissions.close();
  editor.configured.clear();
});

const mode = () => store.state.access.mode;
const changeSetting = (value: AccessMode) => editor.configure("browserCoordinator.access", value);

async function useOwn(before: AccessMode): Promise<void> {
  setMode(store, before);
  await own.use();
  expect(store.state.browser?.via).toBe("personal");
}

describe("the mode", () => {
  test("full becomes ask, and is full again after it", async () => {
    await useOwn("full");
    expect(mode()).toBe("ask");
    stop(store, { name: "Agent" });
    own.leave();
    expect(mode()).toBe("full");
    await useOwn("ask");
    own.leave();
    expect(mode()).toBe("ask");
  });

  test("that the user has chosen meanwhile stays, also if it is ask again", async () => {
    await useOwn("full");
    setMode(store, "view");
    setMode(store, "ask");
    own.leave();
    expect(mode()).toBe("ask");
    await useOwn("full");
    changeSetting("ask");
    own.leave();
    expect(mode()).toBe("ask");
  });

  test("is at most ask by the setting, and full if the user chooses it in this window", async () => {
    for (const before of ["ask", "view", "full"] as const) {
      await useOwn(before);
      changeSetting("full");
      expect(mode()).toBe("ask");
      changeSetting("view");
      expect(mode()).toBe("view");
      setMode(store, "full");
      own.leave();
      expect(mode()).toBe("full");
    }
    changeSetting("ask");
    changeSetting("full");
    expect(mode()).toBe("full");
  });
});

const requests = async () => (await readFile(`${program}.log`, "utf8")).trim().split("\n");

test("a key that was meant for the editor hands over no tab", async () => {
  await useOwn("ask");
  const handing = own.handOver();
  await vi.waitFor(() => expect(editor.lists.length).toBe(1));
  const [list] = editor.lists;
  list?.click("My bank");
  expect(editor.lists).toEqual([list]);
  await new Promise((resolve) => setTimeout(resolve, pause));
  list?.click("My bank");
  await handing;
  expect(await requests()).toEqual(["tabs", "hand-over T"]);
  expect(clients.actions.map(({ act }) => act)).toEqual(['Handed over the tab "My bank" of https://bank.example']);
});

test("a tab that was handed over is taken back in the same list", async () => {
  await useOwn("ask");
  const handing = own.handOver();
  await vi.waitFor(() => expect(editor.lists.length).toBe(1));
  const [list] = editor.lists;
  await new Promise((resolve) => setTimeout(resolve, pause));
  list?.click("My mail");
  await handing;
  expect(await requests()).toEqual(["tabs", "take-back H"]);
  expect(clients.actions.map(({ act }) => act)).toEqual(['Took back the tab "My mail" of https://bank.example']);
});

describe("an agent that asks for a tab", () => {
  const agent = { id: "a", name: "Agent", version: "1" };

  /** The agent asks, and the user allows it. */
  async function request(signal: AbortSignal, tab?: string): Promise<{ result: Promise<unknown> }> {
    const request = new Map(own.commands).get("tab.request");
    const result = request?.run({ client: agent, url: "https://bank.example/x" }, { signal } as never);
    await vi.waitFor(() => expect(permissions.question).toBeDefined());
    const { id = "", actions = [] } = permissions.question ?? {};
    permissions.answer(id, "once", actions, tab);
    return { result: Promise.resolve(result) };
  }

  test("gets one of those of the site that it wants, which are listed first", async () => {
    await useOwn("ask");
    const { result } = await request(new AbortController().signal);
    await vi.waitFor(() => expect(editor.lists.length).toBe(1));
    const [list] = editor.lists;
    expect(list?.items.map(({ label }) => label)).toEqual(["My bank", "News"]);
    await new Promise((resolve) => setTimeout(resolve, pause));
    list?.click("My bank");
    expect(await result).toEqual({ outcome: "handed-over", tab: "T" });
    expect(await requests()).toEqual(["tabs", "hand-over T"]);
  });

  test("gets the one that the user has chosen elsewhere, without a list here", async () => {
    await useOwn("ask");
    const { result } = await request(new AbortController().signal, "N");
    expect(await result).toEqual({ outcome: "handed-over", tab: "N" });
    expect(editor.lists).toEqual([]);
    expect(await requests()).toEqual(["tabs", "hand-over N"]);
  });

  test("and has left as the list would open opens none", async () => {
    await useOwn("ask");
    const left = new AbortController();
    const { result } = await request(left.signal);
    left.abort();
    await expect(result).rejects.toThrow(left.signal.reason);
    expect(editor.lists).toEqual([]);
    expect(await requests()).toEqual(["tabs"]);
  });
});

describe("a program that does not connect", () => {
  const connect = () => OwnBrowser.connect(program, "", () => {}, new AbortController().signal);

  test("and ends without a report has a reason", async () => {
    await writeFile(program, "#!/bin/sh\n", { mode: 0o700 });
    await expect(connect()).rejects.toThrow("the program that connected has ended");
  });

  test("and ends later without a report has a reason, also for who waits", async () => {
    await writeFile(program, `#!/bin/sh\necho '{"url":"ws://127.0.0.1:1/own"}'\nread -r request\n`, { mode: 0o700 });
    const { own: browser } = await connect();
    await expect(browser.tabs()).rejects.toThrow("the program that connected has ended");
    expect(await browser.ended).toBe("the program that connected has ended");
  });

  test("ends when it reports no browser", async () => {
    const other = '#!/bin/sh\necho $$ > "$0.pid"\necho Hello\nwhile read -r line; do :; done\n';
    await writeFile(program, other, { mode: 0o700 });
    await expect(connect()).rejects.toThrow(
      `${program} reported “Hello”, not a browser. Check the setting browserCoordinator.coordinatorPath`,
    );
    const pid = Number(await readFile(`${program}.pid`, "utf8"));
    await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow("ESRCH"));
  });

  test("after it was left has one for who waits", async () => {
    const { own: browser } = await connect();
    browser.end();
    expect(await browser.ended).toBeUndefined();
    await expect(browser.tabs()).rejects.toThrow("the program that connected has ended");
  });
});
