// What clients call, and what becomes of a call: its answer, its error, its deadline, its cancel.
import { expect, test } from "vitest";
import { silent } from "../../src/core/log";
import { lineLimit } from "../../src/core/protocol/framing";
import { Refusal } from "../../src/core/protocol/request";
import { type Caller, callLimit } from "../../src/core/window/connection";
import { Client } from "../support/client";
import { serve, testCommands } from "../support/window";

test("a call that throws, and one that answers what JSON cannot hold, answer internal", async () => {
  const commands = new Map([
    ["throw", { run: async () => Promise.reject(new Error("no such luck")) }],
    [
      "circle",
      {
        run: async () => {
          const a: unknown[] = [];
          a.push(a);
          return a;
        },
      },
    ],
  ]);
  const { dial } = await serve(commands);
  const client = await dial();
  for (const command of commands.keys()) {
    expect(await client.ask("call", { command })).toMatchObject({ success: false, error: { code: "internal" } });
  }
  expect((await client.ask("ping")).success).toBe(true);
});

test("a response or an error over the line's limit is reported as internal, and the connection goes on", async () => {
  const long = "x".repeat(lineLimit);
  const { dial } = await serve(
    new Map([
      ...testCommands,
      ["huge", { run: async () => long }],
      ["fail", { run: async () => Promise.reject(new Refusal("refused", long)) }],
    ]),
  );
  const client = await dial();
  expect(await client.ask("call", { command: "huge" })).toMatchObject({ error: { code: "internal" } });
  expect(await client.ask("call", { command: "fail" })).toMatchObject({ error: { code: "refused" } });
  // Three times as long when it is written as JSON has it.
  const numbers = Array(1_500_000).fill("1e20").join(",");
  client.socket.write(`{"id":"n","type":"call","version":2,"payload":{"command":"echo","arg":[${numbers}]}}\n`);
  expect(await client.until((line) => line.id === "n")).toMatchObject({ error: { code: "internal" } });
  expect((await client.ask("ping")).success).toBe(true);
});

test("a call that does not wait for a user has its deadline", async () => {
  let aborted = false;
  const run = (_: unknown, { signal }: Caller) =>
    new Promise(() =>
      signal.addEventListener("abort", () => {
        aborted = true;
      }),
    );
  const { dial } = await serve(new Map([["hang", { run }]]));
  const client = await dial();
  const started = performance.now();
  expect(await client.ask("call", { command: "hang" })).toMatchObject({ error: { code: "deadline" } });
  expect(performance.now() - started).toBeGreaterThan(callLimit - 50);
  expect(aborted).toBe(true);
});

test("cancel reaches the command, and frees the id", async () => {
  let notify = (_: unknown) => {};
  const aborted = new Promise<unknown>((resolve) => {
    notify = resolve;
  });
  const run = (_: unknown, { signal }: Caller) => {
    signal.addEventListener("abort", () => notify(signal.reason));
    return new Promise(() => {});
  };
  const { dial } = await serve(new Map([["ask", { waitsForUser: true, run }]]));
  const client = await dial();
  client.send({ id: "a", type: "call", version: 2, payload: { command: "ask" } });
  expect((await client.ask("cancel", { id: "a" })).payload).toEqual({ cancelled: true });
  expect(await client.until((line) => line.id === "a")).toMatchObject({ error: { code: "cancelled" } });
  expect(await aborted).toMatchObject({ code: "cancelled" });
  expect((await client.ask("cancel", { id: "a" })).payload).toEqual({ cancelled: false });
});

test("answers race cancels: each id is answered once, and is free then", async () => {
  const later = (ms: number) => new Promise((resolve) => setTimeout(resolve, Math.random() * ms));
  const race = (arg: unknown, { signal }: Caller) =>
    new Promise((resolve, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason));
      void later(4).then(() => resolve(arg));
    });
  const deaf = async (arg: unknown) => {
    await later(4);
    return arg;
  };
  const { dial } = await serve(
    new Map([
      ["race", { waitsForUser: true, run: race }],
      ["deaf", { run: deaf }],
    ]),
  );
  const client = await dial();
  const calls = 120;
  const outcomes = { answered: 0, cancelled: 0 };
  for (let round = 0; round < 40; round++) {
    client.lines.length = 0;
    for (let i = 0; i < calls; i++) {
      const command = i % 2 === 0 ? "race" : "deaf";
      client.send({ id: `call ${i}`, type: "call", version: 2, payload: { command, arg: i } });
    }
    await later(4); // when the cancels go out is the race
    for (let i = 0; i < calls; i++) {
      client.send({ id: `cancel ${i}`, type: "cancel", version: 2, payload: { id: `call ${i}` } });
    }
    await client.until(() => client.lines.length >= 2 * calls);
    await client.ask("ping"); // nothing comes behind
    const answers = new Map(client.lines.map((line) => [line.id, line]));
    expect([client.lines.length, answers.size]).toEqual([2 * calls + 1, 2 * calls + 1]);
    for (let i = 0; i < calls; i++) {
      const call = answers.get(`call ${i}`);
      const cancel = answers.get(`cancel ${i}`);
      const cancelled = (call?.error as { code: string } | undefined)?.code === "cancelled";
      if (!cancelled) expect(call).toEqual({ id: `call ${i}`, success: true, payload: { result: i } });
      expect(cancel?.payload).toEqual({ cancelled });
      outcomes[cancelled ? "cancelled" : "answered"]++;
    }
  }
  expect(outcomes.answered).toBeGreaterThan(0);
  expect(outcomes.cancelled).toBeGreaterThan(0);
});

test("a client that goes while it waits is no fault of the window's", async () => {
  const errors: string[] = [];
  const { address, server } = await serve(testCommands, undefined, {
    log: { ...silent, error: (message) => errors.push(message) },
  });
  const client = await Client.dial(address);
  client.send({ id: 1, type: "call", version: 2, payload: { command: "wait" } });
  await client.ask("ping");
  const gone = new Promise<void>((resolve) => server.onClients(resolve));
  client.close();
  await gone;
  expect(errors).toEqual([]);
});

test("a client that is gone gives up its calls, after a second", async () => {
  let notify = () => {};
  const aborted = new Promise<void>((resolve) => {
    notify = resolve;
  });
  let begun = () => {};
  const running = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const run = (_: unknown, { signal }: Caller) => {
    signal.addEventListener("abort", notify);
    begun();
    return new Promise(() => {});
  };
  const { dial } = await serve(new Map([["ask", { waitsForUser: true, run }]]));
  const client = await dial();
  client.send({ id: 1, type: "call", version: 2, payload: { command: "ask" } });
  await running;
  client.close();
  await aborted;
});
