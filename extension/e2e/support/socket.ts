// The window's socket, as its protocol's specification has it.
import { join } from "node:path";
import { hashOf } from "../../src/core/address/identity";
import type { State } from "../../src/core/protocol/protocol.generated";
import { Client, type Line } from "../../test/support/client";
import type { Run } from "./run";

export async function addressOf(run: Run, workspace: string): Promise<string> {
  return join(run.sockets, `ipc-${await hashOf(workspace)}.sock`);
}

/** Listens to a window. */
export class Listener {
  private constructor(
    readonly client: Client,
    readonly first: State,
  ) {}

  static async dial(address: string): Promise<Listener> {
    const client = await Client.dial(address);
    const { payload } = await client.ask("listen", { events: ["state"] });
    return new Listener(client, payload?.state as State);
  }

  /** The newest state that was received. */
  get state(): State {
    const last = this.client.lines.findLast(isState);
    return last ? stateOf(last) : this.first;
  }

  /** The next state, from now on, that fits; the present one too. */
  async until(fits: (state: State) => boolean): Promise<State> {
    if (fits(this.state)) return this.state;
    const after = this.state.revision;
    const isWanted = (line: Line) => {
      const state = stateOf(line);
      return isState(line) && state.revision > after && fits(state);
    };
    return stateOf(await this.client.until(isWanted, 60_000));
  }

  /**
   * Waits until debugging is under way: each session has its page, and the state fits. To stop
   * js-debug before it has its page leaves a session without an end.
   */
  async debugging(fits: (state: State) => boolean): Promise<State> {
    return this.until((state) => roots(state).length > 0 && roots(state).every(hasPage(state)) && fits(state));
  }

  /** Calls a command and answers its result; a refusal is thrown, as `code: message`. */
  async call(command: string, arg: object = {}): Promise<Record<string, unknown>> {
    const line = await this.client.ask("call", { command, arg }, 60_000);
    const { code, message } = (line.error ?? {}) as { code?: string; message?: string };
    if (line.success !== true) throw new Error(`${code}: ${message}`);
    return line.payload?.result as Record<string, unknown>;
  }

  close(): void {
    this.client.close();
  }
}

function isState(line: Line): boolean {
  return line.type === "state";
}

function stateOf(line: Line): State {
  return line.payload as unknown as State;
}

/** The sessions that were launched, without their pages. */
export function roots(state: State): State["debugSessions"] {
  return state.debugSessions.filter(({ parent }) => parent === undefined);
}

function hasPage(state: State): (session: { id: string }) => boolean {
  return ({ id }) => state.debugSessions.some(({ parent }) => parent === id);
}
