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
        detail: l10n.t("They read; you are asked before agents act, and when a CDP client connects."),
      };
    case "view":
      return {
        label: l10n.t("Agents can only view"),
        icon: "eye",
        detail: l10n.t("They read; whatever would change a page is refused."),
      };
  }
}

export function isMode(value: unknown): value is AccessMode {
  return modes.some((mode) => mode === value);
}

export function setMode(store: Store, mode: AccessMode): void {
  store.set({ access: { ...store.state.access, mode } });
}

/** By name: a client that is gone and comes back, under another id, is still stopped. */
export function isStopped(store: Store, { name }: Pick<ConnectedClient, "name">): boolean {
  return store.state.access.stopped.includes(name);
}

export function stop(store: Store, ...clients: Pick<ConnectedClient, "name">[]): void {
  const { mode, stopped } = store.state.access;
  const all = new Set([...stopped, ...clients.map(({ name }) => name)]);
  if (all.size > stopped.length) store.set({ access: { mode, stopped: [...all] } });
}

export function resume(store: Store, { name }: Pick<ConnectedClient, "name">): void {
  const { mode, stopped } = store.state.access;
  store.set({ access: { mode, stopped: stopped.filter((each) => each !== name) } });
}

/** Stops all clients that are connected. One of another name that comes later is not stopped. */
export function stopAll(store: Store, clients: Clients): void {
  stop(store, ...clients.connected);
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
  const connected = clients.connected;
  const absent = stopped.filter((name) => !connected.some((client) => client.name === name));
  return [
    ...connected.map((client) => ({ client, stopped: isStopped(store, client), connected: true })),
    ...absent.map((name) => ({ client: unknownClient(name), stopped: true, connected: false })),
  ];
}

/** More is not known of one that was stopped before the window was reloaded. */
function unknownClient(name: string): ConnectedClient {
  return { id: name, name, version: "", kind: "mcp", since: 0 };
}
