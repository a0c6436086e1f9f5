// How the product looks, in each kind of theme and at three widths, for a person to look at; and what axe finds
// in the panels. `go tool task photographs` keeps the pictures of the documentation too.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Locator } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { sampleReview } from "./support/review";
import { thisRun } from "./support/run";
import { setScene } from "./support/scene";
import { SideBar } from "./support/sidebar";
import { Listener } from "./support/socket";
import { agent, StandIn } from "./support/standin";
import { Workbench } from "./support/workbench";

const allThemes = [
  { name: "light", theme: "Light 2026", kind: "vs" },
  { name: "dark", theme: "Dark 2026", kind: "vs-dark" },
  { name: "contrast", theme: "Default High Contrast", kind: "hc-black" },
  { name: "contrast-light", theme: "Default High Contrast Light", kind: "hc-light" },
];
/** The task photographs all; the tests look at the two that differ most. */
const themes = process.env.BROWSER_COORDINATOR_PICTURES
  ? allThemes
  : allThemes.filter(({ name }) => name === "light" || name === "contrast");
const widths = [180, 300, 600];
const usual = { width: 1280, height: 800 };
const wide = { width: 2000, height: 800 };

/** What would cover parts of the window. */
const settings = { "debug.toolBarLocation": "docked", "remote.autoForwardPorts": false };
const media = fileURLToPath(new URL("../media", import.meta.url));
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const run = thisRun();
const { artifacts } = run;

const scene = setScene("looks", ({ folder }) => {
  writeFileSync(join(folder, "index.html"), page);
  const svg =
    '<svg xmlns="http://www.w3.org/2000/svg" width="90" height="30"><rect width="90" height="30" fill="teal"/></svg>';
  writeFileSync(join(folder, "shot.svg"), svg);
});

const page = `<!doctype html><html lang="en"><title>Shop</title>
<style>body { font: 16px sans-serif; margin: 2em } button { font: inherit; padding: .4em 1em }</style>
<h1>Shop</h1><p><label>Coupon <input id="coupon"></label> <button id="buy">Buy</button></p><p id="answer"></p>
<script src="app.js"></script>`;

/** All that a review can have, for the panel's own pictures. */
const everything = `${sampleReview}
> It was reported twice.

\`\`\`js
// One greeting for all.
const greeting = (name, times = 2) => \`Thank you, \${name}\`.repeat(times);
\`\`\`

![The shop](shot.svg) ![elsewhere](https://example.test/a.png) and a [link](https://example.test/).
`;

const claude = agent("c1", "Claude Code");
const cursor = agent("c2", "Cursor");
const playwright = agent("p1", "Playwright", "cdp");
let window: Workbench;
let bar: SideBar;
let coordinator: StandIn;
let listener: Listener;
/** Serves the window's endpoint, for Playwright. */
let server: ChildProcess;

beforeAll(async () => {
  ({ window } = scene);
  coordinator = await StandIn.dial(scene.address);
  const args = ["serve", "--workspace", scene.shop.folder];
  server = spawn(run.coordinator, args, { env: run.env, stdio: ["ignore", "pipe", "ignore"] });
  await once(server.stdout as NodeJS.ReadableStream, "data"); // the address
  listener = await Listener.dial(scene.address);
  bar = await SideBar.open(window);
  await window.press("F5");
  const { browser } = await coordinator.debugging((state) => state.browser !== null);
  const listed = await fetch(`http://${new URL(browser?.url ?? "").host}/json/list`);
  const pages = (await listed.json()) as { id: string; type: string }[];
  const id = pages.find(({ type }) => type === "page")?.id as string;
  await coordinator.announce({ ...claude, page: id }, cursor, playwright);
  const { url } = scene.shop;
  await coordinator.report(claude, "browser_navigate", { target: url, url });
  await coordinator.report(claude, "browser_type", { target: "“TEA10” into “Coupon”", url });
  await coordinator.report(claude, "browser_click", {
    target: 'button "Pay"',
    ok: false,
    outcome: "no such element",
    url,
  });
  for (let count = 0; count < 12; count += 1) await coordinator.report(playwright, "Runtime.evaluate");
  await coordinator.report(cursor, "browser_hover", { target: 'button "Buy"', url });
  await coordinator.report(claude, "browser_click", { target: 'button "Buy"', url });
  await bar.row("Activity", 'Click button "Buy"').waitFor();
});

afterEach(async () => {
  await window.command("View: Close All Editors");
  await window.page.setViewportSize(usual);
});

afterAll(async () => {
  coordinator?.close();
  listener?.close();
  if (server?.kill("SIGINT")) await once(server, "exit");
});

async function use({ theme, kind }: (typeof allThemes)[number]): Promise<void> {
  writeFileSync(
    join(scene.shop.folder, ".vscode", "settings.json"),
    JSON.stringify({ ...settings, "workbench.colorTheme": theme }),
  );
  await window.page.locator(`.monaco-workbench.${kind}`).waitFor();
}

/** A picture of parts of the window, which the task keeps for the documentation too. */
async function documented(name: string, theme: string, ...parts: Locator[]): Promise<void> {
  await window.page.mouse.move(0, 0); // where it has no tooltip
  await window.picture(`looks-${name}-${theme}`, ...parts);
  const ending = { light: "", dark: "-dark" }[theme];
  if (ending === undefined || !process.env.BROWSER_COORDINATOR_PICTURES) return;
  copyFileSync(join(artifacts, `looks-${name}-${theme}.png`), join(media, `${name}${ending}.png`));
}

/** What axe finds in a panel. */
function findings(panel: Locator): Promise<string[]> {
  return panel.evaluate(`${axe};
    axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) =>
      violations.flatMap(({ id, nodes }) => nodes.map(({ html, any }) =>
        id + ": " + html.slice(0, 200) + " " + (any[0]?.message ?? ""))))`);
}

/** Pictures of a panel at each width, and what axe finds there. */
async function panels(name: string, title: string): Promise<void> {
  await window.page.setViewportSize(wide);
  const frame = window.page.locator("iframe.webview:visible");
  const body = window.webview(title).locator("body");
  for (const width of widths) {
    // The editor makes no group as narrow as that.
    await frame.evaluate((element, to) => {
      (element as unknown as { style: { maxWidth: string } }).style.maxWidth = `${to}px`;
    }, width);
    await expect.poll(() => body.evaluate("innerWidth")).toBe(width);
    await window.picture(`looks-${name}-${width}`, frame);
    expect(await findings(body), `${name} ${width}`).toEqual([]);
  }
}

/** Presses Tab from the beginning of a panel, and returns what has not had the focus of all that can be used. */
async function unreached(body: Locator): Promise<string[]> {
  await body.evaluate(`addEventListener("focusin", ({ target }) => target.setAttribute("data-reached", ""))`);
  const left = () =>
    body.evaluate<string[], unknown>(`[...document.querySelectorAll("button, select, textarea, a[href], [tabindex]")]
      .filter((each) => each.checkVisibility() && each.tabIndex >= 0 && !each.hasAttribute("data-reached"))
      .map((each) => each.outerHTML.slice(0, 200))`);
  await window.command("View: Focus Active Editor Group");
  const most = (await left()).length + 3;
  for (let presses = 0; presses < most; presses += 1) await window.press("Tab");
  return left();
}

const clientOf = ({ id, name, version }: { id: string; name: string; version: string }) => ({ id, name, version });

describe("the view", () => {
  test.each(themes)("in $name", async (each) => {
    await use(each);
    for (const width of [180, 600, 300]) {
      await bar.resize(width);
      await window.picture(`looks-view-${each.name}-${width}`, bar.part);
    }
    await documented("view", each.name, bar.part);
  });
});

describe("a review", () => {
  test.each(themes)("in $name", async (each) => {
    await use(each);
    await window.openFile("app.js");
    const present = (title: string, markdown: string) =>
      listener.call("review.present", { client: clientOf(claude), title, markdown, mode: "replace" });
    await present("Greeting", sampleReview);
    await window.webview("Greeting").getByRole("table").waitFor();
    await documented("review", each.name, window.page.locator(".part.editor"));

    await present("Greeting", everything);
    const panel = window.webview("Greeting");
    await panel.getByText("It was reported twice.").waitFor();
    await panel.getByRole("button", { name: "Comment on line 7: +" }).click();
    await window.page.keyboard.type("Also in the basket?");
    await panels(`review-${each.name}`, "Greeting");
  });
});

describe("the live view", () => {
  test.each(themes)("in $name", async (each) => {
    await use(each);
    await window.command("Browser Coordinator: Open Live View");
    const panel = window.webview("Live View");
    await expect.poll(() => panel.locator("#canvas").evaluate("document.getElementById('canvas').width")).not.toBe(0);
    await panel.getByRole("button", { name: "Send Mouse and Keyboard to the Page" }).click();
    await panels(`live-${each.name}`, "Live View");
  });
});

test("the keyboard alone reaches all of the panels", async () => {
  await listener.call("review.present", {
    client: clientOf(claude),
    title: "Greeting",
    markdown: everything,
    mode: "replace",
  });
  await window.webview("Greeting").getByText("It was reported twice.").waitFor();
  expect(await unreached(window.webview("Greeting").locator("body"))).toEqual([]);
  await window.command("View: Close All Editors");
  await window.command("Browser Coordinator: Open Live View");
  await window.webview("Live View").getByRole("button", { name: "Pick an Element" }).waitFor();
  expect(await unreached(window.webview("Live View").locator("body"))).toEqual([]);
});

describe("the walkthrough", () => {
  test.each(allThemes.slice(0, 2))("in $name", async (each) => {
    await use(each);
    await window.page.setViewportSize(wide); // else there is no place for pictures
    await window.command("Browser Coordinator: Get Started");
    const step = (title: string) => window.page.locator(".getting-started-step", { hasText: title });
    // What has been done here is complete; a question and a review are the last tests'.
    for (const title of ["Start a browser debug session", "Connect an agent", "See what it does"]) {
      await step(title).locator(".codicon-getting-started-step-checked, .codicon-pass-filled").first().waitFor();
    }
    expect(await step("Open a folder").count()).toBe(0);
    await step("See what it does").click();
    const picture = window.page.locator(".getting-started-media img");
    await expect
      .poll(async () => (await picture.getAttribute("srcset")) ?? "")
      .toContain(each.name === "dark" ? "view-dark.png" : "view.png");
    await expect
      .poll(() => picture.evaluate((image) => (image as unknown as { naturalWidth: number }).naturalWidth))
      .toBeGreaterThan(0);
    await window.picture(`looks-walkthrough-${each.name}`, window.page.locator(".part.editor"));
  });

  test("in a window without a folder it does not advise to debug", async () => {
    const empty = await Workbench.open(thisRun(), scene.screen, "ew=true");
    try {
      await expect
        .poll(() => empty.status.getAttribute("aria-label"))
        .toContain("Open a folder so that agents can find this window.");
      await empty.command("Browser Coordinator: Get Started");
      await empty.page.locator(".getting-started-step", { hasText: "Open a folder" }).waitFor();
      expect(
        await empty.page.locator(".getting-started-step", { hasText: "Start a browser debug session" }).count(),
      ).toBe(0);
      await empty.command("Browser Coordinator: Open Live View");
      const panel = empty.webview("Live View");
      await panel.getByText("Open a folder so that agents can find this window.").waitFor();
      expect(await panel.getByRole("button").count()).toBe(0);
      expect(await findings(panel.locator("body"))).toEqual([]);
    } finally {
      await empty.close();
    }
  });
});

describe("a question", () => {
  beforeAll(async () => {
    await window.chooseFrom("Change What Agents May Do", "Agents must ask first"); // a click would leave a tooltip
    await coordinator.until(({ access }) => access.mode === "ask");
  });

  test.each(themes)("in $name", async (each) => {
    await use(each);
    const asked = coordinator.ask(claude, 'Click button "Buy"', "input");
    await bar.question.waitFor();
    await bar.answerButton("Refuse").waitFor();
    const [first, last] = [bar.answerButton("Allow on 127.0.0.1:5173"), bar.answerButton("Refuse")];
    await documented("question", each.name, bar.question, first, last);
    await bar.answer("Refuse");
    await asked;
  });
});
