// A VS Code window, driven as a person drives it: keys, menus and clicks.
import { join } from "node:path";
import { type BrowserContext, chromium, type FrameLocator, type Locator, type Page } from "playwright-core";
import { untilAbsent, untilPresent } from "./files";
import type { Run } from "./run";

/**
 * The browser in which the windows are shown. It has nothing to do with what they debug. Its profile stays for
 * the worker's next file, with the workbench's compiled scripts, but without what the windows stored in it.
 */
export async function openScreen(run: Run): Promise<BrowserContext> {
  const context = await chromium.launchPersistentContext(join(run.root, "screen"), {
    executablePath: run.browser,
    env: run.env,
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking"],
    viewport: { width: 1280, height: 800 },
  });
  const [page] = context.pages();
  if (page) {
    const session = await context.newCDPSession(page);
    const storageTypes = "cookies,indexeddb,local_storage,service_workers,cache_storage";
    await session.send("Storage.clearDataForOrigin", { origin: run.url, storageTypes });
    await session.detach();
  }
  return context;
}

const statusId = "browser-coordinator.browser-coordinator.browserCoordinator.status";

export class Workbench {
  private retrying = false;

  private constructor(
    private readonly run: Run,
    readonly page: Page,
  ) {}

  static async open(run: Run, screen: BrowserContext, query: string): Promise<Workbench> {
    const page = await screen.newPage();
    page.setDefaultTimeout(60_000);
    const workbench = new Workbench(run, page);
    await page.goto(`${run.url}/?${query}`);
    await page.locator(".monaco-workbench .part.statusbar").waitFor();
    return workbench;
  }

  /**
   * Opens a workspace file whose window has this address. The editor in a browser reads the file as empty every other
   * time, reports that no folder has been added, and stays at that: then it is opened again.
   */
  static async openWorkspace(run: Run, screen: BrowserContext, path: string, address: string): Promise<Workbench> {
    for (let times = 0; times < 20; times++) {
      const window = await Workbench.open(run, screen, `workspace=${path}`);
      const read = window.page.locator(".explorer-folders-view .monaco-list-row").first();
      await read.or(window.page.getByText("You have not yet added a folder to the workspace.")).waitFor();
      await untilPresent(address);
      if (await read.isVisible()) return window;
      await window.close();
      await untilAbsent(address);
    }
    throw new Error("the editor never read the workspace file");
  }

  /** Opens a file of the workspace and waits for its text. */
  async openFile(name: string): Promise<void> {
    await this.retry(async (timeout) => {
      await this.quickInput("Control+p", name, timeout);
      await this.rows(name, ".focused").waitFor({ timeout });
      await this.press("Enter"); // the list may be redrawn in the moment of a click
      await this.page.locator(".tab.active", { hasText: name }).waitFor({ timeout });
    });
    await this.page.locator(".monaco-editor .view-lines .view-line").first().waitFor();
  }

  /** Clicks in the gutter before a line of the open file, and waits until the debugger has the breakpoint. */
  async toggleBreakpoint(line: number): Promise<void> {
    const number = this.page.locator(".monaco-editor .margin .line-numbers").getByText(`${line}`, { exact: true });
    const dots = this.page.locator('.monaco-editor [class*="codicon-debug-breakpoint"]');
    const before = await dots.count();
    await this.retry(async (timeout) => {
      const box = await number.boundingBox({ timeout });
      if (!box) throw new Error(`line ${line} is not in sight`);
      // A second click would remove it.
      if ((await dots.count()) === before) await this.page.mouse.click(box.x - 8, box.y + box.height / 2);
      await dots.nth(before).waitFor({ timeout });
    });
    // Until then the dot is a hollow one, of another class.
    await this.page.locator(".monaco-editor .codicon-debug-breakpoint").first().waitFor();
  }

  /** Waits until the debugger stands at a line. */
  async paused(): Promise<void> {
    await this.page
      .locator(".monaco-editor .debug-top-stack-frame-line, .monaco-editor .codicon-debug-stackframe")
      .first()
      .waitFor();
    await this.page.locator('.debug-toolbar a.action-label[aria-label^="Continue"]').waitFor(); // keys work then too
  }

  /** Waits until the debugger stands nowhere. */
  async running(): Promise<void> {
    await this.page.locator('.debug-toolbar a.action-label[aria-label^="Pause"]').waitFor();
  }

  /** Opens the debug console and waits for its input. */
  async openConsole(): Promise<void> {
    const input = this.page.locator(".repl .repl-input-wrapper .monaco-editor");
    if (!(await input.isVisible())) await this.press("Control+Shift+Y");
    await input.waitFor();
  }

  /** Evaluates an expression in the debug console, as a user does. */
  async evaluateInConsole(expression: string): Promise<void> {
    await this.openConsole();
    await this.page.locator(".repl .repl-input-wrapper .monaco-editor").click();
    await this.page.keyboard.type(expression);
    await this.page.keyboard.press("Enter");
  }

  /** Waits until the debug console shows a text, the given number of times. */
  async consoleShows(text: string, times = 1): Promise<void> {
    await this.openConsole();
    await this.page
      .locator(".repl .monaco-list-row", { hasText: text })
      .nth(times - 1)
      .waitFor();
  }

  async press(key: string): Promise<void> {
    await this.page.keyboard.press(key);
  }

  /** A button of the debug toolbar, by the beginning of its label. */
  async toolbar(label: string): Promise<void> {
    await this.page.locator(`.debug-toolbar a.action-label[aria-label^="${label}"]`).click();
  }

  /** Ends the debug session that runs, or leaves it if it was an attach, and waits until the editor shows none. */
  async stop(): Promise<void> {
    const toolbar = this.page.locator(".debug-toolbar");
    await toolbar.waitFor();
    await this.press("Shift+F5");
    await toolbar.waitFor({ state: "hidden" });
  }

  /** The status bar's item of the extension. */
  get status() {
    return this.page.locator(`.statusbar-item[id="${statusId}"]`);
  }

  /** Resolves once that item has shown a text, for however short a time. To be called before it does. */
  statusShows(text: string): Promise<void> {
    return this.page.evaluate(`new Promise((resolve) => {
      const look = () => document.getElementById("${statusId}")?.textContent.includes("${text}") && resolve();
      const changes = { subtree: true, childList: true, characterData: true };
      new MutationObserver(look).observe(document.querySelector(".part.statusbar"), changes);
    })`);
  }

  /** Keeps a picture of the window, with what was about to appear; `animations` keeps what is about to go. */
  async screenshot(name: string, animations: "allow" | "disabled" = "disabled"): Promise<void> {
    await this.page.screenshot({ path: join(this.run.artifacts, `${name}.png`), animations });
  }

  /** An editor's tab, by its title. */
  tab(title: string) {
    return this.page.locator(".tab", { hasText: title });
  }

  /** Keeps a picture of parts of the window. */
  async picture(name: string, ...parts: Locator[]): Promise<void> {
    const boxes = (await Promise.all(parts.map((part) => part.boundingBox()))).filter((box) => box !== null);
    const [x, y] = [Math.min(...boxes.map((box) => box.x)), Math.min(...boxes.map((box) => box.y))];
    const width = Math.max(...boxes.map((box) => box.x + box.width)) - x;
    const height = Math.max(...boxes.map((box) => box.y + box.height)) - y;
    const path = join(this.run.artifacts, `${name}.png`);
    await this.page.screenshot({ path, clip: { x, y, width, height }, animations: "disabled" });
  }

  /** What stands in the panel of an extension that has this title and is in sight. */
  webview(title: string): FrameLocator {
    return this.page.frameLocator(`iframe.webview`).frameLocator(`iframe[title="${title}"]`);
  }

  /** Runs a command from the palette, by its title with the category. */
  async command(title: string): Promise<void> {
    await this.retry((timeout) => this.tryCommand(title, timeout));
  }

  /** The same once, as a part of what is retried. */
  async tryCommand(title: string, timeout: number): Promise<void> {
    await this.find(`>${title}`, title, timeout);
  }

  /** Starts a launch configuration by its name. One that was just written may not be in the list when that opens. */
  async debug(name: string): Promise<void> {
    await this.retry((timeout) => this.find(`debug ${name}`, name, timeout));
  }

  /** Opens a list, and picks from it and from those that it leads to, by parts of the rows' texts. */
  async choose(open: (timeout: number) => Promise<void>, ...labels: string[]): Promise<void> {
    await this.retry(async (timeout) => {
      await open(timeout);
      for (const label of labels) {
        await this.rows(label).first().waitFor({ timeout });
        // By its words: the rows move under the mouse while the list opens.
        await this.input.fill(label, { timeout });
        await this.rows(label, ".focused").click({ timeout });
      }
    });
  }

  /** Runs a command, and picks from its list and from those that it leads to. */
  async chooseFrom(command: string, ...labels: string[]): Promise<void> {
    await this.choose((timeout) => this.tryCommand(`Browser Coordinator: ${command}`, timeout), ...labels);
  }

  /** Rows of the list that is open. */
  rows(text: string | RegExp, state = ""): Locator {
    return this.page.locator(`.quick-input-list .monaco-list-row${state}`, { hasText: text });
  }

  /** Sets up an agent of this name for the window's folder; of several folders for the named one. */
  async setUp(program: string, ...folder: string[]): Promise<void> {
    await this.chooseFrom("Set Up an Agent", program, "For this folder", ...folder);
  }

  /** What the clipboard holds, read as a person does: pasted into an empty editor. */
  async pasted(): Promise<string> {
    await this.command("File: New Untitled Text File");
    // It takes the focus by itself. A click could hit the hover of its tab instead.
    const editor = this.page.locator('.monaco-editor.focused[data-uri^="untitled:"]');
    await editor.waitFor();
    await this.press("Control+v");
    await editor.locator(".view-line", { hasText: /\S/ }).first().waitFor();
    // An editor shows blanks as other characters.
    return (await editor.locator(".view-lines").innerText()).replaceAll("\u00a0", " ").trim();
  }

  /** A notification with this text. */
  toast(text: string): Locator {
    return this.page.locator(".notification-toast", { hasText: text }).first();
  }

  /** Reloads the window by its command, and waits until it is back. */
  async reload(): Promise<void> {
    const loaded = this.page.waitForEvent("load");
    await this.command("Developer: Reload Window");
    await loaded;
    await this.page.locator(".monaco-workbench .part.statusbar").waitFor();
    await this.status.waitFor();
  }

  /** Closes the window as its user would, if it is open: the page goes away. */
  async close(): Promise<void> {
    if (this.page.isClosed()) return;
    await this.page.goto("about:blank");
    await this.page.close();
  }

  /**
   * Does what needs a list or a menu, with a time limit for each step. The editor closes them when it is slow: what is
   * still being opened takes the focus. So it begins again, with more time. One within another would take hours.
   */
  async retry(act: (timeout: number) => Promise<void>): Promise<void> {
    if (this.retrying) throw new Error("what is retried must not retry a part of itself");
    this.retrying = true;
    try {
      await this.attempt(act);
    } finally {
      this.retrying = false;
    }
  }

  private async attempt(act: (timeout: number) => Promise<void>): Promise<void> {
    for (let timeout = 10_000; ; timeout *= 2) {
      try {
        return await act(timeout);
      } catch (error) {
        if (timeout >= 80_000) throw error;
        if (await this.input.isVisible()) await this.press("Escape");
      }
    }
  }

  private get input(): Locator {
    return this.page.locator(".quick-input-widget input").first();
  }

  /** Picks what the quick input finds. */
  private async find(text: string, label: string, timeout: number): Promise<void> {
    await this.quickInput("F1", text, timeout);
    await this.rows(label).first().click({ timeout });
  }

  private async quickInput(key: string, text: string, timeout: number): Promise<void> {
    await this.press(key);
    await this.input.fill(text, { timeout });
  }
}
