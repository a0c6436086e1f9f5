// What agents have done, as tests that the user wants. Obeys specs/window-protocol/commands.md, test.give.
import { Argument } from "../protocol/argument";
import type { TestGiveArg } from "../protocol/protocol.generated";
import type { Command } from "./connection";
import type { Store } from "./store";

/** A test's code, or why there is none. */
export type Given = Pick<TestGiveArg, "code" | "problem">;

export class Tests {
  /** Who waits for a test, by the agent's id. */
  readonly #waiting = new Map<string, Set<(given: Given) => void>>();

  constructor(private readonly store: Store) {}

  /** Asks an agent's program for the test of what the agent has done. */
  request(client: string, signal: AbortSignal): Promise<Given> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const waiting = this.#waiting.get(client) ?? new Set();
      this.#waiting.set(client, waiting.add(resolve));
      const giveUp = () => {
        waiting.delete(resolve);
        if (waiting.size === 0 && this.#waiting.get(client) === waiting) this.#waiting.delete(client);
        this.#publish();
        reject(signal.reason);
      };
      signal.addEventListener("abort", giveUp, { once: true });
      this.#publish();
    });
  }

  give({ client, ...given }: TestGiveArg): void {
    const waiting = this.#waiting.get(client.id);
    this.#waiting.delete(client.id);
    this.#publish();
    for (const resolve of waiting ?? []) resolve(given);
  }

  #publish(): void {
    this.store.set({ tests: [...this.#waiting.keys()] });
  }
}

/** The command by which coordinators give them. */
export function testCommands(tests: Tests): [string, Command][] {
  const run = async (value: unknown) => {
    const arg = Argument.parse(value);
    tests.give({
      client: arg.client(),
      ...(arg.has("code") && { code: arg.text("code") }),
      ...(arg.has("problem") && { problem: arg.text("problem") }),
    });
    return {};
  };
  return [["test.give", { run }]];
}
