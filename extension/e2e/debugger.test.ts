// A client debugs along with the user, in a real VS Code: each sees what the other does.
// The tests form one story: they run in their order.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { DebugSessionState, DebugStateResult, DebugStepResult } from "../src/core/protocol/protocol.generated";
import { setScene } from "./support/scene";
import type { Shop } from "./support/shop";
import { Listener } from "./support/socket";
import type { Workbench } from "./support/workbench";

const scene = setScene("debugger");
const client = { id: "agent-1", name: "E2E agent", version: "1.0.0" };
let shop: Shop;
let window: Workbench;
let listener: Listener;
let browser: Browser | undefined;
let page: Page;
let session: string;

async function state(): Promise<DebugSessionState[]> {
  return ((await listener.call("debug.state")) as unknown as DebugStateResult).sessions;
}

async function step(action: string): Promise<DebugStepResult> {
  return (await listener.call("debug.step", { action })) as unknown as DebugStepResult;
}

/** The page that is debugged, through its browser's endpoint. */
async function joinPage(): Promise<Page> {
  const { browser: endpoint } = await listener.debugging((each) => each.browser !== null);
  browser = await chromium.connectOverCDP(endpoint?.url ?? "", { timeout: 60_000 });
  const pages = browser.contexts().flatMap((context) => context.pages());
  const found = pages.find((each) => each.url().startsWith(shop.url));
  if (!found) throw new Error("the browser does not show the shop");
  return found;
}

/** Clicks the button, which the debugger may hold up: nobody waits for that. */
function click(): void {
  page
    .locator("#buy")
    .click()
    .catch(() => {});
}

beforeAll(async () => {
  ({ shop, window } = scene);
  listener = await Listener.dial(scene.address);
});

afterAll(async () => {
  await browser?.close();
  listener?.close();
});

test("a launch that failed is over, and can be started again", async () => {
  const path = join(shop.folder, ".vscode", "launch.json");
  const before = readFileSync(path, "utf8");
  const launch = JSON.parse(before);
  launch.configurations.push({
    ...launch.configurations[0],
    name: "Broken",
    runtimeExecutable: "/nonexistent/browser",
  });
  writeFileSync(path, JSON.stringify(launch));
  const start = (configuration: string) => listener.call("debug.start", { configuration }).catch(String);
  await expect.poll(() => start("none")).toMatch("Broken"); // the editor has read the file
  const dialog = window.page.locator(".monaco-dialog-box");
  for (const attempt of ["first", "second"]) {
    expect(await start("Broken"), attempt).toMatch(/Broken.*: the window shows why/);
    expect(await state()).toEqual([]);
    expect(listener.state.debugSessions).toEqual([]);
    await dialog.waitFor();
    await window.press("Escape");
    await dialog.waitFor({ state: "hidden" });
  }
  writeFileSync(path, before);
  await expect.poll(() => start("none")).not.toMatch("Broken");
});

test("it lists the configurations when the named one does not exist", async () => {
  await expect(listener.call("debug.start", { configuration: "Shoop" })).rejects.toThrow(
    'bad_payload: no launch configuration is called "Shoop": name one in "configuration": "Shop"',
  );
  await expect(listener.call("debug.step", { action: "over" })).rejects.toThrow("start one by debug.start");
  expect(await state()).toEqual([]);
});

test("a client starts the launch configuration by name, and the user sees it run", async () => {
  const started = await listener.call("debug.start", { client, configuration: "Shop" });
  expect(started).toMatchObject({ name: "Shop" });
  session = started.session as string;
  await window.running();
  const sessions = await state();
  expect(sessions[0]).toMatchObject({ id: session, configuration: "Shop", state: "running" });
  expect(sessions[1]).toMatchObject({ parent: session, configuration: "Shop", state: "running" });
  await expect(listener.call("debug.start", { client })).rejects.toThrow('"Shop" is being debugged already');
});

test("a breakpoint that the client sets is in the user's gutter", async () => {
  await window.openFile("app.js");
  const { breakpoints } = await listener.call("debug.breakpoints", { action: "set", path: "app.js", line: 5 });
  expect(breakpoints).toEqual([{ path: `${shop.folder}/app.js`, line: 5, enabled: true }]);
  await window.page.locator(".monaco-editor .cgmr.codicon-debug-breakpoint").waitFor();
});

test("a click in the page stops there, and the client sees the frames and the variables", async () => {
  page = await joinPage();
  await page.locator("#name").fill("Ada");
  click();
  await window.paused();
  const paused = (await state()).find((each) => each.state === "paused");
  expect(paused).toMatchObject({ reason: "breakpoint", configuration: "Shop", thread: expect.any(Number) });
  expect(paused?.frames?.[0]).toMatchObject({ name: "button#buy.buy", path: `${shop.folder}/app.js`, line: 5 });
  const local = paused?.scopes?.find(({ name }) => name.startsWith("Local"));
  expect(local?.variables).toMatchObject([{ name: "this", value: expect.stringMatching(/^<button id="buy"/) }]);
  expect(paused?.scopes?.find(({ name }) => name.startsWith("Global"))?.variables).toEqual([]);
  const frame = paused?.frames?.[0]?.id;
  expect(await listener.call("debug.evaluate", { expression: "name.value + '!'", frame })).toEqual({
    result: "'Ada!'",
    type: "string",
  });
  await expect(listener.call("debug.evaluate", { expression: "nobody.knows" })).rejects.toThrow(
    "nobody is not defined",
  );
  await window.screenshot("debugger-paused");
});

test("the client steps over, and the user's editor follows", async () => {
  expect(await step("over")).toMatchObject({
    state: "paused",
    reason: "step",
    frame: { name: "button#buy.buy", line: 6 },
  });
  await window.page.locator(".monaco-editor .debug-top-stack-frame-line").waitFor();
  expect(await listener.call("debug.evaluate", { expression: "thanks" })).toMatchObject({ result: "'Thank you, Ada'" });
  const local = (await state()).find((each) => each.state === "paused")?.scopes?.[0];
  expect(local?.variables).toContainEqual({ name: "thanks", value: "'Thank you, Ada'", type: "string" });
});

test("it goes on, and the page with it", async () => {
  expect(await step("continue")).toMatchObject({ state: "running" });
  await window.running();
  await expect.poll(() => page.locator("#answer").textContent()).toBe("Thank you, Ada");
  await expect(step("over")).rejects.toThrow("no debug session is paused");
  expect(await listener.call("debug.evaluate", { expression: "document.title", session })).toMatchObject({
    result: "'Shop'",
  });
});

test("what the user does is seen too: a breakpoint of theirs, and their going on", async () => {
  await window.toggleBreakpoint(7);
  await expect
    .poll(async () => (await listener.call("debug.breakpoints", { action: "list" })).breakpoints)
    .toHaveLength(2);
  await listener.call("debug.breakpoints", { action: "remove", path: "app.js", line: 5 });
  click();
  await window.paused();
  expect((await state()).find((each) => each.state === "paused")?.frames?.[0]).toMatchObject({ line: 7 });
  await window.press("F5");
  await window.running();
  expect((await state()).every((each) => each.state === "running")).toBe(true);
  expect(await listener.call("debug.breakpoints", { action: "remove", path: "app.js" })).toEqual({ breakpoints: [] });
  await expect(listener.call("debug.breakpoints", { action: "remove", path: "app.js" })).rejects.toThrow(
    "has no breakpoint",
  );
});

test("it shows the user a place in a file", async () => {
  expect(await listener.call("editor.reveal", { path: "index.html", line: 11 })).toEqual({});
  await window.page.locator(".tab.active", { hasText: "index.html" }).waitFor();
  await window.page.locator(".statusbar-item", { hasText: "Ln 11, Col 1" }).waitFor();
  await expect(listener.call("editor.reveal", { path: "nowhere.html" })).rejects.toThrow(
    "bad_payload: /payload/arg/path",
  );
});

test("it stops what it started, and only the same client does", async () => {
  await browser?.close();
  const other = { ...client, id: "agent-2" };
  await expect(listener.call("debug.stop", { client: other, session })).rejects.toThrow("refused: ");
  expect(await listener.call("debug.stop", { client, session })).toEqual({});
  expect(await state()).toEqual([]);
  await window.page.locator(".debug-toolbar").waitFor({ state: "hidden" });
});

test("the user's own session is not a client's to stop", async () => {
  await window.press("F5");
  await listener.debugging((each) => each.browser !== null);
  const [root] = await state();
  await expect(listener.call("debug.stop", { client, session: root?.id })).rejects.toThrow(
    "refused: Shop was not started",
  );
  await window.stop();
  await listener.until((each) => each.debugSessions.length === 0);
});

test("a URL is debugged as the only browser configuration would be", async () => {
  const started = await listener.call("debug.start", { client, url: `${shop.url}?bare`, folder: shop.folder });
  const opened = await joinPage();
  expect(opened.url()).toBe(`${shop.url}?bare`);
  await browser?.close();
  await listener.call("debug.stop", { client, session: started.session });
});
