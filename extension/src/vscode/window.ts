// This window on its socket, for as long as the extension lives.
import { isDeepStrictEqual } from "node:util";
import * as vscode from "vscode";
import { type Identity, identify, onDisk, surroundings } from "../core/address/address";
import { type Log, reason } from "../core/log";
import type { Command } from "../core/window/connection";
import { WindowServer } from "../core/window/server";
import type { Store } from "../core/window/store";

export type Serving =
  | { kind: "starting" }
  | { kind: "open"; workspace: string | null; folders: string[]; server: WindowServer }
  | { kind: "failed"; problem: string }
  | { kind: "closed" };

export class Window {
  readonly #changed = new vscode.EventEmitter<Serving>();
  /** Fires when serving changes and when a client comes or goes. */
  readonly onDidChange = this.#changed.event;
  #serving: Serving = { kind: "starting" };
  /** One step at a time: opening, moving and closing never overlap. */
  #steps: Promise<void> = Promise.resolve();

  constructor(
    private readonly version: string,
    private readonly store: Store,
    private readonly commands: ReadonlyMap<string, Command>,
    /** Called with each new identity, before it is served. */
    private readonly restoreAccess: (identity: Identity) => void,
    private readonly log: Log,
  ) {}

  get serving(): Serving {
    return this.#serving;
  }

  /**
   * Opens the window's socket, or moves it to where the workspace's identity is now. Clients choose a window by the
   * folders in its hello: after a change of them they have to dial again too.
   */
  refresh(): Promise<void> {
    return this.#step(async () => {
      if (this.#serving.kind === "closed") return;
      const identity = await currentIdentity();
      if (this.#serving.kind === "open") {
        const { workspace, folders, server } = this.#serving;
        if (isDeepStrictEqual([workspace, folders], [identity.workspace, identity.folders])) return;
        await server.close();
      }
      await this.#open(identity);
    });
  }

  /** Notifies the clients and releases the address. The editor's API may be gone already. */
  close(): Promise<void> {
    return this.#step(async () => {
      const serving = this.#serving;
      this.#serving = { kind: "closed" };
      this.#changed.dispose();
      if (serving.kind === "open") await serving.server.close();
    });
  }

  async #open(identity: Identity): Promise<void> {
    const { version, store, commands, log } = this;
    this.restoreAccess(identity);
    const server = new WindowServer({ name: "browser-coordinator", version, identity, store, commands, log });
    try {
      const address = await server.open(surroundings());
      server.onClients(() => this.#changed.fire(this.#serving));
      this.#become({ kind: "open", ...identity, server });
      log.info(`serving ${identity.workspace ?? "a window without a folder"} at ${address}`);
    } catch (error) {
      this.#become({ kind: "failed", problem: reason(error) });
      log.error(`this window cannot be found by agents: ${reason(error)}`);
    }
  }

  #become(serving: Serving): void {
    this.#serving = serving;
    this.#changed.fire(serving);
  }

  #step(work: () => Promise<void>): Promise<void> {
    this.#steps = this.#steps.then(work).catch((error: unknown) => this.log.error(reason(error)));
    return this.#steps;
  }
}

function currentIdentity(): Promise<Identity> {
  const { workspaceFile, workspaceFolders = [] } = vscode.workspace;
  const { file, folders } = onDisk(
    workspaceFile,
    workspaceFolders.map(({ uri }) => uri),
  );
  return identify(file, folders, process.pid);
}
