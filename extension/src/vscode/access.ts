// What the user allows in this window: the setting's mode, until the user chooses another one here.
// The choice outlives a reload of the window; a change of the setting replaces it.
import { join } from "node:path";
import * as vscode from "vscode";
import { isMode, modeLabels, modes, setMode } from "../core/access/access";
import { type Choice, Choices, strictest } from "../core/access/choices";
import { type Log, reason } from "../core/log";
import type { AccessMode } from "../core/protocol/protocol.generated";
import type { Clients } from "../core/window/clients";
import type { Store } from "../core/window/store";

const setting = "browserCoordinator.access";

export function keepAccess(
  context: vscode.ExtensionContext,
  store: Store,
  clients: Clients,
  log: Log,
): vscode.Disposable {
  const keeper = keeperOf(context);
  const attempt = <T>(what: string, work: () => T, otherwise: T): T => {
    try {
      return work();
    } catch (error) {
      log.error(`what agents may do in this window could not be ${what}: ${reason(error)}`);
      return otherwise;
    }
  };
  const kept = attempt("read", () => keeper.read(), []);
  const { mode, stopped, clients: names } = strictest(kept, configured());
  clients.remember(names);
  store.set({ access: { mode, stopped } });
  let written = store.state.access;
  const keep = () => {
    const known = written.stopped.flatMap((id) => clients.known(id) ?? []);
    attempt("kept", () => keeper.write({ ...written, setting: configured(), clients: known }), undefined);
  };
  if (kept.length > 0) keep(); // in place of the one that this window kept before it was reloaded
  const unsubscribe = store.subscribe(() => {
    const { access } = store.state;
    if (access === written) return;
    written = access;
    keep();
  });
  const changed = vscode.workspace.onDidChangeConfiguration((event) => {
    if (event.affectsConfiguration(setting)) setMode(store, configured());
  });
  return vscode.Disposable.from(changed, { dispose: unsubscribe });
}

/** The windows of a folder each keep their own; an empty window has no other one beside it. */
function keeperOf({ storageUri, workspaceState }: vscode.ExtensionContext): Pick<Choices, "read" | "write"> {
  if (storageUri) return new Choices(join(storageUri.fsPath, "access"));
  const key = "access";
  return {
    read: () => workspaceState.get<Choice[]>(key, []),
    write: (choice) => void workspaceState.update(key, [choice]),
  };
}

/** Lets the user choose; undefined where they cancel. */
export async function chooseMode(present: AccessMode): Promise<AccessMode | undefined> {
  const choices = modes.map((mode) => ({
    mode,
    label: `$(${modeLabels[mode].icon}) ${modeLabels[mode].label}`,
    description: mode === present ? "now" : "",
    detail: modeLabels[mode].detail,
  }));
  const placeHolder = "For this window, at once, also for agents that are connected already";
  const picked = await vscode.window.showQuickPick(choices, {
    title: "What may agents do in the browser?",
    placeHolder,
  });
  return picked?.mode;
}

function configured(): AccessMode {
  const value = vscode.workspace.getConfiguration().get(setting);
  return isMode(value) ? value : "view"; // an unknown value counts as view
}
