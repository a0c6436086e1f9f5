// What the coordinator writes for Playwright, Playwright reads, and the other way round.
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { type Browser, chromium, type Locator, type Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Agent } from "./support/agent";
import { thisRun } from "./support/run";

const run = thisRun();
let folder: string;
let server: Server;
let site: string;
let agent: Agent;
let browser: Browser;

beforeAll(async () => {
  folder = await mkdtemp(join(run.root, "interchange-"));
  server = createServer((request, response) => {
    if (request.url === "/login")
      response.setHeader("Set-Cookie", [
        "session=s3cret; HttpOnly; SameSite=Strict; Max-Age=3600; Path=/",
        "theme=dark; Path=/shop",
      ]);
    response.setHeader("Content-Type", "text/html");
    response.end(`<!doctype html><title>${request.headers.cookie ?? "nobody"}</title>
      <h1>Shop</h1><button>Save</button><button>Save all</button><label>Name <input></label>
      <my-box></my-box><iframe name=inner srcdoc="<button>Inside</button>"></iframe>
      <script>
        const root = document.querySelector("my-box").attachShadow({ mode: "open" });
        root.innerHTML = "<button>Shadow</button>";
      </script>`);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  site = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  agent = await Agent.start(run, folder, "--caps", "storage,testing");
  browser = await chromium.launch({
    executablePath: run.browser,
    env: run.env,
    args: process.getuid?.() === 0 ? ["--no-sandbox"] : [],
  });
});

afterAll(async () => {
  await browser?.close();
  await agent?.close();
  server?.closeAllConnections();
  server?.close();
  await rm(folder, { recursive: true, force: true });
});

test("Playwright takes the agent's storage state", async () => {
  await agent.use("browser_navigate", { url: `${site}/login` });
  await agent.use("browser_localstorage_set", { key: "cart", value: "tea" });
  await agent.use("browser_storage_state", { filename: "state.json" });

  const context = await browser.newContext({ storageState: join(folder, ".browser-coordinator", "state.json") });
  const page = await context.newPage();
  await page.goto(site);
  expect(await page.title()).toBe("session=s3cret");
  expect(await page.evaluate('localStorage.getItem("cart")')).toBe("tea");
  expect(await context.cookies(`${site}/shop`)).toMatchObject([
    { name: "theme", path: "/shop", expires: -1, sameSite: "Lax" },
    { name: "session", httpOnly: true, secure: false, sameSite: "Strict" },
  ]);
  await context.close();
});

test("the agent takes Playwright's storage state", async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(`${site}/login`);
  await page.evaluate('localStorage.setItem("cart", "coffee")');
  await context.addCookies([{ name: "session", value: "of Playwright", url: site, sameSite: "Lax" }]);
  await context.storageState({ path: join(folder, "theirs.json") });
  await context.close();

  await agent.use("browser_set_storage_state", { filename: "theirs.json" });
  expect(await agent.use("browser_navigate", { url: site })).toContain("session=of Playwright");
  expect(await agent.use("browser_localstorage_list")).toBe("cart=coffee");
});

test("Playwright finds by the agent's locators what the agent meant", async () => {
  await agent.use("browser_navigate", { url: site });
  const page = await browser.newPage();
  await page.goto(site);
  for (const [role, name] of [
    ["button", "Save"],
    ["button", "Save all"],
    ["button", "Shadow"],
    ["button", "Inside"],
    ["textbox", "Name"],
    ["heading", "Shop"],
  ]) {
    const seen = await agent.use("browser_snapshot");
    const target = new RegExp(`${role} "${name}".*?\\[ref=(e\\d+)\\]`).exec(seen)?.[1] ?? "h1";
    const expression = await agent.use("browser_generate_locator", { target });
    const locator: Locator = new Function("page", `return page.${expression}`)(page as Page);
    expect(await locator.count(), expression).toBe(1);
    expect(await locator.evaluate((element) => element.textContent || element.localName), expression).toBe(
      role === "textbox" ? "input" : name,
    );
  }
  await page.close();
});
