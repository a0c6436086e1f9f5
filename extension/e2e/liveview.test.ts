// The live view in a real VS Code: the user watches the page of a headless debug browser.
// The tests form one story: they run in their order.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Browser, type BrowserContext, chromium, type FrameLocator, type Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Cdp } from "../src/core/browser/cdp";
import { findEndpoint } from "../src/core/browser/discovery";
import { Relay } from "../test/support/relay";
import { Agent } from "./support/agent";
import { untilColoured } from "./support/colour";
import { untilPresent } from "./support/files";
import { thisRun } from "./support/run";
import { setScene } from "./support/scene";
import { browserArgs, openShop, type Shop } from "./support/shop";
import { addressOf, Listener } from "./support/socket";
import { Workbench } from "./support/workbench";

// A button on the left, a text on the right.
const order = `<!doctype html><title>order</title>
<style>* { margin:0; border:0; box-sizing:border-box } 
  button, textarea { position:absolute; top:0; width:50vw; height:100vh }
  button { left:0; background:rgb(200,30,60) } textarea { right:0 }</style>
<button id=order class=large>Order</button>
<textarea id=note aria-label=Note></textarea>
<script>
order.onclick = () => { document.body.dataset.orders = 1 + Number(document.body.dataset.orders ?? 0) }
</script>`;

const run = thisRun();
const scene = setScene("live", ({ folder }) => {
  for (const [name, colours] of Object.entries({
    warm: "rgb(200,30,60) 50%, rgb(250,180,20) 50%",
    cold: "rgb(20,90,200) 50%, rgb(20,160,120) 50%",
  })) {
    const style = `margin:0;height:100vh;background:linear-gradient(90deg, ${colours})`;
    writeFileSync(join(folder, `${name}.html`), `<!doctype html><title>${name}</title><body style="${style}">`);
  }
  writeFileSync(join(folder, "order.html"), order);
});
const command = "Browser Coordinator: Open Live View";
let screen: BrowserContext;
let shop: Shop;
let window: Workbench;
let listener: Listener;
let browser: Browser | undefined;

function panel(): FrameLocator {
  return window.webview("Live View");
}

/** Waits until the picture in the panel has nearly that colour there. */
function untilColour(x: number, y: number, wanted: number[]): Promise<void> {
  return untilColoured(window.page, panel().locator("#canvas"), x, y, wanted);
}

/** Clicks in the page of a page-level endpoint. */
async function click(url: string, x: number, y: number): Promise<void> {
  const cdp = await Cdp.connect(url);
  for (const type of ["mousePressed", "mouseReleased"]) {
    await cdp.call("Input.dispatchMouseEvent", { type, x, y, button: "left", clickCount: 1 });
  }
  cdp.close();
}

async function joinPage(): Promise<Page> {
  const { browser: endpoint } = await listener.debugging((each) => each.browser !== null);
  browser = await chromium.connectOverCDP(endpoint?.url ?? "", { timeout: 60_000 });
  const found = browser.contexts()[0]?.pages()[0];
  if (!found) throw new Error("the browser has no page");
  return found;
}

beforeAll(async () => {
  ({ screen, shop, window } = scene);
  listener = await Listener.dial(scene.address);
});

afterAll(async () => {
  await browser?.close();
  listener?.close();
});

test("it opens beside the code, which stays in sight at its height", async () => {
  await window.openFile("app.js");
  const code = window.page.locator(".editor-group-container .monaco-editor").first();
  const before = (await code.boundingBox())?.height;
  await window.command(command);
  await panel().getByText("No browser is being debugged in this window.").waitFor();
  expect((await code.boundingBox())?.height).toBe(before);
  await window.screenshot("live-view-beside");
  await window.command("View: Close All Editors");
  await window.page.locator(".tab").waitFor({ state: "detached" });
});

test("without a browser it shows what to do, and its button does it", async () => {
  await window.command(command);
  await panel().getByText("No browser is being debugged in this window.").waitFor();
  await window.screenshot("live-view-empty");
  const why = panel().locator("#why");
  await why.evaluate(`(() => {
    const why = document.getElementById("why");
    globalThis.texts = [];
    new MutationObserver(() => texts.push(why.textContent)).observe(why, { childList: true });
  })()`);
  await panel().getByRole("button", { name: "Start Debugging" }).click();
  await listener.debugging((state) => state.browser !== null);
  await expect.poll(() => panel().getByLabel("Address").inputValue()).toContain(shop.url);
  const starting = "The debug browser of this window is starting.";
  expect(new Set(await why.evaluate<string[], unknown>("texts"))).toEqual(new Set([starting])); // and no error
});

test("it shows the page as it is, and follows its navigation", async () => {
  const page = await joinPage();
  await page.goto(`${shop.url}warm.html`);
  await expect.poll(() => panel().getByLabel("Address").inputValue()).toBe(`${shop.url}warm.html`);
  await untilColour(0.25, 0.5, [200, 30, 60]);
  await untilColour(0.75, 0.5, [250, 180, 20]);
  await window.screenshot("live-view");
  await page.goto(`${shop.url}cold.html`);
  await untilColour(0.25, 0.5, [20, 90, 200]);
  await untilColour(0.75, 0.5, [20, 160, 120]);
});

test("the user opens an address, and goes back and forward", async () => {
  const address = panel().getByLabel("Address");
  const go = (name: string) => panel().getByRole("button", { name, exact: true });
  await address.fill(`${new URL(shop.url).host}/warm.html`);
  await address.press("Enter");
  await untilColour(0.25, 0.5, [200, 30, 60]);
  await expect.poll(() => address.inputValue()).toBe(`${shop.url}warm.html`);
  await window.screenshot("live-view-address");
  await go("Back").press("Enter");
  await untilColour(0.25, 0.5, [20, 90, 200]);
  await expect.poll(() => address.inputValue()).toBe(`${shop.url}cold.html`);
  await go("Forward").press("Enter");
  await untilColour(0.25, 0.5, [200, 30, 60]);
  await expect.poll(() => go("Forward").getAttribute("aria-disabled")).toBe("true");
  await go("Back").click();
  await untilColour(0.25, 0.5, [20, 90, 200]);
  await address.fill("javascript:document.body.remove()");
  await address.press("Enter");
  const message = () =>
    address.evaluate((field) => (field as unknown as { validationMessage: string }).validationMessage);
  await expect.poll(message).toContain("Type the address of a page");
  await address.press("Escape");
  expect(await address.inputValue()).toBe(`${shop.url}cold.html`);
});

test("a click of the agent is marked where it was", async () => {
  const page = browser?.contexts()[0]?.pages()[0] as Page;
  const [width, height] = await page.evaluate<[number, number]>("[innerWidth, innerHeight]");
  const ring = panel().locator(".click");
  await page.mouse.click(width * 0.25, height * 0.5);
  await ring.waitFor();
  const style = await ring.evaluate(
    (element) => (element as unknown as { style: { left: string; top: string } }).style,
  );
  expect([Number.parseFloat(style.left), Number.parseFloat(style.top)]).toEqual([
    expect.closeTo(25, 0),
    expect.closeTo(50, 0),
  ]);
  await window.screenshot("live-view-click", "allow");
  // The windows of this run are set to reduce motion.
  expect(await ring.evaluate("getComputedStyle(document.querySelector('.click')).transform")).toBe("none");
  await ring.waitFor({ state: "detached" });
});

/** Clicks in the picture, as the user does; x and y are parts of it. */
async function clickPicture(x: number, y: number): Promise<void> {
  const canvas = panel().locator("#canvas");
  const box = await canvas.boundingBox();
  if (!box) throw new Error("there is no picture");
  await canvas.click({ position: { x: x * box.width, y: y * box.height } });
}

test("only with input turned on do mouse and keyboard reach the page", async () => {
  const page = browser?.contexts()[0]?.pages()[0] as Page;
  await page.goto(`${shop.url}order.html`);
  await untilColour(0.25, 0.25, [200, 30, 60]);
  const orders = () => page.evaluate("document.body.dataset.orders");
  const note = () => page.evaluate("note.value");
  const input = panel().getByRole("button", { name: "Send Mouse and Keyboard to the Page" });
  await clickPicture(0.25, 0.5);
  const place = await panel().locator("#canvas").boundingBox();
  await input.click();
  await panel().getByRole("status").getByText("Your mouse and keyboard go to the page.").waitFor();
  expect(await panel().locator("#canvas").boundingBox()).toEqual(place);
  await clickPicture(0.25, 0.5);
  await expect.poll(orders).toBe("1");
  await clickPicture(0.75, 0.5);
  await window.page.keyboard.type("Tea 10");
  await window.page.keyboard.press("Backspace");
  await expect.poll(note).toBe("Tea 1");
  await window.screenshot("live-view-input");
  await window.page.keyboard.press("Shift+Escape");
  expect(await input.getAttribute("aria-pressed")).toBe("false");
  await window.page.keyboard.type("x");
  await input.press("Enter"); // by the keyboard, which then goes to the page
  await window.page.keyboard.type("y");
  await expect.poll(note).toBe("Tea 1y");
  const loaded = page.waitForEvent("load");
  await panel().getByRole("button", { name: "Reload the Page" }).click();
  await loaded;
  await input.click();
  expect(await orders()).toBeUndefined();
});

test("the picture is as large as the user wants, with sharp pixels", async () => {
  const page = browser?.contexts()[0]?.pages()[0] as Page;
  const wide = Number(await page.evaluate("innerWidth"));
  const canvas = panel().locator("#canvas");
  const width = async () => (await canvas.boundingBox())?.width ?? 0;
  const fits = await width();
  expect(fits).toBeLessThanOrEqual(wide);
  await window.page.setViewportSize({ width: 700, height: 500 });
  await expect.poll(width).toBeLessThan(fits);
  await window.screenshot("live-view-narrow");
  await window.page.setViewportSize({ width: 1280, height: 800 });
  await panel().getByLabel("Zoom", { exact: true }).selectOption("100 %");
  await expect.poll(width).toBe(wide);
  await expect.poll(() => canvas.evaluate("document.getElementById('canvas').width")).toBe(wide);
  await panel().getByRole("button", { name: "Zoom In" }).click();
  await expect.poll(width).toBe(1.5 * wide);
  expect(await canvas.evaluate("getComputedStyle(document.getElementById('canvas')).imageRendering")).toBe("pixelated");
  await window.screenshot("live-view-zoomed");
  await panel().getByRole("button", { name: "Zoom Out" }).click();
  await expect.poll(width).toBe(wide);
  await panel().getByLabel("Zoom", { exact: true }).selectOption("Fit");
  await expect.poll(width).toBe(fits);
});

test("the user picks an element by mouse or keyboard, and has it on the clipboard", async () => {
  await screen.grantPermissions(["clipboard-read", "clipboard-write"]);
  const page = browser?.contexts()[0]?.pages()[0] as Page;
  const status = panel().getByRole("status");
  const pick = panel().getByRole("button", { name: "Pick an Element" });
  await pick.click();
  await panel()
    .locator("#canvas")
    .hover({ position: { x: 20, y: 20 } });
  await status.getByText('button "Order" button#order.large').waitFor();
  await window.screenshot("live-view-pick");
  await window.page.keyboard.press("Escape");
  expect(await pick.getAttribute("aria-pressed")).toBe("false");
  await pick.press("Enter");
  for (let count = 0; count < 4; count += 1) await window.page.keyboard.press("ArrowRight");
  await window.page.keyboard.press("Enter");
  await status.getByText('textbox "Note" textarea#note').waitFor();
  expect(await pick.getAttribute("aria-pressed")).toBe("false");
  await window.page.locator(".statusbar-item", { hasText: "Copied" }).waitFor();
  expect(await window.pasted()).toBe('textbox "Note" textarea#note');
  expect(await page.evaluate("document.body.dataset.orders")).toBeUndefined();
  await window.tab("Live View").click();
  await panel().getByRole("button", { name: "Discard" }).click();
  await page.goto(`${shop.url}cold.html`);
  await untilColour(0.25, 0.5, [20, 90, 200]);
});

/** Runs work with an agent, while the picture shows the page with the button. */
async function withAgentOnOrder(work: (agent: Agent, page: Page) => Promise<void>): Promise<void> {
  const agent = await Agent.start(run, shop.folder);
  try {
    await agent.use("browser_tabs", { action: "list" });
    const page = browser?.contexts()[0]?.pages()[0] as Page;
    await page.goto(`${shop.url}order.html`);
    await untilColour(0.25, 0.25, [200, 30, 60]);
    await work(agent, page);
    await page.goto(`${shop.url}cold.html`);
    await untilColour(0.25, 0.5, [20, 90, 200]);
  } finally {
    await agent.close();
  }
}

test("what the user points at and writes is in the agent's next answer", () =>
  withAgentOnOrder(async (agent) => {
    for (const x of [0.25, 0.75]) {
      await panel().getByRole("button", { name: "Pick an Element" }).click();
      await clickPicture(x, 0.5);
      await panel()
        .locator("#picked li")
        .nth(x < 0.5 ? 0 : 1)
        .waitFor();
    }
    await panel().getByLabel("What the agent should know or do").fill("Make it blue.");
    await window.screenshot("live-view-note");
    expect(await panel().getByLabel("Agent", { exact: true }).locator("option").allInnerTexts()).toEqual([
      "e2e-agent 1.0.0",
    ]);
    await panel().getByRole("button", { name: "Send", exact: true }).click();
    await window.page.locator(".statusbar-item", { hasText: "the agent gets it with its next answer" }).waitFor();
    await panel().locator("#compose").waitFor({ state: "hidden" });
    const list = () => agent.use("browser_tabs", { action: "list" });
    const place = `, in the page “order” at “${shop.url}order.html”`;
    const note = await untilNoted(agent);
    expect(note.text).toContain(`1. “button 'Order' button#order.large”${place} (picture 1)\n- button "Order" [ref=`);
    expect(note.text).toContain(`2. “textbox 'Note' textarea#note”${place} (picture 2)\n- textbox "Note" [ref=`);
    expect(note.text).toContain("The user's own words:\n  Make it blue.\n");
    expect(note.pictures).toHaveLength(2);
    expect(await list()).not.toContain("The user points");
  }));

/** What the agent gets with its next answer that has a note. */
async function untilNoted(agent: Agent): Promise<{ text: string; pictures: string[] }> {
  let answer: { text: string; pictures: string[] } | undefined;
  await expect
    .poll(async () => {
      answer = await agent.see("browser_tabs", { action: "list" });
      return answer.text;
    })
    .toContain("The user points you to:");
  return answer as NonNullable<typeof answer>;
}

test("what the user draws on the picture and writes about it is in the agent's next answer", () =>
  withAgentOnOrder(async (agent, page) => {
    const draw = panel().getByRole("button", { name: "Draw for an Agent" });
    await draw.click();
    const box = await panel().locator("#canvas").boundingBox();
    if (!box) throw new Error("there is no picture");
    const at = (x: number, y: number) => [box.x + x * box.width, box.y + y * box.height] as const;
    const { mouse, keyboard } = window.page;
    await mouse.move(...at(0.1, 0.2));
    await mouse.down();
    await mouse.move(...at(0.2, 0.3));
    await mouse.move(...at(0.4, 0.6));
    await mouse.up();
    await panel().getByLabel("Comment 1").fill("Rounder.");
    await panel().locator("#canvas").focus();
    await keyboard.press("Space");
    for (let count = 0; count < 4; count += 1) await keyboard.press("ArrowRight");
    await keyboard.press("ArrowDown");
    await keyboard.press("Enter");
    await panel().getByLabel("Comment 2").waitFor();
    await expect.poll(() => panel().locator(".place").allInnerTexts()).toEqual(["1", "2"]);
    await window.screenshot("live-view-draw");
    await keyboard.press("Escape");
    expect(await draw.getAttribute("aria-pressed")).toBe("false");
    await page.goto(`${shop.url}cold.html`);
    await panel().locator(".place").first().waitFor({ state: "detached" });
    await panel().getByRole("button", { name: "Send", exact: true }).click();
    const { text, pictures } = await untilNoted(agent);
    const place = `, in the page “order” at “${shop.url}order.html”`;
    expect(text).toContain(`1. “button 'Order' button#order.large”${place} (picture 1)`);
    expect(text).toContain("The user's own words about 1:\n  Rounder.\n");
    expect(text).toContain(`2. “textbox 'Note' textarea#note”${place} (picture 2)`);
    expect(text).toContain("the page shows another document now");
    const [red, white] = await Promise.all(pictures.map((picture) => colours(page, picture)));
    expect(red).toMatch(/^200,30,60( |$)/);
    expect(white).toBe("255,255,255");
  }));

/** The colours in a picture, the most frequent first. */
function colours(page: Page, picture: string): Promise<string> {
  return page.evaluate(`(async () => {
    const bitmap = await createImageBitmap(await (await fetch("data:image/png;base64,${picture}")).blob());
    const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext("2d");
    context.drawImage(bitmap, 0, 0);
    const { data } = context.getImageData(0, 0, bitmap.width, bitmap.height);
    const counts = {};
    for (let at = 0; at < data.length; at += 4) {
      const colour = data.slice(at, at + 3).join();
      counts[colour] = (counts[colour] ?? 0) + 1;
    }
    return Object.entries(counts).sort(([, a], [, b]) => b - a).map(([colour]) => colour).join(" ");
  })()`);
}

test("of several pages the user chooses one; those of one title are told apart", async () => {
  const context = browser?.contexts()[0] as BrowserContext;
  const others: Page[] = [];
  for (const name of ["warm.html", "warm.html?sale", "warm.html?sale"]) {
    const other = await context.newPage();
    await other.goto(shop.url + name);
    others.push(other);
  }
  await untilColour(0.25, 0.5, [200, 30, 60]); // the newest, as long as nobody chose
  const { host } = new URL(shop.url);
  const labels = ["", "?sale", "?sale"].map((query) => `warm · ${host}/warm.html${query}`);
  const expected = ["cold", labels[0], `3. ${labels[1]}`, `4. ${labels[2]}`];
  await expect.poll(() => panel().locator("#pages option").allInnerTexts()).toEqual(expected);
  await window.screenshot("live-view-pages");
  await panel().locator("#pages").selectOption({ label: "cold" });
  await untilColour(0.25, 0.5, [20, 90, 200]);
  for (const other of others) await other.close();
});

test("it follows the agent from tab to tab, and waits while the user draws", async () => {
  const follow = panel().getByRole("button", { name: "Follow the Agent's Tab" });
  expect(await follow.getAttribute("aria-pressed")).toBe("false"); // since the user has chosen a page
  const agent = await Agent.start(run, shop.folder);
  try {
    await follow.press("Enter");
    await agent.use("browser_tabs", { action: "new", url: `${shop.url}warm.html` });
    await untilColour(0.25, 0.5, [200, 30, 60]);
    await window.screenshot("live-view-following");
    const draw = panel().getByRole("button", { name: "Draw for an Agent" });
    await draw.click();
    await expect.poll(() => draw.getAttribute("aria-pressed")).toBe("true"); // the view stays from now on
    await agent.use("browser_tabs", { action: "select", index: 0 });
    const shown = () => panel().locator("#pages").inputValue();
    const worksIn = async () => ((await listener.call("client.list")).clients as { page?: string }[])[0]?.page;
    await expect.poll(worksIn).not.toBe(await shown());
    expect(await draw.getAttribute("aria-pressed")).toBe("true");
    await draw.click();
    await expect.poll(shown).toBe(await worksIn());
    await untilColour(0.25, 0.5, [20, 90, 200]);
    expect(await follow.getAttribute("aria-pressed")).toBe("true");
    await panel().locator("#pages").selectOption({ label: "cold" });
    await expect.poll(() => follow.getAttribute("aria-pressed")).toBe("false");
  } finally {
    await agent.close();
  }
});

test("what an agent asks to act on is framed until the user answers", async () => {
  const page = browser?.contexts()[0]?.pages()[0] as Page;
  await page.goto(`${shop.url}order.html`);
  await untilColour(0.25, 0.25, [200, 30, 60]);
  const cdp = await page.context().newCDPSession(page);
  const { frame } = (await cdp.send("Page.getFrameTree")).frameTree;
  const { objectId = "" } = (await cdp.send("Runtime.evaluate", { expression: "order" })).result;
  const { backendNodeId: id } = (await cdp.send("DOM.describeNode", { objectId })).node;
  await listener.call("access.change", { mode: "ask" });
  const asked = listener.call("permission.ask", {
    client: { id: "asks", name: "Claude Code", version: "2.1.0" },
    act: "browser_click",
    detail: 'Click button "Order"',
    nodes: [{ target: frame.id, document: frame.loaderId, id }],
  });
  const target = panel().locator(".target");
  await target.waitFor();
  const box = await panel().locator("#canvas").boundingBox();
  const half = async () => (await target.boundingBox())?.width;
  await expect.poll(half).toBeCloseTo((box?.width ?? 0) / 2, 0);
  await window.screenshot("live-view-target", "allow");
  await listener.call("access.change", { mode: "full" });
  expect(await asked).toMatchObject({ decision: "allow" });
  await target.waitFor({ state: "detached" });
  await page.goto(`${shop.url}cold.html`);
  await untilColour(0.25, 0.5, [20, 90, 200]);
});

test("a dialog of the page is shown with its text, and answered by the user", async () => {
  const page = browser?.contexts()[0]?.pages()[0] as Page;
  const leave = () => {}; // else Playwright would answer
  page.on("dialog", leave);
  const dialog = panel().getByRole("alertdialog");
  const asked = page.evaluate("prompt('How many?', '2')");
  await dialog.getByText("How many?").waitFor();
  await window.screenshot("live-view-dialog");
  await dialog.getByRole("textbox").fill("3");
  await dialog.getByRole("button", { name: "OK" }).click();
  expect(await asked).toBe("3");
  await dialog.waitFor({ state: "hidden" });
  const sure = page.evaluate("confirm('Sure?')");
  await dialog.getByText("Sure?").waitFor();
  expect(await dialog.getByRole("textbox").count()).toBe(0);
  await dialog.getByRole("button", { name: "Cancel" }).click();
  expect(await sure).toBe(false);
  page.off("dialog", leave);
});

test("out of sight it rests, and comes back with the page as it is then", async () => {
  await window.openFile("app.js"); // in the panel's own group, above it
  await window.page.locator("iframe.webview").waitFor({ state: "hidden" });
  const page = browser?.contexts()[0]?.pages()[0] as Page;
  await page.goto(`${shop.url}warm.html`);
  await window.tab("Live View").click();
  await untilColour(0.75, 0.5, [250, 180, 20]);
});

test("a page that cannot be shown is reported and shown on demand; a hidden view has no connection", async () => {
  await browser?.close();
  browser = undefined;
  await window.stop();
  const profile = join(run.root, "live-profile");
  mkdirSync(profile);
  const args = [...browserArgs, `--user-data-dir=${profile}`, "--remote-debugging-port=0", `${shop.url}warm.html`];
  const attached = spawn(run.browser, args, { env: run.env, stdio: "ignore" });
  let relay: Relay | undefined;
  try {
    const { url } = await findEndpoint({ via: "configured", userDataDir: profile }, AbortSignal.timeout(15_000));
    relay = await Relay.open(Number(new URL(url).port));
    const launch = join(shop.folder, ".vscode", "launch.json");
    const { version, configurations } = JSON.parse(readFileSync(launch, "utf8"));
    const attach = {
      type: "chrome",
      request: "attach",
      name: "Attach",
      port: relay.port,
      browserAttachLocation: "workspace",
      webRoot: "${workspaceFolder}",
    };
    writeFileSync(launch, JSON.stringify({ version, configurations: [...configurations, attach] }));
    await window.openFile("app.js"); // the panel is out of sight
    await window.debug("Attach");
    await listener.debugging((state) => state.browser !== null);
    await relay.until(2); // js-debug, and who waits for its end
    relay.takes = 1; // that which lists the pages
    await window.tab("Live View").click();
    await panel().getByText("The page cannot be shown: ").waitFor();
    await window.screenshot("live-view-failed");
    relay.takes = Number.POSITIVE_INFINITY;
    await panel().getByRole("button", { name: "Retry" }).click();
    await untilColour(0.25, 0.5, [200, 30, 60]);
    await panel().getByRole("button", { name: "Retry" }).waitFor({ state: "hidden" });
    expect(relay.connections).toBe(4);
    const hide = (hidden: boolean) =>
      panel()
        .locator("body")
        .evaluate((body, now) => {
          const { ownerDocument } = body as unknown as { ownerDocument: EventTarget };
          Object.defineProperty(ownerDocument, "hidden", { value: now, configurable: true });
          ownerDocument.dispatchEvent(new Event("visibilitychange"));
        }, hidden);
    await hide(true); // as in a minimised window, which the screen of this run cannot have
    await relay.until(2);
    await hide(false);
    await relay.until(4);
    await window.openFile("app.js");
    await relay.until(2);
    await window.stop();
  } finally {
    relay?.close();
    const gone = once(attached, "exit");
    attached.kill();
    await gone;
  }
});

test("it is back after a reload of the window, and empty when the browser ends", async () => {
  await window.tab("Live View").click();
  await panel().getByText("No browser is being debugged in this window.").waitFor();
  await window.reload();
  await panel().getByText("No browser is being debugged in this window.").waitFor();
});

test("a page that is reached through the debugger alone is shown as well, and its clicks", async () => {
  const settings = { "browserCoordinator.addDebuggingPort": false }; // as it was written once: "never"
  const plain = await openShop(run, "live-page", settings);
  const style = "margin:0;height:100vh;background:rgb(120,40,160)";
  const script = "addEventListener('pointerdown', () => { document.body.style.background = 'rgb(30,170,90)'; })";
  writeFileSync(
    join(plain.folder, "index.html"),
    `<!doctype html><title>Shared</title><body style="${style}"><script>${script}</script>`,
  );
  const address = await addressOf(run, plain.folder);
  const second = await Workbench.open(run, screen, `folder=${plain.folder}`);
  await untilPresent(address);
  const its = await Listener.dial(address);
  try {
    await second.press("F5");
    const { pages, browser } = await its.debugging((state) => state.pages.length === 1);
    expect(browser).toBeNull();
    await second.command(command);
    const canvas = second.webview("Live View").locator("#canvas");
    await untilColoured(second.page, canvas, 0.5, 0.5, [120, 40, 160]);
    for (let count = 0; count < 2; count += 1) {
      await second.openFile("app.js"); // in the panel's own group, above it
      await second.tab("Live View").click();
      await untilColoured(second.page, canvas, 0.5, 0.5, [120, 40, 160]);
    }
    const marks = second.webview("Live View").locator("#marks");
    await marks.evaluate((element) => {
      const marked = element as unknown as { append(ring: unknown): void; dataset: Record<string, string> };
      const append = marked.append.bind(element);
      marked.append = (ring) => {
        marked.dataset.count = `${Number(marked.dataset.count ?? 0) + 1}`;
        append(ring);
      };
    });
    await click(pages[0]?.url ?? "", 40, 40);
    await marks.locator(".click").first().waitFor();
    await untilColoured(second.page, canvas, 0.5, 0.5, [30, 170, 90]);
    expect(await marks.getAttribute("data-count")).toBe("1"); // however often it was looked at
    const agent = await Agent.start(run, plain.folder);
    const picked = agent.use("pick_element", { message: "What is this?" });
    picked.catch(() => {}); // awaited below
    await second.webview("Live View").getByText("asks you to click an element in the page: What is this?").waitFor();
    await canvas.click();
    expect(await picked).toContain("Selector: body");
    await agent.close();
    await second.stop();
    await second.webview("Live View").getByText("No browser is being debugged in this window.").waitFor();
  } finally {
    its.close();
    await second.close();
    await plain.close();
  }
});
