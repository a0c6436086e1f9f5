// What a window removes when it starts: the dead, and nothing else.
import { existsSync, lstatSync, mkdirSync, readdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { directory, isName } from "../../src/core/address/address";
import { connectError } from "../../src/core/address/bind";
import { sweep } from "../../src/core/address/sweep";
import { removeSeen } from "../../src/core/files/file";
import { silent } from "../../src/core/log";
import { deadSocket, stoppedSocket } from "../support/sockets";
import { serve, surroundings, temporaryFolder, testCommands } from "../support/window";

const uid = process.getuid?.() ?? 0;
const never = new AbortController().signal;
const name = (i: number) => `ipc-${i.toString(16).padStart(16, "0")}.sock`;

test("a window that starts removes dead windows' sockets and leftovers, and nothing else", async () => {
  const around = await surroundings();
  const dir = directory(around);
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const live = await serve(testCommands, around);
  const pid = await deadSocket(
    ...[name(1), "ipc-pid-7-2.sock", "postgres.sock", "ipc-0123.sock"].map((each) => join(dir, each)),
  );
  const gone = [name(1), "ipc-pid-7-2.sock", `.bind-${pid}-00000000`, `.gone-${pid}-0123abcd`, `.bind-${pid}-00000001`];
  writeFileSync(join(dir, `.bind-${pid}-00000000`), "");
  writeFileSync(join(dir, `.gone-${pid}-0123abcd`), "");

  mkdirSync(join(dir, `.bind-${pid}-00000001`)); // died while it bound
  await deadSocket(join(dir, `.bind-${pid}-00000001`, "s"));

  await stoppedSocket(join(dir, name(2)));
  writeFileSync(join(dir, name(3)), "a file");
  symlinkSync(join(dir, "postgres.sock"), join(dir, name(4)));
  mkdirSync(join(dir, name(5)));
  writeFileSync(join(dir, `.bind-${process.pid}-00000000`), "of a process that runs");
  mkdirSync(join(dir, `.bind-${pid}-00000002`));
  writeFileSync(join(dir, `.bind-${pid}-00000002`, "notes"), "no socket's folder");
  writeFileSync(join(dir, `.bind-${pid}-xyz`), "not the form");
  const before = readdirSync(dir);

  const removed = new Promise<string>((resolve) => {
    void serve(testCommands, around, { log: { ...silent, info: resolve } });
  });
  const names = await removed;
  for (const each of gone) expect(names).toContain(each);
  const stays = before.filter((each) => !gone.includes(each));
  expect(readdirSync(dir).sort()).toEqual([...stays, "ipc-0123456789abcdef-2.sock"].sort());
  expect((await (await live.dial()).ask("ping")).success).toBe(true);
});

test("another user's socket stays", async () => {
  const dir = await temporaryFolder();
  const pid = await deadSocket(join(dir, name(1)));
  writeFileSync(join(dir, `.gone-${pid}-0123abcd`), "");
  expect(await sweep(dir, uid + 1, never)).toEqual([]);
  expect(lstatSync(join(dir, name(1))).isSocket()).toBe(true);
  expect(existsSync(join(dir, ".lock"))).toBe(false);
});

test("a hundred dead windows are removed, in batches; none after the sweep is given up", async () => {
  const dir = await temporaryFolder();
  const names = Array.from({ length: 100 }, (_, i) => name(i));
  await deadSocket(...names.map((each) => join(dir, each)));
  const closed = AbortSignal.abort();
  expect(await sweep(dir, uid, closed)).toEqual([]);
  expect(readdirSync(dir)).toHaveLength(100);
  expect((await sweep(dir, uid, never)).sort()).toEqual(names);
  expect(readdirSync(dir)).toEqual([]);
});

test("a sweeper that was stopped between looking and deleting puts back what has the name by then", async () => {
  const dir = await temporaryFolder();
  const path = join(dir, name(1));
  await deadSocket(path);
  const seen = lstatSync(path, { bigint: true });
  renameSync(path, `${path}.kept`); // keeps its inode from being used again
  const live = createServer((socket) => socket.end());
  onTestFinished(() => void live.close());
  await new Promise<void>((resolve) => live.listen(path, resolve));
  await removeSeen(path, seen);
  expect(await connectError(path)).toBe("");
  expect(readdirSync(dir).sort()).toEqual([name(1), `${name(1)}.kept`]);
});

test("two sweeps and a window that binds at once, twenty times: the window stays", async () => {
  const around = await surroundings();
  const dir = directory(around);
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const own = join(dir, "ipc-0123456789abcdef.sock");
  for (let round = 0; round < 20; round++) {
    await deadSocket(own, ...[1, 2, 3].map((i) => join(dir, name(i))));
    const [{ server, address, dial }] = await Promise.all([
      serve(testCommands, around),
      sweep(dir, uid, never),
      sweep(dir, uid, never),
    ]);
    expect(address).toBe(own);
    const client = await dial();
    expect((await client.ask("ping")).success).toBe(true);
    client.close();
    await server.close();
    expect(readdirSync(dir).filter(isName)).toEqual([]);
  }
});
