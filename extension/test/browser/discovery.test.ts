// Finding the endpoint, with a real Chromium at its end.
import { spawnSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ask, whenEnded } from "../../src/core/browser/browserurl";
import { type EndpointSource, findEndpoint, removeStalePortFile } from "../../src/core/browser/discovery";
import { portFlag } from "../../src/core/browser/injection";
import { endBrowser, launchBrowser } from "../support/browser";
import { hang } from "../support/hang";
import { bundle } from "../support/program";
import { temporaryFolder } from "../support/window";

const never = new AbortController().signal;

function inProfile(userDataDir: string): EndpointSource {
  return { via: "injected", userDataDir };
}

/** Something that answers /json/version with the given body. */
async function fakeBrowser(body: string, status = 200): Promise<number> {
  const server = createServer((_, response) => response.writeHead(status).end(body));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

test("a browser with a pipe and a port is found through its profile", async () => {
  const dir = await temporaryFolder();
  launchBrowser(dir); // the search begins before there is a file
  const found = await findEndpoint(inProfile(dir), never);
  expect(found.url).toMatch(/^ws:\/\/127\.0\.0\.1:[0-9]+\/devtools\/browser\/[0-9a-f-]{36}$/);
  expect(found.product).toMatch(/^(Headless)?Chrome\//);
  expect(await ask("127.0.0.1", Number(new URL(found.url).port))).toEqual(found);
});

test("the file that a dead browser left is not believed, and the new browser is waited for", async () => {
  const dir = await temporaryFolder();
  writeFileSync(join(dir, "DevToolsActivePort"), "1\n/devtools/browser/00000000-0000-0000-0000-000000000000");
  const search = findEndpoint(inProfile(dir), never);
  launchBrowser(dir);
  expect((await search).url).not.toContain("00000000-0000");
});

test("the file whose port another browser has by now is not believed", async () => {
  const [own, other] = [await temporaryFolder(), await temporaryFolder()];
  launchBrowser(other);
  const found = await findEndpoint(inProfile(other), never);
  const { port } = new URL(found.url);
  writeFileSync(join(own, "DevToolsActivePort"), `${port}\n/devtools/browser/00000000-0000-0000-0000-000000000000`);
  const search = new AbortController();
  const answer = findEndpoint(inProfile(own), search.signal);
  search.abort();
  await expect(answer).rejects.toThrow("no browser has named its port");
});

test("an old file is removed before a launch, a running browser's is kept", async () => {
  const dir = await temporaryFolder();
  const file = join(dir, "DevToolsActivePort");
  await removeStalePortFile(dir); // nothing there
  writeFileSync(file, "1\n/devtools/browser/00000000-0000-0000-0000-000000000000");
  await removeStalePortFile(dir);
  expect(existsSync(file)).toBe(false);
  launchBrowser(dir);
  await findEndpoint(inProfile(dir), never);
  await removeStalePortFile(dir);
  expect(existsSync(file)).toBe(true);
});

test("a session that ends while its browser is searched ends the search", async () => {
  const search = new AbortController();
  const answer = findEndpoint(inProfile(await temporaryFolder()), search.signal);
  search.abort();
  await expect(answer).rejects.toThrow("no browser has named its port");
});

test("a browser that never comes is given up", async () => {
  await expect(findEndpoint(inProfile(await temporaryFolder()), never)).rejects.toThrow(
    "no browser has named its port",
  );
});

// The limit is that of a user namespace of its own.
const limited = [
  "unshare",
  "-Ur",
  "sh",
  "-c",
  'echo 0 >/proc/sys/user/max_inotify_watches && exec "$@"',
  "sh",
] as const;
const canLimit = process.platform === "linux" && spawnSync(limited[0], [...limited.slice(1), "true"]).status === 0;

test.runIf(canLimit)(
  "where nothing more can be watched a browser that runs is found, else the error says it",
  async () => {
    const [running, empty] = [await temporaryFolder(), await temporaryFolder()];
    launchBrowser(running);
    const { url } = await findEndpoint(inProfile(running), never);
    const input = await bundle(`
    import { findEndpoint } from "./src/core/browser/discovery";
    const find = (userDataDir) => findEndpoint({ via: "injected", userDataDir }, new AbortController().signal);
    const [running, empty] = process.argv.slice(2);
    find(running).then(({ url }) => console.log(url), console.log).then(() => find(empty)).catch(console.log);`);
    const args = [...limited.slice(1), process.execPath, "-", running, empty];
    const { stdout } = spawnSync(limited[0], args, { input, encoding: "utf8", timeout: hang });
    const [found, error] = stdout.split("\n");
    expect(found).toBe(url);
    expect(error).toMatch(/no browser has named its port in .*, and the folder cannot be watched: ENOSPC/);
  },
);

test("the user's own port", async () => {
  const dir = await temporaryFolder();
  launchBrowser(dir, [portFlag]);
  const { url } = await findEndpoint(inProfile(dir), never);
  const port = Number(new URL(url).port);
  expect((await findEndpoint({ via: "attached", hosts: ["::1", "127.0.0.1"], port }, never)).url).toBe(url);
});

test("a browser that is killed is noticed, without a poll", async () => {
  const dir = await temporaryFolder();
  const browser = launchBrowser(dir);
  const { url } = await findEndpoint(inProfile(dir), never);
  const gone = new Promise<void>((resolve) => whenEnded(url, resolve));
  await endBrowser(browser);
  await gone;
});

test("no event after the watch is stopped", async () => {
  const dir = await temporaryFolder();
  const browser = launchBrowser(dir);
  const { url } = await findEndpoint(inProfile(dir), never);
  let notified = false;
  const stop = whenEnded(url, () => {
    notified = true;
  });
  const other = new Promise<void>((resolve) => whenEnded(url, resolve));
  stop();
  await endBrowser(browser);
  await other;
  expect(notified).toBe(false);
});

test.each([
  ["nothing", "", 200],
  ["no JSON", "<html>", 200],
  ["no endpoint", "{}", 200],
  ["an error", "{}", 500],
  ["far too much", `{"x":"${"y".repeat(100_000)}"}`, 200],
  ["half an endpoint", '{"webSocketDebuggerUrl":"ws://x/devtools/browser/7"', 200],
])("a server that answers %s is no browser, and no error has more than its host and port", async (_, body, status) => {
  const port = await fakeBrowser(body, status);
  const failure = await ask("127.0.0.1", port).catch((error: Error) => error.message);
  expect(failure).toMatch(new RegExp(`^no browser endpoint at 127\\.0\\.0\\.1:${port}(: it[^/]*)?$`));
});

test("the endpoint's host is the one that was asked, whatever the server reports", async () => {
  const port = await fakeBrowser('{"webSocketDebuggerUrl":"ws://evil.example:1/devtools/browser/7"}');
  expect(await ask("127.0.0.1", port)).toEqual({ url: `ws://127.0.0.1:${port}/devtools/browser/7` });
});
