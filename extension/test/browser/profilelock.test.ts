// The lock of a profile, with a real Chromium that holds it.
import { lstatSync, readlinkSync, symlinkSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { findEndpoint } from "../../src/core/browser/discovery";
import { profileOf, unlock } from "../../src/core/browser/profilelock";
import { endBrowser, launchBrowser } from "../support/browser";
import { temporaryFolder } from "../support/window";

const never = new AbortController().signal;
const launch = { type: "pwa-chrome", request: "launch", name: "Shop" };
const ours = "/storage/w1/publisher.ours";

test("the lock that a killed browser left is removed, a running browser's is kept", async () => {
  const dir = await temporaryFolder();
  const lock = join(dir, "SingletonLock");
  expect(await unlock(dir)).toBe(false); // nothing there
  const browser = launchBrowser(dir);
  await findEndpoint({ via: "injected", userDataDir: dir }, never);
  expect(readlinkSync(lock)).toBe(`${hostname()}-${browser.pid}`);
  expect(await unlock(dir)).toBe(false);
  expect(lstatSync(lock).isSymbolicLink()).toBe(true);
  await endBrowser(browser);
  expect(lstatSync(lock).isSymbolicLink()).toBe(true);
  expect(await unlock(dir)).toBe(true);
  expect(() => lstatSync(lock)).toThrow("ENOENT");
});

test("a browser that is about to end is waited for", async () => {
  const dir = await temporaryFolder();
  const browser = launchBrowser(dir);
  await findEndpoint({ via: "injected", userDataDir: dir }, never);
  const unlocked = unlock(dir);
  await endBrowser(browser);
  expect(await unlocked).toBe(true);
});

test("a lock of another machine and what is no lock stay", async () => {
  for (const target of ["elsewhere-1", `${hostname()}-x`, `${hostname()}-0`, hostname()]) {
    const dir = await temporaryFolder();
    symlinkSync(target, join(dir, "SingletonLock"));
    expect(await unlock(dir)).toBe(false);
    expect(readlinkSync(join(dir, "SingletonLock"))).toBe(target);
  }
});

test.each([
  ["the default", {}, "/storage/w1/ms-vscode.js-debug/.profile"],
  ["asked for", { userDataDir: true }, "/storage/w1/ms-vscode.js-debug/.profile"],
  ["without a screen", { runtimeArgs: ["--headless"] }, "/storage/w1/ms-vscode.js-debug/.headless-profile"],
  ["of the user's own", { userDataDir: "/home/dev/profile/" }, "/home/dev/profile"],
  ["in the folder", { userDataDir: "${workspaceFolder}/profile" }, "/shop/profile"],
  ["of another variable", { userDataDir: "${env:HOME}/profile" }, undefined],
  ["none", { userDataDir: false }, undefined],
  ["of an attach", { request: "attach" }, undefined],
  ["of another debugger", { type: "node" }, undefined],
])("the profile %s", (_, more, profile) => {
  expect(profileOf({ ...launch, ...more }, "/shop", ours)).toBe(profile);
});

test("without a folder, or a place for the workspace's storage, the profile is not known", () => {
  expect(profileOf({ ...launch, userDataDir: "${workspaceFolder}/profile" }, undefined, ours)).toBeUndefined();
  expect(profileOf(launch, "/shop", undefined)).toBeUndefined();
});
