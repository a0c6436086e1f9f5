// Who counts as another user of this machine, by samples of what systems report.
import { describe, expect, test } from "vitest";
import {
  type LinuxSample,
  othersOnLinux,
  othersOnMac,
  othersOnWindows,
  toLookUp,
} from "../../src/core/browser/localusers";

const accounts = {
  us: "dev:x:1000:1000::/home/dev:/bin/bash",
  bob: "bob:x:1001:1001:Bob:/home/bob:/bin/zsh",
  carol: "carol:x:1002:1002::/home/carol:", // no shell means /bin/sh
  builder: "builder:x:1003:1003::/srv/builder:/usr/sbin/nologin",
  locked: "locked:x:1004:1004::/home/locked:/bin/false",
  nobody: "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin",
  postgres: "postgres:x:101:104::/var/lib/postgresql:/bin/bash",
  gdm: "gdm:x:42:42::/var/lib/gdm:/sbin/nologin",
};

function others(sample: Partial<LinuxSample>): string[] {
  const own = { uid: 1000, name: "dev" };
  const passwd = `${Object.values(accounts).join("\n")}\n`;
  return othersOnLinux({ own, processes: [], loggedIn: [], passwd, subuid: "", ...sample });
}

describe("on Linux", () => {
  test.each<[string, Partial<LinuxSample>, string[]]>([
    ["nobody does where there are only root and we", { processes: [0, 1000] }, []],
    ["a user with a process does", { processes: [0, 1000, 1001] }, ["bob"]],
    ["so do all of several", { processes: [1001, 1002, 1001] }, ["bob", "carol"]],
    ["an account without a shell does not", { processes: [1003, 1004, 65534] }, []],
    ["a service does not, whatever its shell", { processes: [101, 42] }, []],
    ["whoever is logged in does, also by a service's account", { loggedIn: [101] }, ["postgres"]],
    ["a screen that waits for a login does not", { loggedIn: [42], processes: [42] }, []],
    ["a user of a directory that is out of reach does", { loggedIn: [20001], processes: [20001] }, ["uid 20001"]],
    ["an id of a container that root has started does not", { processes: [10001] }, []],
    ["our own containers do not", { processes: [100_005], subuid: "dev:100000:65536\n1000:200000:9\n" }, []],
    ["another user's containers do", { processes: [165_541], subuid: "dev:100000:65536\nbob:165536:65536\n" }, ["bob"]],
    ["a torn /etc/subuid is no harm", { processes: [165_541], subuid: "bob\nbob:x:y\n:::\n" }, []],
  ])("%s", (_, sample, expected) => {
    expect(others(sample)).toEqual(expected);
  });

  test("for root, everybody does but root", () => {
    const own = { uid: 0, name: "root" };
    expect(others({ own, processes: [0, 1000, 101, 65534] })).toEqual(["dev"]);
    expect(others({ own, processes: [100_000], subuid: "dev:100000:65536" })).toEqual(["dev"]);
  });

  test("accounts are looked up only for those who may be people", () => {
    const own = { uid: 1000, name: "dev" };
    expect(toLookUp({ own, processes: [0, 33, 999, 1000], loggedIn: [1000, 0] })).toEqual([]);
    expect(toLookUp({ own, processes: [1001, 1001], loggedIn: [101] })).toEqual([1001, 101]);
  });
});

test("on macOS whoever has a process does, and no service", () => {
  expect(othersOnMac("    0     0\n  501   501\n   88    88\n4294967294 4294967294\n   -2    -2\n", 501)).toEqual([]);
  expect(othersOnMac("  501   501\n  502   502\n    0   503\n", 501)).toEqual(["uid 502", "uid 503"]);
  expect(othersOnMac("", 501)).toEqual([]);
});

describe("on Windows", () => {
  const whoami = [
    "",
    "USER INFORMATION",
    "----------------",
    "",
    "User Name   SID",
    "=========== ==============================================",
    "shop-pc\\dev S-1-5-21-1111111111-2222222222-3333333333-1001",
  ].join("\r\n");
  const ours = "S-1-5-21-1111111111-2222222222-3333333333-1001";
  const hives = (...sids: string[]) =>
    [".DEFAULT", "S-1-5-18", "S-1-5-19", "S-1-5-20", "S-1-5-80-1-2-3-4-5", ours, `${ours}_Classes`, ...sids]
      .map((name) => `HKEY_USERS\\${name}\r\n`)
      .join("");

  test("services and we do not count", () => expect(othersOnWindows(hives(), whoami)).toEqual([]));

  test.each([
    ["a local or domain user", "S-1-5-21-1111111111-2222222222-3333333333-1002"],
    ["whose SID begins with ours", `${ours}5`],
    ["a user of Entra ID", "S-1-12-1-1111111111-2222222222-3333333333-4444444444"],
  ])("whoever is logged in does: %s", (_, sid) => {
    expect(othersOnWindows(hives(sid, `${sid}_Classes`), whoami)).toEqual([sid]);
  });

  test("without our own SID nothing is known", () => expect(() => othersOnWindows(hives(), "")).toThrow("SID"));
});
