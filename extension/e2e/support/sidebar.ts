// The extension's view in the side bar, its notifications and its menu, as a person finds them.
import { setTimeout } from "node:timers/promises";
import type { Locator, Page } from "playwright-core";
import { pause } from "../../src/core/sight";
import type { Workbench } from "./workbench";

type Answer = "Allow Once" | "Allow Clicks and Typing" | "Allow on 127.0.0.1:5173" | "Allow" | "View Only" | "Refuse";

export class SideBar {
  private readonly page: Page;

  private constructor(private readonly window: Workbench) {
    this.page = window.page;
  }

  /** Opens it by its icon. */
  static async open(window: Workbench): Promise<SideBar> {
    const bar = new SideBar(window);
    const icon = bar.page.locator('.activitybar a.action-label[aria-label^="Browser Coordinator"]');
    await window.retry(async (timeout) => {
      // Of a view that is only being drawn the icon closes it.
      if (!(await bar.pane("Agents").isVisible())) await icon.click({ timeout });
      await bar.pane("Agents").waitFor({ timeout });
    });
    return bar;
  }

  /** One of its views, by its name. */
  pane(name: string): Locator {
    return this.page.locator(".sidebar .pane", {
      has: this.page.locator(".pane-header .title").getByText(name, { exact: true }),
    });
  }

  /** All of it, for a picture. */
  get part(): Locator {
    return this.page.locator(".part.sidebar");
  }

  /** Drags its edge until it is so many pixels wide. */
  async resize(width: number): Promise<void> {
    const box = await this.part.boundingBox();
    if (!box) throw new Error("the side bar is not in sight");
    const y = box.y + box.height / 2;
    await this.page.mouse.move(box.x + box.width, y);
    await this.page.mouse.down();
    await this.page.mouse.move(box.x + width, y, { steps: 4 });
    await this.page.mouse.up();
  }

  /** A row of a view, by a part of its text. */
  row(pane: string, text: string | RegExp): Locator {
    return this.pane(pane).locator(".monaco-list-row", { hasText: text }).first();
  }

  /**
   * Clicks an action that a row shows when the mouse is over it. While the editor redraws a view it names no row, and
   * the extension asks which agent is meant: then once more.
   */
  async act(pane: string, text: string | RegExp, action: string): Promise<void> {
    const row = this.row(pane, text);
    const button = row.locator(`.actions a[aria-label^="${action}"]`);
    await this.window.retry(async (timeout) => {
      await row.hover({ timeout });
      await button.click({ timeout });
      if (/^(Stop|Resume|Revoke)/.test(action)) await button.waitFor({ state: "hidden", timeout });
    });
  }

  /** Waits for what a row's tooltip has. It goes when the row is redrawn, and comes with the mouse only. */
  async hint(pane: string, text: string | RegExp, words: RegExp): Promise<void> {
    await this.window.retry(async (timeout) => {
      await this.page.mouse.move(0, 0);
      await this.row(pane, text).hover({ timeout });
      await this.page.locator(".monaco-hover .hover-contents", { hasText: words }).waitFor({ timeout });
    });
  }

  /** What a row's menu has. */
  async choices(pane: string, text: string | RegExp): Promise<string[]> {
    let labels: string[] = [];
    await this.window.retry(async (timeout) => {
      labels = await (await this.contextMenu(pane, text, timeout)).allInnerTexts();
    });
    await this.page.keyboard.press("Escape");
    return labels.map((label) => label.trim());
  }

  /** Chooses from a row's menu. */
  async choose(pane: string, text: string | RegExp, label: string): Promise<void> {
    await this.window.retry(async (timeout) => {
      const items = await this.contextMenu(pane, text, timeout);
      await items.filter({ hasText: new RegExp(`^\\s*${label}\\s*$`) }).hover({ timeout });
      await this.page.keyboard.press("Enter"); // a click on a menu that has just opened does nothing
      await items.first().waitFor({ state: "hidden", timeout });
    });
  }

  private async contextMenu(pane: string, text: string | RegExp, timeout: number): Promise<Locator> {
    await this.row(pane, text).click({ button: "right", timeout });
    const items = this.page.locator(".context-view .monaco-menu .action-label:not(.separator)");
    await items.first().waitFor({ timeout });
    return items;
  }

  /** The notification in which an agent or a CDP client asks. */
  get question(): Locator {
    return this.page.locator(".notification-toast.notification-fade-in-done", {
      hasText: /wants to (act|control this browser)/,
    });
  }

  /** The button below it that has this label. */
  answerButton(label: string): Locator {
    return this.page.locator(".statusbar-item", { hasText: label }).getByRole("button");
  }

  /** Reads what the question says now: what has joined it a moment ago is not answered with it. */
  async read(text: string): Promise<void> {
    await this.question.getByText(text).waitFor();
    await setTimeout(pause);
  }

  /** Clicks one of its answers, and waits until it has gone. */
  async answer(label: Answer): Promise<void> {
    const question = await this.question.elementHandle();
    await this.answerButton(label).click();
    await question?.waitForElementState("hidden");
  }

  /** Opens the menu behind the status bar item, and picks from it and those that it leads to. */
  async menu(...labels: string[]): Promise<void> {
    await this.window.choose((timeout) => this.window.status.click({ timeout }), ...labels);
  }
}
