// A window whose name is taken away, again and again. Real sockets; the pauses are the test's.
import { existsSync, rmSync, unlinkSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { silent } from "../../src/core/log";
import { Backoff } from "../../src/core/window/backoff";
import type { WindowServer } from "../../src/core/window/server";
import { Client } from "../support/client";
import { serve, testCommands } from "../support/window";

/** Pauses that end when the test ends them. */
class Steps {
  readonly asked: string[] = [];
  length = 0;
  next(): number {
    this.asked.push("next");
    return this.length;
  }
  reset(): void {
    this.asked.push("reset");
  }
}

/** Called too when a client leaves, hence the check. */
const boundAgain = (server: WindowServer) =>
  new Promise<void>((resolve) => {
    const forget = server.onClients(() => {
      if (!existsSync(server.address)) return;
      forget();
      resolve();
    });
  });

async function answers(address: string): Promise<boolean> {
  const client = await Client.dial(address);
  const { success } = await client.ask("ping");
  client.close();
  return success === true;
}

test("the pauses are those of section 9", () => {
  const pauses = new Backoff();
  for (const seconds of [1, 2, 4, 8, 16, 30, 30]) {
    const pause = pauses.next();
    expect(pause).toBeGreaterThanOrEqual(seconds * 800);
    expect(pause).toBeLessThanOrEqual(seconds * 1_200);
  }
  for (let i = 0; i < 2_000; i++) expect(pauses.next()).toBeLessThanOrEqual(36_000);
  pauses.reset();
  expect(pauses.next()).toBeLessThanOrEqual(1_200);
});

test("the second time within a minute the window takes its time, and comes back all the same", async () => {
  const { server, address } = await serve();
  for (const least of [0, 700]) {
    const again = boundAgain(server);
    const start = performance.now();
    unlinkSync(address);
    await again;
    expect(performance.now() - start).toBeGreaterThanOrEqual(least);
    expect(server.address).toBe(address);
    expect(await answers(address)).toBe(true);
  }
});

test("a quiet minute makes it quick again", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const pauses = new Steps();
  const { server, address } = await serve(testCommands, undefined, { backoff: pauses });
  for (const quiet of [0, 59_000, 61_000]) {
    vi.advanceTimersByTime(quiet);
    const again = boundAgain(server);
    unlinkSync(address);
    await again;
  }
  expect(pauses.asked).toEqual(["reset", "next", "reset"]);
});

test("what cannot be bound again is tried until it can", async () => {
  const pauses = new Steps();
  let failures = 0;
  let failedThrice = () => {};
  const thrice = new Promise<void>((resolve) => (failedThrice = resolve));
  const error = () => {
    failures += 1;
    if (failures === 3) failedThrice();
  };
  const { server, address, dial } = await serve(testCommands, undefined, {
    backoff: pauses,
    log: { ...silent, error },
  });
  const client = await dial();
  const again = boundAgain(server);
  const dir = dirname(address);
  rmSync(dir, { recursive: true });
  writeFileSync(dir, "a file where the directory should be");
  await thrice;
  expect((await client.ask("ping")).success).toBe(true); // connections stay
  rmSync(dir);
  await again;
  expect(pauses.asked.slice(0, 3)).toEqual(["reset", "next", "next"]);
  expect(server.address).toBe(address);
  expect(await answers(address)).toBe(true);
});

test("closing does not wait for a pause, and binds nothing after it", async () => {
  const pauses = new Steps();
  pauses.length = 3_600_000;
  const { server, address } = await serve(testCommands, undefined, { backoff: pauses });
  const again = boundAgain(server);
  unlinkSync(address);
  await again;
  const paused = new Promise<void>((resolve) => {
    pauses.next = () => {
      resolve();
      return 3_600_000;
    };
  });
  unlinkSync(address);
  await paused;
  await server.close();
  expect(existsSync(address)).toBe(false);
});
