// What the user allows in this window: the setting's mode, until the user chooses another one here.
// The choice outlives a reload of the window; a change of the setting replaces it.

import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import * as l10n from "@vscode/l10n";
import * as vscode from "vscode";
import { isMode, modes, modeWords, setMode } from "../core/access/access";
import { type StoredMode, StoredModes, strictest } from "../core/access/storedmodes";
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
  #storedModes: Pick<StoredModes, "read" | "write"> | undefined;

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
    const present = this.#storedModes ? [this.#present()] : [];
    const storedModes = this.#storedModesOf(identity);
    const unreadable: StoredMode = { mode: "view", setting, stopped: [] };
    const stored = this.#attempt("read", () => storedModes.read(setting), [unreadable]);
    this.#storedModes = storedModes;
    const { mode, stopped } = strictest([...present, ...stored], setting);
    const own = strictest([...present, ...stored.filter(({ open }) => !open)], setting);
    if (mode !== own.mode) announce(mode, l10n.t("another window of this workspace is set to that"));
    else if (present.length > 0) this.#announce(mode, l10n.t("that was chosen for this workspace before"));
    this.#store.set({ access: { ...this.#store.state.access, mode, stopped } });
    if (stored.length > 0) this.#keep(); // in place of the one that this window kept before it was reloaded
  }

  /** Keeps each later choice, and applies a change of the setting. */
  watch(): vscode.Disposable {
    let stored = this.#store.state.access;
    const unsubscribe = this.#store.subscribe(() => {
      const { access } = this.#store.state;
      const isChoice = access.mode !== stored.mode || !isDeepStrictEqual(access.stopped, stored.stopped);
      stored = access;
      if (isChoice) this.#keep();
    });
    const changed = vscode.workspace.onDidChangeConfiguration((event) => {
      if (!event.affectsConfiguration(setting)) return;
      const mode = this.#limited(configured());
      this.#announce(mode, l10n.t("the setting {0} has changed, here or in another window", setting));
      setMode(this.#store, mode);
    });
    const end = { dispose: () => this.#keep(false) }; // the window goes, or is reloaded
    return vscode.Disposable.from(changed, { dispose: unsubscribe }, end);
  }

  /** Nobody has chosen `full` for the user's own browser unless they chose it in this window. */
  #limited(mode: AccessMode): AccessMode {
    return mode === "full" && this.#store.state.browser?.via === "personal" ? "ask" : mode;
  }

  /** Nobody has chosen it in this window. */
  #announce(mode: AccessMode, why: string): void {
    if (mode !== this.#store.state.access.mode) announce(mode, why);
  }

  #present(): StoredMode {
    const { mode, stopped } = this.#store.state.access;
    return { mode, stopped, setting: configured() };
  }

  #keep(open = true): void {
    this.#attempt("kept", () => this.#storedModes?.write({ ...this.#present(), open }), undefined);
  }

  /** An empty window has no workspace to be found by again, and no other window beside it. */
  #storedModesOf({ workspace, key }: Identity): Pick<StoredModes, "read" | "write"> {
    const { globalStorageUri, workspaceState } = this.#context;
    if (workspace !== null) return new StoredModes(join(globalStorageUri.fsPath, "access", key));
    return {
      read: () => workspaceState.get<StoredMode[]>("access", []),
      write: (choice) => void workspaceState.update("access", [{ ...choice, open: false }]),
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

function announce(mode: AccessMode, why: string): void {
  inform(l10n.t("{0} now: {1}.", modeWords(mode).label, why));
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
