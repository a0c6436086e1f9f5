// What the user allows: the mode, and which clients are stopped. Both are part of the window's state.

import * as l10n from "@vscode/l10n";
import { Argument } from "../protocol/argument";
import type { AccessMode, ConnectedClient } from "../protocol/protocol.generated";
import type { Clients } from "../window/clients";
import type { Command } from "../window/connection";
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
  const { access } = store.state;
  const all = new Set([...access.stopped, ...clients.map(({ name }) => name)]);
  if (all.size > access.stopped.length) store.set({ access: { ...access, stopped: [...all] } });
}

export function resume(store: Store, { name }: Pick<ConnectedClient, "name">): void {
  const { access } = store.state;
  store.set({ access: { ...access, stopped: access.stopped.filter((each) => each !== name) } });
}

/** Stops all clients that are connected. One of another name that comes later is not stopped. */
export function stopAll(store: Store, clients: Clients): void {
  stop(store, ...clients.connected);
}

export function resumeAll(store: Store): void {
  store.set({ access: { ...store.state.access, stopped: [] } });
}

/** While the user has taken over the browser, the actions of agents wait. It ends with the window. */
export function setTakenOver(store: Store, takenOver: boolean): void {
  const { takenOver: _, ...access } = store.state.access;
  store.set({ access: { ...access, ...(takenOver && { takenOver }) } });
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

/** The command by which a page of the user's changes what clients may do. */
export function accessCommands(store: Store): [string, Command][] {
  const change = async (value: unknown) => {
    const arg = Argument.parse(value);
    const name = (member: string) => arg.optional(member, () => ({ name: arg.text(member) }));
    const mode = arg.optional("mode", () => arg.choice("mode", modes));
    const [stopped, resumed] = [name("stop"), name("resume")];
    const takenOver = arg.optional("takenOver", () => arg.flag("takenOver"));
    if (mode) setMode(store, mode);
    if (stopped) stop(store, stopped);
    if (resumed) resume(store, resumed);
    if (takenOver !== undefined) setTakenOver(store, takenOver);
    return {};
  };
  return [["access.change", { run: change }]];
}
