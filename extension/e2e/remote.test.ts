// A remote window: VS Code, the extension and the coordinator run on one machine, the browser on the user's. Two
// network namespaces with different files stand for the machines.
import { once } from "node:events";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { hostname } from "node:os";
import { join } from "node:path";
import { type BrowserContext, chromium, type Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { Agent } from "./support/agent";
import { startServer } from "./support/codeserver";
import { coordinator, endpoint } from "./support/coordinator";
import { untilPresent } from "./support/files";
import { makeRemote, OtherMachine, reasonAgainst } from "./support/othermachine";
import { freePort } from "./support/port";
import { thisRun } from "./support/run";
import { browserArgs, openShop, type Shop } from "./support/shop";
import { addressOf, Listener } from "./support/socket";
import { openScreen, Workbench } from "./support/workbench";

const reason = reasonAgainst();
if (reason) console.warn(`remote.test.ts is skipped: ${reason}`);

describe.skipIf(reason)("a browser on the user's machine", () => {
  const run = thisRun();
  let machine: OtherMachine;
  let server: Awaited<ReturnType<typeof startServer>>;
  let screen: BrowserContext;
  let shop: Shop;
  let window: Workbench;
  let listener: Listener;
  let agent: Agent;
  let debuggingPort: number;

  beforeAll(async () => {
    debuggingPort = await freePort();
    const root = mkdtempSync(join(run.root, "remote-"));
    makeRemote(run, root);
    shop = await openShop(run, "faraway");
    machine = await OtherMachine.start(run, root, shop.folder);
    // On its own machine, the browser has a port beside the pipe.
    const withPort = join(root, "browser");
    writeFileSync(withPort, `#!/bin/sh\nexec ${run.browser} --remote-debugging-port=${debuggingPort} "$@"\n`, {
      mode: 0o700,
    });
    const configuration = {
      type: "chrome",
      request: "launch",
      name: "Shop",
      url: shop.url,
      webRoot: "${workspaceFolder}",
      runtimeExecutable: withPort,
      runtimeArgs: browserArgs,
    };
    const launch = { version: "0.2.0", configurations: [configuration] };
    writeFileSync(join(shop.folder, ".vscode", "launch.json"), JSON.stringify(launch));
    const env = { ...run.env, OTHER_MACHINE: root, OTHER_MACHINE_PORT: new URL(shop.url).port };
    server = await startServer({ ...run, root, env }, join(root, "user"), "--disable-workspace-trust");
    screen = await openScreen(run);
    window = await Workbench.open({ ...run, url: server.url }, screen, `folder=${shop.folder}`);
    const address = await addressOf(run, shop.folder);
    await untilPresent(address);
    listener = await Listener.dial(address);
    agent = await Agent.start(run, shop.folder);
  });

  afterAll(async () => {
    listener?.close();
    await agent?.close();
    await window?.close();
    await screen?.close();
    await shop?.close();
    await machine?.close();
    if (!server) return;
    const ended = once(server.child, "exit");
    server.child.kill();
    await ended;
  });

  afterEach(async ({ task }) => {
    if (task.result?.state === "fail") await window?.screenshot(`failed ${task.name}`);
  });

  test("is reported by its pages, since no port of it can be reached from here", async () => {
    await window.openFile("app.js");
    await window.press("F5");
    const state = await listener.debugging(({ pages }) => pages.length === 1);
    expect(state.browser).toBeNull();
    expect(state.debugSessions[0]).toMatchObject({ name: "Shop", remote: true });
    const version = `http://127.0.0.1:${debuggingPort}/json/version`;
    const script = `fetch("${version}").then((r) => r.json()).then((v) => console.log(v.Browser))`;
    expect(machine.run(process.execPath, "-e", script)).toMatch(/^(Headless)?Chrome\//);
    const connected = once(connect(debuggingPort, "127.0.0.1"), "connect");
    await expect(connected).rejects.toMatchObject({ code: "ECONNREFUSED" });
  });

  test("is driven by an agent through the debugger", async () => {
    expect(await agent.use("browser_snapshot")).toContain("Shop");
    await agent.use("browser_tabs", { action: "new", url: `${shop.url}?second` });
    expect(await agent.use("browser_evaluate", { function: "() => location.search" })).toContain("?second");
    await agent.use("browser_tabs", { action: "close" });
    await listener.until(({ pages }) => pages.length === 1);
  });

  test("gets the contents of a file that is not there", async () => {
    await agent.use("browser_evaluate", { function: "() => document.body.prepend(document.createElement('input'))" });
    await agent.use("browser_evaluate", { function: "() => { document.querySelector('input').type = 'file' }" });
    await agent.use("browser_file_upload", { target: "input[type=file]", paths: ["app.js"] });
    const read = "async () => (await document.querySelector('input').files[0].text()).length";
    const { length } = readFileSync(join(shop.folder, "app.js"), "utf8");
    expect(length).toBeGreaterThan(0);
    expect(await agent.use("browser_evaluate", { function: read })).toContain(`${length}`);
  });

  test("is driven by Playwright through the stable address", async () => {
    const browser = await chromium.connectOverCDP(await endpoint(run, shop.folder), { timeout: 60_000 });
    const [page] = browser.contexts().flatMap((context) => context.pages()) as [Page];
    await page.locator("#name").fill("Ada");
    await page.locator("#buy").click();
    expect(await page.locator("#answer").textContent()).toBe("Thank you, Ada");
    expect((await page.screenshot()).length).toBeGreaterThan(1000);
    await browser.close();
  });

  test("is explained by the doctor: which side is which, and what cannot be done", async () => {
    const report = await coordinator(run, "doctor", "--workspace", shop.folder);
    expect(report).toContain(`${shop.folder} is open`);
    expect(report).toContain(
      `The extension and the coordinator run here, on ${hostname()}; the debug browser runs on your`,
    );
    expect(report).toContain("so it has no port that can be reached from here");
    expect(report).toContain("clients cannot make browser contexts, set breakpoints or step");
    const browser = await chromium.connectOverCDP(await endpoint(run, shop.folder), { timeout: 60_000 });
    await expect(browser.newContext()).rejects.toThrow("the window's debugger shares its pages only");
    await browser.close();
  });
});
