// What the user allows: the mode, and which clients are stopped. Both are part of the window's state.

import * as l10n from "@vscode/l10n";
import type { AccessMode, ConnectedClient } from "../protocol/protocol.generated";
import type { Clients } from "../window/clients";
import type { Store } from "../window/store";

export const modes = ["full", "ask", "view"] as const satisfies AccessMode[];

/** What a mode is called; the manifest has the same. */
export function modeWords(mode: AccessMode): { label: string; icon: string; detail: string } {
  switch (mode) {
    case "full":
      return {
        label: l10n.t("Agents can do everything"),
        icon: "unlock",
        detail: l10n.t("They read and act without asking."),
      };
    case "ask":
      return {
        label: l10n.t("Agents must ask first"),
        icon: "shield",
        detail: l10n.t("They read; you are asked before they act."),
      };
    case "view":
      return {
        label: l10n.t("Agents can only view"),
        icon: "eye",
        detail: l10n.t("They read; whatever would change a page is refused."),
      };
  }
}

/** Ids of clients that are gone stay: a client that comes back under its id is still stopped. */
const stoppedLimit = 100;

export function isMode(value: unknown): value is AccessMode {
  return modes.some((mode) => mode === value);
}

export function setMode(store: Store, mode: AccessMode): void {
  store.set({ access: { ...store.state.access, mode } });
}

export function isStopped(store: Store, client: string): boolean {
  return store.state.access.stopped.includes(client);
}

export function stop(store: Store, client: string): void {
  const { mode, stopped } = store.state.access;
  if (stopped.includes(client)) return;
  store.set({ access: { mode, stopped: [...stopped, client].slice(-stoppedLimit) } });
}

export function resume(store: Store, client: string): void {
  const { mode, stopped } = store.state.access;
  store.set({ access: { mode, stopped: stopped.filter((each) => each !== client) } });
}

/** Stops all clients that are connected. One that comes later is not stopped. */
export function stopAll(store: Store, clients: Clients): void {
  const { mode, stopped } = store.state.access;
  const all = new Set([...stopped, ...clients.connected.map(({ id }) => id)]);
  store.set({ access: { mode, stopped: [...all].slice(-stoppedLimit) } });
}

export function resumeAll(store: Store): void {
  store.set({ access: { mode: store.state.access.mode, stopped: [] } });
}

/** A client that the user can stop or resume. */
export interface StoppableClient {
  readonly client: ConnectedClient;
  readonly stopped: boolean;
  /** A stopped one is cut off, and may have left. */
  readonly connected: boolean;
}

/** All clients that are connected, and those that are stopped. */
export function stoppable(store: Store, clients: Clients): StoppableClient[] {
  const { stopped } = store.state.access;
  const here = clients.connected;
  const away = stopped.filter((id) => !here.some((client) => client.id === id));
  return [
    ...here.map((client) => ({ client, stopped: stopped.includes(client.id), connected: true })),
    ...away.map((id) => ({ client: clients.known(id) ?? unknown(id), stopped: true, connected: false })),
  ];
}

function unknown(id: string): ConnectedClient {
  return { id, name: l10n.t("A client that has left"), version: "", kind: "cdp", since: 0 };
}
