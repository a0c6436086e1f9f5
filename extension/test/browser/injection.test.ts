import { describe, expect, test } from "vitest";
import { endpointSource } from "../../src/core/browser/discovery";
import { inject, isBrowserType } from "../../src/core/browser/injection";

const launch = {
  type: "pwa-chrome",
  request: "launch",
  name: "Shop",
  userDataDir: "/tmp/profile",
  runtimeArgs: ["--x"],
};

describe("a port is added", () => {
  test.each([
    ["to a Chrome launch", launch],
    ["to an Edge launch", { ...launch, type: "pwa-msedge" }],
    ["where there are no arguments", { ...launch, runtimeArgs: null }],
    ["where the port is 0, js-debug's default", { ...launch, port: 0 }],
    ["where the browser runs beside the workspace", { ...launch, browserLaunchLocation: "workspace" }],
    ["where useWebView is off", { ...launch, useWebView: false }],
  ])("%s", (_, configuration) => {
    const before = structuredClone(configuration);
    const injection = inject(configuration, true);
    const args = configuration.runtimeArgs ?? [];
    expect(injection).toEqual({
      configuration: {
        ...configuration,
        runtimeArgs: [...args, "--remote-debugging-pipe", "--remote-debugging-port=0"],
      },
      userDataDir: "/tmp/profile",
    });
    expect(configuration).toEqual(before);
  });
});

describe("nothing is changed", () => {
  test.each([
    ["for Node", { ...launch, type: "pwa-node" }],
    ["for the integrated browser", { ...launch, type: "pwa-editor-browser" }],
    ["for a page of a session", { ...launch, __pendingTargetId: "7" }],
    ["when it attaches", { ...launch, request: "attach", port: 9222 }],
    ["when the user has a port", { ...launch, port: 9222 }],
    ["when the user has a port, written as text", { ...launch, port: "9222" }],
    ["when the user has a port argument", { ...launch, runtimeArgs: ["--remote-debugging-port=9222"] }],
    ["when the user has a pipe argument", { ...launch, runtimeArgs: ["--remote-debugging-pipe"] }],
    ["when the user has an address argument", { ...launch, runtimeArgs: ["--remote-debugging-address=0.0.0.0"] }],
    ["for the default profile", { ...launch, userDataDir: false }],
    ["when js-debug has not resolved the profile", { ...launch, userDataDir: true }],
    ["when the browser runs elsewhere", { ...launch, browserLaunchLocation: "ui" }],
    ["for a WebView2", { ...launch, type: "pwa-msedge", useWebView: true }],
    ["when js-debug needs its own port", { ...launch, inspectUri: "{wsProtocol}://…" }],
  ])("%s", (_, configuration) => {
    expect(inject(configuration, true)).toEqual({ skipped: expect.any(String) });
  });

  test("before the workspace is trusted", () => {
    expect(inject(launch, false)).toHaveProperty("skipped");
  });
});

describe("where the endpoint is looked for", () => {
  const injected = inject(launch, true);
  const both = ["127.0.0.1", "::1"];
  test.each<[string, Record<string, unknown>, unknown]>([
    [
      "in the profile after an injection",
      "configuration" in injected ? injected.configuration : {},
      { via: "injected", userDataDir: "/tmp/profile" },
    ],
    ["at the user's port", { ...launch, port: 9222 }, { via: "configured", hosts: both, port: 9222 }],
    [
      "at the port argument",
      { ...launch, runtimeArgs: ["--remote-debugging-port=9333"] },
      { via: "configured", hosts: both, port: 9333 },
    ],
    [
      "in the profile for the user's port 0",
      { ...launch, runtimeArgs: ["--remote-debugging-port=0"] },
      { via: "configured", userDataDir: "/tmp/profile" },
    ],
    [
      "at the address of an attach",
      { request: "attach", address: "127.0.0.1", port: 9222 },
      { via: "attached", hosts: ["127.0.0.1"], port: 9222 },
    ],
    [
      "on loopback when an attach has no address",
      { request: "attach", port: 9222 },
      { via: "attached", hosts: both, port: 9222 },
    ],
    ["nowhere for another machine", { request: "attach", address: "10.0.0.7", port: 9222 }, undefined],
    [
      "nowhere for an attach on the user's side",
      { request: "attach", port: 9222, browserAttachLocation: "ui" },
      undefined,
    ],
    ["nowhere for a launch on the user's side", { ...launch, port: 9222, browserLaunchLocation: "ui" }, undefined],
    ["nowhere where the port was not added", launch, undefined],
    ["nowhere for the default profile", { ...launch, userDataDir: false }, undefined],
  ])("%s", (_, configuration, expected) => {
    expect(endpointSource(configuration)).toEqual(expected);
  });
});

test("browser types", () => {
  expect(
    ["chrome", "pwa-chrome", "msedge", "pwa-msedge", "editor-browser", "pwa-editor-browser"].every(isBrowserType),
  ).toBe(true);
  expect(["node", "pwa-node", "pwa-extensionHost", "python", ""].some(isBrowserType)).toBe(false);
});
