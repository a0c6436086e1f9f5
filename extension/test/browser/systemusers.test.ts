// Who else uses this machine, asked of the system itself, with processes of real other users.
import { spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, existsSync, readdirSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { otherUsers } from "../../src/core/browser/systemusers";
import { bundle } from "../support/program";
import { noSecondUser, SecondUser } from "../support/seconduser";
import { temporaryFolder } from "../support/window";

let bob: SecondUser;
let program: string;

beforeAll(async () => {
  if (noSecondUser) return;
  bob = SecondUser.make();
  program = await bundle(
    'import { otherUsers } from "./src/core/browser/systemusers"; ' +
      "otherUsers().then(JSON.stringify, (e) => e.message).then(console.log)",
  );
});

afterAll(async () => bob?.remove());

const sleep = (user: SecondUser) => user.run("sleep", ["600"]);

test("the system can be asked", async () => {
  expect(Array.isArray(await otherUsers())).toBe(true);
});

test("a user counts while a process of theirs runs, and not without one", async (context) => {
  if (noSecondUser) context.skip(noSecondUser);
  expect(await otherUsers()).not.toContain(bob.name);
  await sleep(bob);
  expect(await otherUsers()).toContain(bob.name);
  await bob.leave();
  expect(await otherUsers()).not.toContain(bob.name);
});

test("who runs a program with root's rights counts too", async (context) => {
  if (noSecondUser) context.skip(noSecondUser);
  const folder = await temporaryFolder();
  const privileged = join(folder, "sleep");
  copyFileSync("/bin/sleep", privileged);
  chmodSync(privileged, 0o4755);
  chmodSync(folder, 0o755);
  await bob.run(privileged, ["600"]);
  expect(await otherUsers()).toContain(bob.name);
  await bob.leave();
});

test("nobody, services and ids without an account do not count", async (context) => {
  if (noSecondUser) context.skip(noSecondUser);
  const before = await otherUsers();
  for (const uid of [65534, 999, 54_321]) {
    const user = SecondUser.ofId(uid);
    onTestFinished(() => user.remove());
    await sleep(user);
  }
  expect(await otherUsers()).toEqual(before);
});

test("for that user neither root nor they themselves count", async (context) => {
  if (noSecondUser) context.skip(noSecondUser);
  const others = JSON.parse(await bob.node(program));
  expect(others).not.toContain("root");
  expect(others).not.toContain(bob.name);
});

/** What the program answers in its own namespaces. */
function apart(script: string, ...namespaces: string[]): string {
  const { stdout, stderr, status } = spawnSync("unshare", [...namespaces, "--fork", "sh", "-c", script], {
    input: program,
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(stderr);
  return stdout.trim();
}

const noNamespaces = () =>
  noSecondUser ??
  (spawnSync("unshare", ["--mount", "--pid", "--fork", "true"]).status === 0
    ? undefined
    : "this system lets nobody make namespaces");

test("where the system hides the processes of others, there is no answer", async (context) => {
  const why = noNamespaces();
  if (why) context.skip(why);
  const node = `setpriv --reuid ${bob.uid} --regid ${bob.uid} --clear-groups ${process.execPath} -`;
  for (const hidepid of [1, 2]) {
    expect(apart(`mount -t proc -o hidepid=${hidepid} proc /proc && ${node}`, "--mount")).toMatch(/^the system hides/);
  }
});

test("in a container with the network of its host there is no answer", async (context) => {
  const why = noNamespaces();
  if (why) context.skip(why);
  if (!readdirSync("/sys/class/net").some((name) => existsSync(`/sys/class/net/${name}/device`))) {
    context.skip("this is a container with its own network");
  }
  const answer = apart(`${process.execPath} -`, "--mount", "--pid", "--mount-proc");
  expect(answer).toMatch(/^processes that are not listed here share/);
});

test("the number that stands for all processes is the system's own", (context) => {
  if (process.platform !== "linux") context.skip("only Linux has namespaces");
  const own = readlinkSync("/proc/self/ns/pid");
  // Only there is the kernel's own process that starts its threads, with the number 2.
  const { stdout } = spawnSync("cat", ["/proc/2/comm"], { encoding: "utf8" });
  expect(own === "pid:[4026531836]").toBe(stdout === "kthreadd\n");
});
