// The page of `coordinator show` beside a window of VS Code: both show the same, and what the user decides in one
// counts in the other. A small client stands in for the coordinator of the agents.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { untilPresent } from "./support/files";
import { thisRun } from "./support/run";
import { setScene } from "./support/scene";
import { SideBar } from "./support/sidebar";
import { agent, StandIn } from "./support/standin";

const run = thisRun();
const scene = setScene("dairy");
const claude = agent("c1", "Claude Code");

let bar: SideBar;
let coordinator: StandIn;
let program: ChildProcess;
let page: Page;
/** The window's part of the page. */
let shown: Locator;

/** Starts `coordinator show`, and returns the link that it has the system open. */
async function startShow(): Promise<string> {
  const folder = join(run.root, "opener");
  const link = join(folder, "link");
  mkdirSync(folder);
  // In place of the user's web browser.
  writeFileSync(join(folder, "xdg-open"), '#!/bin/sh\nprintf %s "$1" > "$0.part" && mv "$0.part" "${0%/*}/link"\n', {
    mode: 0o755,
  });
  const env = { ...run.env, PATH: `${folder}:${run.env.PATH}`, BROWSER: "xdg-open" };
  program = spawn(run.coordinator, ["show"], { env, stdio: ["ignore", "ignore", "inherit"] });
  await untilPresent(link);
  return readFileSync(link, "utf8");
}

beforeAll(async () => {
  coordinator = await StandIn.dial(scene.address);
  bar = await SideBar.open(scene.window);
  await scene.window.press("F5");
  await coordinator.debugging(({ browser }) => browser !== null);
  await coordinator.announce(claude);
  await coordinator.report(claude, "browser_click", { target: 'button "Buy"', url: scene.shop.url });
  page = await scene.screen.newPage();
  page.setDefaultTimeout(60_000);
  await page.goto(await startShow());
  shown = page.getByRole("region", { name: "dairy" });
});

afterAll(async () => {
  await page?.close();
  coordinator?.close();
  if (program?.kill("SIGINT")) await once(program, "exit");
});

/** Answers in the page, as a user who looks at it. A tab in the background draws nothing. */
async function answer(label: string): Promise<void> {
  await page.bringToFront();
  await shown.getByRole("button", { name: label, exact: true }).click();
}

test("the window is there with its browser, page, agent and what that did", async () => {
  await shown.getByText(/^VS Code · Chrom(e|ium) \d+ · \//).waitFor();
  await shown.getByText("Claude Code 2.1.0").waitFor();
  await shown.getByText('Click button "Buy"').waitFor();
  const picture = shown.getByRole("button", { name: /^Open Shop/ }).locator("canvas");
  await expect.poll(() => picture.evaluate((canvas) => (canvas as unknown as { width: number }).width)).not.toBe(0);
});

test("the mode that is chosen in one is shown in the other", async () => {
  const mode = shown.getByRole("combobox", { name: "What agents may do" });
  await mode.selectOption("ask");
  await bar.row("Agents", "Agents must ask first").waitFor();
  await coordinator.until(({ access }) => access.mode === "ask");
  await bar.menu("Agents must ask first", "Agents can only view");
  await expect.poll(() => mode.inputValue()).toBe("view");
  await bar.menu("Agents can only view", "Agents must ask first");
  await expect.poll(() => mode.inputValue()).toBe("ask");
});

test("a question is in both, with the same words, and the answer in one ends it in the other", async () => {
  await scene.window.page.bringToFront();
  const words = 'Claude Code 2.1.0 wants to act on “Shop” (127.0.0.1:5173): click button "Buy".';
  const first = coordinator.ask(claude, 'click button "Buy"');
  await bar.question.getByText(words).waitFor();
  await shown.getByText(words).waitFor();
  await expect.poll(() => page.title()).toMatch(/^\(1\) /);
  await page.screenshot({ path: join(run.artifacts, "show-question.png") });
  await answer("Allow Once");
  expect(await first).toEqual({ decision: "allow", reason: "human" });
  await scene.window.page.bringToFront();
  await bar.question.waitFor({ state: "hidden" });

  const second = coordinator.ask(claude, "click A");
  await shown.getByText("click A.").waitFor();
  await bar.answer("Refuse");
  expect(await second).toMatchObject({ decision: "refuse", reason: "human" });
  await shown.getByText("click A.").waitFor({ state: "detached" });
  expect(await page.title()).not.toMatch(/^\(/);
});

test("what is allowed for the session in the page is a permission in the window", async () => {
  const asked = coordinator.ask(claude, "click B", "input");
  await answer("Allow Clicks and Typing for This Session on 127.0.0.1:5173");
  expect(await asked).toMatchObject({ decision: "allow" });
  await scene.window.page.bringToFront();
  await bar.row("Agents", /Claude Code\s*Clicks and Typing on 127.0.0.1:5173 allowed/).waitFor();
});

test("an agent that is stopped in one is stopped in the other, and resumed", async () => {
  await shown.getByRole("button", { name: "Stop: Claude Code 2.1.0" }).click();
  await bar.row("Agents", /Claude Code\s*stopped by you/).waitFor();
  await coordinator.until(({ access }) => access.stopped.includes("Claude Code"));
  await bar.act("Agents", "Claude Code", "Resume a Stopped Agent");
  await shown.getByRole("button", { name: "Stop: Claude Code 2.1.0" }).waitFor();
});
