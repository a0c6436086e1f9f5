// What the human allows in this window: what the setting says, until the human says otherwise here.
// The choice outlives a reload of the window; a change of the setting replaces it.
import * as vscode from "vscode";
import { isMode, modes, setMode } from "../core/access";
import type { Clients } from "../core/clients";
import type { AccessMode, ConnectedClient } from "../core/protocol.generated";
import type { Store } from "../core/store";

const key = "access";
const setting = "browserCoordinator.access";

interface Kept {
  mode: AccessMode;
  /** What the setting was when the mode was chosen. */
  setting: AccessMode;
  stopped: string[];
  /** The names of those who are stopped. */
  clients: ConnectedClient[];
}

export const modeWords: Record<AccessMode, { label: string; icon: string; detail: string }> = {
  full: { label: "Agents may do everything", icon: "unlock", detail: "They look and act without asking." },
  ask: { label: "Agents have to ask", icon: "shield", detail: "They look; you are asked before they act." },
  view: { label: "Agents may only look", icon: "eye", detail: "They look; whatever would change a page is refused." },
};

export function keepAccess(context: vscode.ExtensionContext, store: Store, clients: Clients): vscode.Disposable {
  const kept = context.workspaceState.get<Partial<Kept>>(key);
  const chosen = kept?.setting === configured() && isMode(kept.mode) ? kept.mode : configured();
  clients.remember(kept?.clients ?? []);
  store.set({ access: { mode: chosen, stopped: kept?.stopped ?? [] } });
  let told = store.state.access;
  const unsubscribe = store.subscribe(() => {
    const { access } = store.state;
    if (access === told) return;
    told = access;
    const names = access.stopped.flatMap((id) => clients.known(id) ?? []);
    void context.workspaceState.update(key, { ...access, setting: configured(), clients: names } satisfies Kept);
  });
  const changed = vscode.workspace.onDidChangeConfiguration((event) => {
    if (event.affectsConfiguration(setting)) setMode(store, configured());
  });
  return vscode.Disposable.from(changed, { dispose: unsubscribe });
}

/** Lets the human choose; answers nothing where they did not. */
export async function chooseMode(present: AccessMode): Promise<AccessMode | undefined> {
  const choices = modes.map((mode) => ({
    mode,
    label: `$(${modeWords[mode].icon}) ${modeWords[mode].label}`,
    description: mode === present ? "now" : "",
    detail: modeWords[mode].detail,
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
  return isMode(value) ? value : "ask"; // not what it says, but never more than it says
}
