// What the user allows in this window: the setting's mode, until the user chooses another one here.
// The choice outlives a reload of the window; a change of the setting replaces it.

import { join } from "node:path";
import * as l10n from "@vscode/l10n";
import * as vscode from "vscode";
import { isMode, modes, modeWords, setMode } from "../core/access/access";
import { type Choice, Choices, strictest } from "../core/access/choices";
import type { Identity } from "../core/address/address";
import { type Log, reason } from "../core/log";
import type { AccessMode } from "../core/protocol/protocol.generated";
import type { Store } from "../core/window/store";
import { inform } from "./notifications";

const setting = "browserCoordinator.access";

/** Restores and keeps what the user allows in this window. */
export class WindowAccess {
  readonly #context: vscode.ExtensionContext;
  readonly #store: Store;
  readonly #log: Log;
  #choices: Pick<Choices, "read" | "write"> | undefined;

  constructor(context: vscode.ExtensionContext, store: Store, log: Log) {
    this.#context = context;
    this.#store = store;
    this.#log = log;
  }

  /**
   * Applies what was chosen in the workspace's windows, before the window is served. Where the window has moved to
   * another workspace, its present mode counts too: a move allows no more than before.
   */
  restore(identity: Identity): void {
    const setting = configured();
    const present = this.#choices ? [this.#present()] : [];
    const choices = this.#choicesOf(identity);
    const unreadable: Choice = { mode: "view", setting, stopped: [] };
    const stored = this.#attempt("read", () => choices.read(setting), [unreadable]);
    this.#choices = choices;
    const { mode, stopped } = strictest([...present, ...stored], setting);
    if (present.length > 0) this.#announce(mode, l10n.t("another window of this workspace is set to that"));
    this.#store.set({ access: { mode, stopped } });
    if (stored.length > 0) this.#keep(); // in place of the one that this window kept before it was reloaded
  }

  /** Keeps each later choice, and applies a change of the setting. */
  watch(): vscode.Disposable {
    let written = this.#store.state.access;
    const unsubscribe = this.#store.subscribe(() => {
      const { access } = this.#store.state;
      if (access === written) return;
      written = access;
      this.#keep();
    });
    const changed = vscode.workspace.onDidChangeConfiguration((event) => {
      if (!event.affectsConfiguration(setting)) return;
      this.#announce(configured(), l10n.t("the setting {0} has changed, here or in another window", setting));
      setMode(this.#store, configured());
    });
    return vscode.Disposable.from(changed, { dispose: unsubscribe });
  }

  /** Nobody has chosen it in this window. */
  #announce(mode: AccessMode, why: string): void {
    if (mode !== this.#store.state.access.mode) inform(l10n.t("{0} now: {1}.", modeWords(mode).label, why));
  }

  #present(): Choice {
    return { ...this.#store.state.access, setting: configured() };
  }

  #keep(): void {
    this.#attempt("kept", () => this.#choices?.write(this.#present()), undefined);
  }

  /** An empty window has no workspace to be found by again, and no other window beside it. */
  #choicesOf({ workspace, key }: Identity): Pick<Choices, "read" | "write"> {
    const { globalStorageUri, workspaceState } = this.#context;
    if (workspace !== null) return new Choices(join(globalStorageUri.fsPath, "access", key));
    return {
      read: () => workspaceState.get<Choice[]>("access", []),
      write: (choice) => void workspaceState.update("access", [choice]),
    };
  }

  #attempt<T>(what: string, work: () => T, otherwise: T): T {
    try {
      return work();
    } catch (error) {
      this.#log.error(`what agents may do in this window could not be ${what}: ${reason(error)}`);
      return otherwise;
    }
  }
}

/** Lets the user choose; undefined where they cancel. */
export async function chooseMode(present: AccessMode): Promise<AccessMode | undefined> {
  const choices = modes.map((mode) => {
    const { icon, label, detail } = modeWords(mode);
    return { mode, label: `$(${icon}) ${label}`, description: mode === present ? l10n.t("now") : "", detail };
  });
  const picked = await vscode.window.showQuickPick(choices, {
    title: l10n.t("What may agents do in the browser?"),
    placeHolder: l10n.t("For this window, at once, also for agents that are connected already"),
  });
  return picked?.mode;
}

function configured(): AccessMode {
  const value = vscode.workspace.getConfiguration().get(setting);
  return isMode(value) ? value : "view"; // an unknown value counts as view
}
