// The commands by which the user's own browser takes the place of the one that is debugged.
import * as l10n from "@vscode/l10n";
import * as vscode from "vscode";
import { setMode } from "../core/access/access";
import type { Permissions } from "../core/access/permission";
import { OwnBrowser } from "../core/browser/ownbrowser";
import type { Sessions } from "../core/browser/sessions";
import { candidates, type Tab, tabText } from "../core/browser/usertabs";
import { type Log, reason } from "../core/log";
import { browserName, siteOf } from "../core/plaintext";
import { Argument } from "../core/protocol/argument";
import type { TabRequestResult } from "../core/protocol/protocol.generated";
import { NoCoordinator } from "../core/setup/program";
import { Sight } from "../core/sight";
import type { Clients } from "../core/window/clients";
import type { Command } from "../core/window/connection";
import type { Store } from "../core/window/store";
import { findCoordinator, offerToFindCoordinator } from "./coordinator";
import { inform, reportError, whileConnecting } from "./notifications";

export interface Parts {
  extension: vscode.Uri;
  store: Store;
  sessions: Sessions;
  permissions: Permissions;
  clients: Clients;
}

export class OwnBrowserControl {
  /** Undefined while it is not used. */
  #own: OwnBrowser | undefined;
  #connecting = false;
  /** The mode was `full`, which does not count in the user's own browser, and nobody has chosen another one since. */
  #restricted = false;

  constructor(
    private readonly parts: Parts,
    private readonly log: Log,
  ) {}

  /** The user's commands. */
  register(): vscode.Disposable {
    const register = (name: string, run: () => unknown) =>
      vscode.commands.registerCommand(`browserCoordinator.${name}`, run);
    return vscode.Disposable.from(
      register("useOwnBrowser", () => this.use()),
      register("useDebugBrowser", () => this.leave()),
      register("handOverTab", () => this.handOver()),
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration("browserCoordinator.access")) this.#restricted = false;
      }),
      { dispose: this.parts.store.subscribe(() => this.#modeChanged()) },
      { dispose: () => this.leave() },
    );
  }

  /** What coordinators may call. */
  get commands(): [string, Command][] {
    const run: Command["run"] = (arg, { signal }) => this.#request(Argument.parse(arg), signal);
    return [["tab.request", { waitsForUser: true, run }]];
  }

  async use(): Promise<void> {
    if (this.#connecting || this.#own) return;
    this.#connecting = true;
    try {
      await this.#connect();
    } catch (error) {
      if (error instanceof NoCoordinator) await offerToFindCoordinator(error.message);
      else if (error instanceof Error && error.name !== "AbortError")
        void reportError(l10n.t("Your own browser cannot be used: {0}.", reason(error).replace(/\.$/, "")));
    } finally {
      this.#connecting = false;
    }
  }

  /** The browser that is debugged is the window's again. */
  leave(): void {
    const browser = this.#own;
    if (!browser) return;
    browser.end();
    this.#left();
  }

  /** Lets the user choose a tab that agents may use from now on, or no longer. */
  async handOver(): Promise<void> {
    const browser = this.#own;
    if (!browser) return;
    try {
      const tab = await pickTab(await browser.tabs());
      if (!tab) return;
      if (tab.handedOver) {
        await browser.takeBack(tab);
        this.parts.clients.userDid(l10n.t('Took back the tab "{0}" of {1}', tab.title, tab.origin));
        inform(l10n.t('Agents can no longer use the tab "{0}" of {1}.', tab.title, tab.origin));
        return;
      }
      await this.#give(browser, tab);
      inform(l10n.t('Agents may use the tab "{0}" of {1} until you close it or take it back.', tab.title, tab.origin));
    } catch (error) {
      void reportError(l10n.t("The tab cannot be used: {0}.", reason(error)));
    }
  }

  /** An agent asks for a tab. The list opens by the user's own answer, so no agent takes the focus. */
  async #request(arg: Argument, signal: AbortSignal): Promise<TabRequestResult> {
    const browser = this.#own;
    if (!browser) throw arg.bad("client", "this window does not use the user's own browser");
    const site = arg.optional("url", () => siteOf(arg.text("url")));
    const { decision, reason, tab: chosen } = await this.parts.permissions.askForTab(arg.client(), site, signal);
    if (decision !== "allow") return { outcome: reason === "timeout" ? "timeout" : "refused" };
    const tabs = candidates(await browser.tabs(), site);
    signal.throwIfAborted();
    const tab = tabs.find(({ id }) => id === chosen) ?? (await pickTab(tabs, signal));
    signal.throwIfAborted();
    if (!tab) return { outcome: "refused" };
    await this.#give(browser, tab);
    return { outcome: "handed-over", tab: tab.id };
  }

  async #give(browser: OwnBrowser, tab: Tab): Promise<void> {
    await browser.handOver(tab);
    this.parts.clients.userDid(l10n.t('Handed over the tab "{0}" of {1}', tab.title, tab.origin));
  }

  async #connect(): Promise<void> {
    const { extension, store, sessions, permissions } = this.parts;
    const program = await findCoordinator(extension);
    const which = vscode.workspace.getConfiguration("browserCoordinator").get("ownBrowser", "").trim();
    const title = l10n.t("Connecting to your own browser");
    const { own, browser } = await whileConnecting(title, (report, signal) =>
      OwnBrowser.connect(program, which, report, signal),
    );
    this.#own = own;
    void own.ended.then((why) => {
      if (this.#own !== own || why === undefined) return;
      this.#left();
      void this.#offerAgain(why);
    });
    permissions.revokeAll(); // they were for the browser that is debugged
    this.#restricted = store.state.access.mode === "full";
    if (this.#restricted) setMode(store, "ask");
    sessions.own = browser;
    setUsed(true);
    this.log.info(`the user's own browser is the window's (${browser.product ?? "unknown browser"})`);
    const name = browserName(store.state) ?? "";
    inform(
      l10n.t(
        "Agents and clients now use your own {0}, in their own tabs. They can use one of yours after you hand it over.",
        name,
      ),
    );
  }

  /** What it sets itself is `ask`. */
  #modeChanged(): void {
    if (this.parts.store.state.access.mode !== "ask") this.#restricted = false;
  }

  #left(): void {
    const { store, sessions, permissions } = this.parts;
    this.#own = undefined;
    sessions.own = undefined;
    permissions.revokeAll();
    if (this.#restricted) setMode(store, "full");
    setUsed(false);
  }

  async #offerAgain(why: string): Promise<void> {
    const retry = l10n.t("Use My Chrome");
    const message = l10n.t("The window no longer uses your own browser: {0}.", why.replace(/\.$/, ""));
    if ((await reportError(message, retry)) === retry) await this.use();
  }
}

async function pickTab(all: Tab[], signal?: AbortSignal): Promise<Tab | undefined> {
  if (all.length === 0) {
    inform(l10n.t("Your own browser has no tab that could be handed over."));
    return undefined;
  }
  const items = all.map((tab) => ({ ...tabText(tab), tab }));
  const list = vscode.window.createQuickPick<(typeof items)[number]>();
  list.title = l10n.t("Which tab may agents use?");
  list.placeholder = l10n.t("Until you close it or take it back");
  list.matchOnDescription = true;
  list.items = items;
  let chosen: Tab | undefined;
  const sight = new Sight();
  list.onDidAccept(() => {
    if (!sight.isReadable(list)) return;
    chosen = list.selectedItems[0]?.tab;
    list.hide();
  });
  const hidden = new Promise((resolve) => list.onDidHide(resolve));
  const hide = () => list.hide();
  signal?.addEventListener("abort", hide);
  list.show();
  sight.show(list);
  await hidden;
  signal?.removeEventListener("abort", hide);
  list.dispose();
  return chosen;
}

/** Menus depend on it. */
function setUsed(used: boolean): void {
  void vscode.commands.executeCommand("setContext", "browserCoordinator.usesOwnBrowser", used);
}
