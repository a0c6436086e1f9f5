// Writing to an agent about elements of the page, in a played editor; a real one is in e2e/pick.test.ts, and pointing
// in a real browser in liveview/pointout.test.ts.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { setTakenOver } from "../src/core/access/access";
import { NoResponse } from "../src/core/browser/cdp";
import { pointOut, visiblePage } from "../src/core/liveview/pointout";
import { isUnseen } from "../src/core/liveview/unseen";
import type { Annotation, ConnectedClient } from "../src/core/protocol/protocol.generated";
import { Clients } from "../src/core/window/clients";
import { Notes } from "../src/core/window/notes";
import { Store } from "../src/core/window/store";
import { offerToPointOut } from "../src/vscode/pointout";
import * as editor from "./support/editor";

vi.mock("../src/core/liveview/pointout");
vi.mock("../src/core/liveview/unseen");

const agent = (id: string, name: string): ConnectedClient => ({ id, name, version: "1", kind: "mcp", since: 1 });
const about = (element: string): Annotation => ({
  element,
  text: "",
  page: { title: "Shop", url: "http://shop.test/" },
});
const here = new AbortController().signal;

let store: Store;
let clients: Clients;
let notes: Notes;
let offer: { dispose(): void };
const shown = { comment: vi.fn(), choose: vi.fn(), warn: vi.fn(), report: vi.fn(), inform: vi.fn(), status: vi.fn() };
/** What the editor shows, and what the user does with it. */
const played = {
  showInputBox: shown.comment,
  showQuickPick: (choices: { label: string }[], { title }: { title: string }) => {
    const wanted = shown.choose(
      choices.map(({ label }) => label.replace(/^\$\(\w+\) /, "")),
      title,
    );
    return choices.find(({ label }) => label.endsWith(wanted));
  },
  showWarningMessage: shown.warn,
  showErrorMessage: shown.report,
  showInformationMessage: shown.inform,
  setStatusBarMessage: shown.status,
};

beforeEach(() => {
  for (const each of Object.values(shown)) each.mockReset();
  vi.mocked(pointOut).mockReset();
  vi.mocked(visiblePage).mockReset().mockResolvedValue("seen");
  vi.mocked(isUnseen).mockReset().mockResolvedValue(undefined);
  Object.assign(editor.window, played);
  store = new Store();
  store.set({ browser: { url: "ws://browser", product: "Chrome/150", via: "injected" } });
  clients = new Clients();
  clients.announce(here, [agent("c", "Claude Code"), agent("d", "Cursor")]);
  notes = new Notes(store, clients);
  offer = offerToPointOut(store, notes);
});

afterEach(() => {
  offer.dispose();
  notes.close();
  for (const each of Object.keys(played)) Reflect.deleteProperty(editor.window, each);
});

const run = (row?: object) => editor.commands.executeCommand("browserCoordinator.pointOut", row);
const waiting = () => ["c", "d"].map((id) => notes.take(id));

test("several elements with comments are one note, for the agent that the user chooses", async () => {
  vi.mocked(pointOut).mockResolvedValueOnce(about("button#buy")).mockResolvedValueOnce(about("h1"));
  shown.comment.mockResolvedValueOnce("Rounder.").mockResolvedValueOnce("");
  shown.choose.mockReturnValueOnce("Add Another").mockReturnValueOnce("Send to Cursor 1");
  await run();
  expect(vi.mocked(pointOut).mock.calls.map(([browser, page]) => [browser, page])).toEqual([
    ["ws://browser", "seen"],
    ["ws://browser", "seen"],
  ]);
  expect(shown.comment.mock.calls.map(([{ title }]) => title)).toEqual(["button#buy", "h1"]);
  expect(shown.choose.mock.calls[0]?.[0]).toEqual([
    "Send to Claude Code 1",
    "Send to Cursor 1",
    "Add Another",
    "Discard",
  ]);
  const annotations = [{ ...about("button#buy"), text: "Rounder." }, about("h1")];
  expect(waiting()).toEqual([undefined, { text: "", annotations }]);
  expect(shown.status.mock.lastCall?.[0]).toBe("Sent: the agent gets it with its next answer.");
});

test.each([true, undefined])("agents wait while the user points; taken over before: %s", async (before) => {
  store.set({ access: { ...store.state.access, ...(before && { takenOver: before }) } });
  const meanwhile: unknown[] = [];
  vi.mocked(pointOut)
    .mockImplementationOnce(async () => {
      meanwhile.push(store.state.access.takenOver);
      return about("h1");
    })
    .mockRejectedValueOnce(new NoResponse("late"));
  shown.comment.mockImplementation(() => meanwhile.push(store.state.access.takenOver));
  shown.choose.mockReturnValueOnce("Add Another").mockReturnValueOnce("Discard");
  await run();
  expect([...meanwhile, store.state.access.takenOver]).toEqual([true, before, before]);
});

test("the page of a row is the one in which the user points", async () => {
  await run({ page: { id: "row" } });
  expect(vi.mocked(pointOut).mock.calls[0]?.[1]).toBe("row");
  expect(visiblePage).not.toHaveBeenCalled();
  expect(shown.comment).not.toHaveBeenCalled(); // the user has cancelled
});

test.each([
  ["Discard", 2],
  ["nothing", 1],
])("%s sends nothing, and what was not discarded is kept", async (choice, pointed) => {
  vi.mocked(pointOut).mockResolvedValue(about("h1"));
  shown.comment.mockResolvedValue("Larger.");
  shown.choose.mockReturnValue(choice);
  await run();
  expect(shown.choose).toHaveBeenCalledTimes(1);
  expect(waiting()).toEqual([undefined, undefined]);
  shown.choose.mockReturnValue("Send to Cursor 1");
  await run();
  expect(pointOut).toHaveBeenCalledTimes(pointed);
  expect(waiting()).toEqual([undefined, { text: "", annotations: [{ ...about("h1"), text: "Larger." }] }]);
});

test("Give Back ends the pointing, and a later Take Over stays", async () => {
  vi.mocked(pointOut).mockImplementation(
    (_, __, signal) => new Promise((resolve) => signal.addEventListener("abort", () => resolve(undefined))),
  );
  const running = run();
  await vi.waitFor(() => expect(pointOut).toHaveBeenCalled());
  setTakenOver(store, false);
  setTakenOver(store, true);
  await running;
  expect(store.state.access.takenOver).toBe(true);
});

test("an element whose comment the user cancels is not in the note", async () => {
  vi.mocked(pointOut).mockResolvedValue(about("h1"));
  shown.comment.mockResolvedValueOnce("Larger.").mockResolvedValueOnce(undefined).mockResolvedValueOnce(undefined);
  shown.choose.mockReturnValueOnce("Add Another").mockReturnValueOnce("Send to Claude Code 1");
  await run();
  expect(notes.take("c")?.annotations).toHaveLength(1);
  shown.choose.mockClear();
  await run();
  expect(shown.choose).not.toHaveBeenCalled();
});

test("a note whose agent has left meanwhile can go to another one", async () => {
  vi.mocked(pointOut).mockResolvedValue(about("h1"));
  shown.comment.mockResolvedValue("Larger.");
  shown.choose.mockImplementationOnce(() => {
    clients.announce(here, [agent("d", "Cursor")]);
    return "Send to Claude Code 1";
  });
  shown.choose.mockReturnValueOnce("Send to Cursor 1");
  await run();
  expect(shown.choose.mock.lastCall?.[0]).toEqual(["Send to Cursor 1", "Add Another", "Discard"]);
  expect(shown.status.mock.calls.map(([text]) => text)).toEqual([
    "The agent has left.",
    "Sent: the agent gets it with its next answer.",
  ]);
  expect(notes.take("d")?.annotations).toHaveLength(1);
});

test("at its limit a note takes no other element", async () => {
  vi.mocked(pointOut).mockResolvedValue(about("h1"));
  shown.comment.mockResolvedValue("");
  shown.choose.mockReturnValue("Add Another");
  await run();
  expect(pointOut).toHaveBeenCalledTimes(10);
  expect(shown.choose.mock.lastCall?.[0]).not.toContain("Add Another");
});

test("what is in the note stays when the page does not respond", async () => {
  vi.mocked(pointOut).mockResolvedValueOnce(about("h1")).mockRejectedValueOnce(new NoResponse("late"));
  shown.comment.mockResolvedValue("");
  shown.choose.mockReturnValueOnce("Add Another").mockReturnValueOnce("Send to Claude Code 1");
  await run();
  expect(shown.report.mock.calls[0]?.[0]).toContain("The page does not respond.");
  expect(notes.take("c")?.annotations).toHaveLength(1);
});

test("what is missing is reported", async () => {
  vi.mocked(visiblePage).mockResolvedValueOnce(undefined);
  await run();
  expect(shown.warn.mock.lastCall?.[0]).toBe("The browser has no page open.");
  vi.mocked(isUnseen).mockResolvedValueOnce("seen");
  shown.warn.mockResolvedValueOnce("Open Live View");
  const opened = vi.fn();
  const command = editor.commands.registerCommand("browserCoordinator.openLiveView", opened);
  await run();
  await vi.waitFor(() => expect(opened).toHaveBeenCalled());
  command.dispose();
  store.set({ browser: null });
  await run();
  expect(shown.warn.mock.lastCall?.[0]).toContain("This window has no browser");
  vi.spyOn(notes, "recipients", "get").mockReturnValue([]);
  await run();
  expect(shown.inform.mock.lastCall?.[0]).toBe("No agent is connected.");
  expect(pointOut).not.toHaveBeenCalled();
});

test("while the user points, the command begins nothing; it ends with the extension", async () => {
  vi.mocked(pointOut).mockImplementation(
    (_, __, signal) => new Promise((resolve) => signal.addEventListener("abort", () => resolve(undefined))),
  );
  const first = run();
  await vi.waitFor(() => expect(pointOut).toHaveBeenCalled());
  await run();
  expect(pointOut).toHaveBeenCalledTimes(1);
  expect(editor.notices.size).toBe(1);
  offer.dispose();
  await first;
  expect(editor.notices.size).toBe(0);
});

test("nothing that a page calls its element is a link or an icon for the user", async () => {
  const hostile = `[x](command:y) $(trash)\u202e\u0007\n\nYour note was sent.${"x".repeat(5_000_000)}`;
  vi.mocked(pointOut).mockResolvedValueOnce(about(hostile));
  shown.comment.mockResolvedValueOnce("");
  await run();
  const texts = [shown.comment, shown.choose].flatMap(({ mock }) => JSON.stringify(mock.lastCall));
  expect(texts.join()).toContain("[x] (command:y)");
  for (const text of texts) {
    expect(text).not.toMatch(/\]\(|\$\(|\u202e|\\[un]/);
    expect(text.length).toBeLessThan(1_000);
  }
});
