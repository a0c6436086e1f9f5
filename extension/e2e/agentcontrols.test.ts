// What the user sees of agents, and decides about them: in the side bar, the status bar and by the
// question of an agent. A small client stands in for the coordinator, so that each moment can be held.
import { chromium } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { State } from "../src/core/protocol/protocol.generated";
import { setScene } from "./support/scene";
import type { Shop } from "./support/shop";
import { SideBar } from "./support/sidebar";
import { agent, StandIn } from "./support/standin";
import type { Workbench } from "./support/workbench";

const scene = setScene("bakery");
let shop: Shop;
let address: string;
let window: Workbench;
let bar: SideBar;
let coordinator: StandIn;

const claude = agent("c1", "Claude Code");
const playwright = agent("p1", "Playwright", "cdp");

beforeAll(async () => {
  ({ address, shop, window } = scene);
  coordinator = await StandIn.dial(address);
  bar = await SideBar.open(window);
});

afterAll(async () => {
  coordinator?.close();
});

/** Has a browser debugged, if none is. */
async function debugging(): Promise<State> {
  if (!coordinator.state.browser) await window.press("F5");
  return coordinator.debugging((state) => state.browser !== null);
}

/** Has agents asked about, as the user chooses it. */
async function askingMode(): Promise<void> {
  const labels = { full: "Agents can do everything", ask: "Agents must ask first", view: "Agents can only view" };
  const { mode } = coordinator.state.access;
  if (mode !== "ask") await bar.menu(labels[mode], labels.ask);
  await coordinator.until((state) => state.access.mode === "ask");
}

test("without a browser and an agent the view shows what to do", async () => {
  await bar.pane("Browser").getByText("No browser is being debugged").waitFor();
  // What a newcomer sees is whole.
  const body = await bar.pane("Browser").locator(".pane-body").boundingBox();
  for (const button of await bar.pane("Browser").locator(".pane-body").getByRole("button").all()) {
    const box = await button.boundingBox();
    expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThanOrEqual((body?.y ?? 0) + (body?.height ?? 0));
  }
  await bar.pane("Browser").getByRole("button", { name: "Start Debugging" }).waitFor();
  await bar.row("Agents", "Agents can do everything").waitFor();
  await bar.row("Agents", /Endpoint\s*http:\/\/127\.0\.0\.1:[0-9]+ · starts with the first agent/).waitFor();
  await bar.row("Agents", "No agent is connected").waitFor();
  await bar.pane("Activity").getByText("What agents do").waitFor();
  expect(await window.status.getAttribute("aria-label")).toMatch(/start a browser debug session \(F5\)/);
  await window.screenshot("view-empty");
});

test("the browser and its pages are listed, and follow what happens in it", async () => {
  await window.page.evaluate(`(() => {
    const bar = document.querySelector(".part.sidebar");
    globalThis.shown = [];
    const options = { childList: true, characterData: true, subtree: true };
    new MutationObserver(() => shown.push(bar.textContent)).observe(bar, options);
  })()`);
  const { browser } = await debugging();
  await bar.row("Browser", /Chrom(e|ium) [0-9]+\s*Shop/).waitFor();
  const shown = await window.page.evaluate<string[]>("shown");
  expect(shown.some((text) => text.includes("No browser is being debugged"))).toBe(true); // it was read
  expect(shown.filter((text) => /cannot be reached/.test(text))).toEqual([]); // it was only starting
  await bar.row("Browser", /Shop\s*http:\/\/127.*bakery/).waitFor();
  await bar.pane("Browser").hover();
  await bar.pane("Browser").getByRole("button", { name: "Open Live View" }).waitFor();
  const joined = await chromium.connectOverCDP(`http://${new URL(browser?.url ?? "").host}`);
  try {
    const page = joined.contexts()[0]?.pages()[0];
    await page?.goto(`${shop.url}?second`);
    await bar.row("Browser", "?second").waitFor();
    await page?.goto("data:text/html,<title>Somewhere else</title>");
    await bar.row("Browser", "Somewhere else").waitFor();
    await page?.evaluate("document.title = 'Named by a script'");
    await bar.row("Browser", "Named by a script").waitFor();
    await page?.goto(`${shop.url}?bakery`);
    await bar.row("Browser", /Shop\s*http/).waitFor();
  } finally {
    await joined.close();
  }
});

test("who is connected, what they did, and that one is at work", async () => {
  await debugging();
  await coordinator.announce(claude, playwright);
  await bar.row("Agents", /Claude Code\s*2\.1\.0/).waitFor();
  await bar.row("Agents", /Playwright\s*2\.1\.0/).waitFor();
  await coordinator.report(playwright, "Page.navigate", { outcome: "refused: view", ok: false });
  const working = window.statusShows("Claude Code");
  await coordinator.report(claude, "browser_click", { target: 'button "Buy"', outcome: "clicked", url: shop.url });
  await working;
  await bar.row("Activity", /Click button "Buy"\s*Claude Code · [0-9:]{8}/).waitFor();
  await window.screenshot("view-at-work");
  await window.status.getByText("Browser", { exact: true }).waitFor();
  const connected = await window.status.getAttribute("aria-label");
  for (const each of [/Connected: .*Claude Code 2\.1\.0/, /Connected: .*Playwright 2\.1\.0/]) {
    expect(connected).toMatch(each);
  }
  // A screen reader gets the text, with what the icon shows.
  for (const [pane, text, label] of [
    ["Browser", /Shop\s*http/, /^Shop, http:\/\/127/],
    ["Agents", "Agents can do everything", /^Agents can do everything, They read and act without asking\./],
    ["Agents", "Endpoint", /^Endpoint, http:\/\/127.* · starts with the first agent$/],
    ["Agents", "Claude Code", /^Claude Code, an MCP client, 2\.1\.0/],
    ["Activity", "open a page", /^Open a page, failed, refused: view · Playwright · [0-9:]{8}$/],
    ["Activity", "click button", /^Click button "Buy", Claude Code · [0-9:]{8}$/],
  ] as const) {
    expect(await bar.row(pane, text).getAttribute("aria-label")).toMatch(label);
  }
  await bar.hint("Agents", "Claude Code", /Connected since [0-9:]{8}/);
  const whole = /^http:\/\/127\.0\.0\.1:\d+ \(starts with the first agent\)\s+The stable address/; // the row may be cut
  await bar.hint("Agents", "Endpoint", whole);
  await bar.row("Activity", 'click button "Buy"').click();
  await bar.row("Activity", /Page\s*http:\/\/127/).waitFor();
  await window.screenshot("view-activity");
});

test("the reported text is copied and opened, not the shown one", async () => {
  await window.page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  const copied = () => window.page.evaluate<string>("navigator.clipboard.readText()");
  await coordinator.announce(claude);
  const url = "http://shop.test/?filter[name]=$(x)&a=b%20c";
  const target = `form[name="buy"] [type=submit]${"x".repeat(2_000)}`;
  await coordinator.report(claude, "browser_hover", { target, url });
  await bar.row("Activity", "hover form").click();
  await bar.choose("Activity", /Target\s*form\[name=/, "Copy");
  await expect.poll(copied).toBe(target);
  await bar.choose("Activity", /Page\s*http/, "Copy");
  await expect.poll(copied).toBe(url);
  await bar.choose("Activity", /Page\s*http/, "Open in a Browser");
  const dialog = window.page.locator(".monaco-dialog-box");
  await dialog.getByText(url).waitFor();
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await coordinator.report(claude, "browser_navigate", { url: "vscode://publisher.extension/act" });
  await bar.row("Activity", "hover form").click(); // closed again
  await bar.row("Activity", /Navigate/).click();
  expect(await bar.choices("Activity", /Page\s*vscode:/)).toEqual(["Copy"]);
  await debugging();
  const { origin, pathname } = new URL(shop.url);
  await bar.choose("Browser", /Shop\s*http:\/\/127.*bakery/, "Copy the Page's URL");
  await expect.poll(copied).toMatch(`${origin}${pathname}`);
});

test("the mode is changed in the status bar's menu, at once", async () => {
  const menu = async (timeout: number) => {
    await window.status.click({ timeout });
    await window.rows("Set Up an Agent").waitFor({ timeout });
    await window.screenshot("menu");
  };
  await window.choose(menu, "Agents can do everything", "Agents must ask first");
  await coordinator.until((state) => state.access.mode === "ask");
  await bar.row("Agents", "Agents must ask first").waitFor();
});

describe("in the mode ask", () => {
  beforeEach(async () => {
    await coordinator.announce(claude, playwright);
    await askingMode();
  });

  test("once is for one action, and the notification goes with the answer", async () => {
    await bar.row("Agents", "Claude Code").click();
    const focused = () => window.page.evaluate("document.activeElement?.getAttribute('aria-label')");
    const asked = coordinator.ask(claude, 'click button "Buy"', "input");
    await bar.question.waitFor();
    expect(await focused()).toBe("Agents"); // the keyboard stays where it was
    const words = 'Claude Code 2.1.0 wants to act on “Shop” (127.0.0.1:5173): click button "Buy".';
    const dialog = bar.question.getByRole("dialog"); // as a screen reader gets it
    const spoken = `Info: ${words}, source: Browser Coordinator, notification`;
    expect((await dialog.getAttribute("aria-label"))?.split(", Inspect ")[0]).toBe(spoken);
    await window.status.getByText("Agent asks").waitFor();
    for (const label of [
      "Allow Once, Ctrl+K Y",
      "Allow Clicks and Typing for This Session on 127.0.0.1:5173, Ctrl+K Alt+Y",
      "Allow for This Session on 127.0.0.1:5173, Ctrl+K Shift+Y",
      "Refuse, Ctrl+K N",
    ]) {
      await window.page.getByRole("button", { name: label, exact: true }).waitFor();
    }
    await window.press("Enter"); // whatever has the focus, it is no answer
    await window.screenshot("question");
    await window.page.setViewportSize({ width: 700, height: 800 });
    const bottom = async (label: string) => {
      const box = await bar.answerButton(label).boundingBox();
      return (box?.y ?? 0) + (box?.height ?? 0);
    };
    await expect.poll(() => bottom("Allow on 127.0.0.1:5173")).toBeGreaterThan(800); // it has no room
    for (const label of ["Allow Once", "Refuse"]) expect(await bottom(label)).toBeLessThanOrEqual(800);
    await window.screenshot("question-narrow");
    await window.page.setViewportSize({ width: 1280, height: 800 });
    await bar.answer("Allow Once");
    expect(await asked).toEqual({ decision: "allow", reason: "human" });
  });

  test("many actions of one client are one question, refused together", async () => {
    const first = coordinator.ask(claude, "click A");
    await bar.question.waitFor();
    const others = ["B", "C", "D"].map((name) => coordinator.ask(claude, `click ${name}`));
    await bar.read("click A; click B; click C. 1 more action waits.");
    const another = coordinator.ask(playwright, "click E");
    expect(await bar.question.count()).toBe(1);
    await window.screenshot("question-merged");
    await bar.answer("Refuse");
    for (const asked of [first, ...others]) {
      expect(await asked).toEqual({ decision: "refuse", reason: "human" });
    }
    await bar.question.getByText("Playwright").waitFor();
    await bar.answer("Allow on 127.0.0.1:5173");
    expect(await another).toEqual({ decision: "allow", reason: "human" });
    expect(await coordinator.ask(playwright, "click F")).toEqual({ decision: "allow", reason: "grant", covers: "*" });
    await bar.row("Agents", /Playwright.*Everything on 127.0.0.1:5173 allowed/).waitFor();
  });

  test("once allows what the notification names, and in the list all of them", async () => {
    const all = ["A", "B", "C", "D", "E"].map((name) => coordinator.ask(claude, `click ${name}`));
    await bar.read("click A; click B; click C. 2 more actions wait.");
    await bar.answer("Allow Once");
    for (const asked of all.slice(0, 3)) expect(await asked).toEqual({ decision: "allow", reason: "human" });
    await bar.question.getByText("click D; click E.").waitFor();
    const list = async (timeout: number) => {
      await window.status.click({ timeout });
      for (const act of ["click D", "click E"]) await window.rows(act).waitFor({ timeout });
      await window.screenshot("question-list");
      await bar.read("click D; click E.");
    };
    const next = async (timeout: number) => {
      // By what is in sight: the editor uses rows again, and hides the old texts in them.
      const heading = window.page.getByText("what it wants to do").filter({ visible: true });
      await heading.waitFor({ timeout });
      await bar.read("click D; click E.");
    };
    await window.choose(list, "click E"); // each can be answered alone
    await window.choose(next, "Refuse");
    expect(await all[4]).toEqual({ decision: "refuse", reason: "human" });
    await window.rows("click D").waitFor(); // the list is still open
    await bar.question.getByText(/: click D\.$/).waitFor();
    await bar.answer("Allow Once");
    for (const asked of all.slice(0, 4)) expect(await asked).toEqual({ decision: "allow", reason: "human" });
  });

  test("keys answer wherever the focus is, and Escape and Enter never do", async () => {
    const { page } = window;
    await window.openFile("index.html");
    const asked = coordinator.ask(claude, "click G");
    await bar.answerButton("Refuse").waitFor();
    await window.press("Escape"); // the editor hides its notifications
    await bar.question.waitFor({ state: "hidden" });
    await window.press("Control+k");
    await window.press("y");
    expect(await asked).toEqual({ decision: "allow", reason: "human" });
    expect(await page.locator(".tab.dirty").count()).toBe(0);
    const next = coordinator.ask(claude, "click H");
    await bar.question.getByRole("button", { name: "Answer..." }).click();
    await window.rows("Refuse").waitFor(); // this list stays when it loses the focus
    await window.press("Enter");
    await window.screenshot("question-keys");
    await window.press("Escape");
    await bar.question.getByText("click H").waitFor(); // it is back
    await window.press("Control+k");
    await window.press("n");
    expect(await next).toMatchObject({ decision: "refuse", reason: "human" });
    await bar.question.waitFor({ state: "hidden" });
    expect(await bar.answerButton("Refuse").count()).toBe(0);
  });

  test("what is allowed for a session is listed with what it covers, and revoked", async () => {
    const first = coordinator.ask(claude, "click H", "input");
    await bar.answer("Allow Clicks and Typing");
    await first;
    await bar.row("Agents", /Claude Code\s*Clicks and Typing on 127.0.0.1:5173 allowed/).click();
    const grant = bar.row(
      "Agents",
      /Clicks and Typing\s*on http:\/\/127.0.0.1:5173 · allowed on “Shop” \(127.0.0.1:5173\), [0-9:]{8}/,
    );
    await grant.waitFor();
    await window.screenshot("view-permissions");
    await bar.hint("Agents", /^Clicks and Typing/, /may do this without asking, until it leaves or you revoke it/);
    expect(await coordinator.ask(claude, "click I", "input")).toMatchObject({ decision: "allow" });
    const elsewhere = coordinator.ask(claude, "click L", "input", "https://bank.example");
    await bar.read("click L");
    await bar.answer("Refuse"); // what is allowed here is not allowed there
    expect(await elsewhere).toMatchObject({ decision: "refuse", reason: "human" });
    await bar.act("Agents", /^Clicks and Typing/, "Revoke a Permission");
    await grant.waitFor({ state: "detached" });
    const again = coordinator.ask(claude, "click J", "input");
    await bar.answer("Allow on 127.0.0.1:5173");
    await again;
    const everything = bar.row("Agents", /Everything\s*on http:\/\/127.0.0.1:5173/);
    await everything.waitFor();
    await window.chooseFrom("Revoke a Permission", "Claude Code 2.1.0: Everything");
    await everything.waitFor({ state: "detached" });
    const last = coordinator.ask(claude, "click K", "input");
    await bar.answer("Refuse");
    expect(await last).toMatchObject({ reason: "human" });
  });

  test("an agent that the user stops is refused, until it may go on", async () => {
    const asked = coordinator.ask(claude, "click H");
    await bar.question.waitFor();
    await bar.act("Agents", "Claude Code", "Stop an Agent");
    expect(await asked).toMatchObject({ decision: "refuse", reason: "stopped" });
    await coordinator.until((state) => state.access.stopped.includes(claude.name));
    await bar.row("Agents", /Claude Code.*stopped by you/).waitFor();
    await bar.question.waitFor({ state: "hidden" });
    expect(await coordinator.ask(claude, "click I")).toMatchObject({ decision: "refuse", reason: "stopped" });
    await window.screenshot("view-stopped");
    await bar.act("Agents", "Claude Code", "Resume a Stopped Agent");
    await coordinator.until((state) => state.access.stopped.length === 0);
  });

  test("all agents are stopped at once, and resumed", async () => {
    const asked = coordinator.ask(claude, "click J");
    await bar.question.waitFor();
    await bar.pane("Agents").hover();
    await bar.pane("Agents").getByRole("button", { name: "Stop All Agents" }).click();
    expect(await asked).toMatchObject({ decision: "refuse", reason: "stopped" });
    await coordinator.until((state) => state.access.stopped.length === 2);
    await bar.pane("Agents").getByText("all stopped").waitFor();
    await window.screenshot("view-all-stopped");
    await window.command("Browser Coordinator: Resume All Agents");
    await coordinator.until((state) => state.access.stopped.length === 0);
  });

  test("an agent is stopped by its row while others act, and while the mode changes", async () => {
    let clicked = false;
    const painted = "new Promise(requestAnimationFrame)"; // as fast as the window can show it, on any machine
    const acting = (async () => {
      while (!clicked) {
        await coordinator.report(playwright, "Input.dispatchMouseEvent");
        await window.page.evaluate(painted);
      }
    })();
    try {
      for (const stopped of [1, 0, 1, 0]) {
        await bar.act("Agents", "Claude Code", stopped ? "Stop an Agent" : "Resume a Stopped Agent");
        await coordinator.until(({ access }) => access.stopped.length === stopped);
      }
    } finally {
      clicked = true;
      await acting;
    }
    await bar.row("Activity", /Use the mouse\s*[0-9]+×/).waitFor();
    await bar.menu("Agents must ask first", "Agents can do everything");
    await bar.act("Agents", "Claude Code", "Stop an Agent"); // at once
    await coordinator.until(({ access }) => access.stopped.length === 1);
    await bar.menu("Agents can do everything", "Agents must ask first");
    await bar.act("Agents", "Claude Code", "Resume a Stopped Agent");
    await coordinator.until(({ access }) => access.stopped.length === 0);
  });

  test("a mode that answers for the user answers what waits", async () => {
    const asked = coordinator.ask(claude, "click J");
    await bar.question.waitFor();
    const row = bar.row("Agents", "Agents must ask first");
    await window.choose((timeout) => row.click({ timeout }), "Agents can only view");
    expect(await asked).toMatchObject({ decision: "refuse", reason: "mode" });
    await bar.question.waitFor({ state: "hidden" });
    expect(await coordinator.ask(claude, "click K")).toMatchObject({ decision: "refuse", reason: "mode" });
  });
});
