// A disk that ignores case stands in for one: a Linux test machine has none.
import { expect, test } from "vitest";
import { type Disk, nameOnDisk } from "../../src/core/files/diskcase";

const tree = ["/Users", "/Users/Dev", "/Users/Dev/Shop", "/Users/locked", "/Users/locked/Deep"];
const lists: Record<string, string[]> = {
  "/": ["Users"],
  "/users/": ["Dev", "locked"],
  "/users/dev/": ["Shop", "other"],
};

const ignoring: Disk = {
  file: async (path) => tree.find((each) => each.toLowerCase() === path.toLowerCase()),
  names: async (dir) => {
    const list = lists[dir.toLowerCase()];
    if (!list) throw new Error("permission denied");
    return list;
  },
};

test.each([
  ["/", "/"],
  ["/Users/Dev/Shop", "/Users/Dev/Shop"],
  ["/users/dev/shop", "/Users/Dev/Shop"],
  ["/USERS/DEV/sHOP", "/Users/Dev/Shop"],
  ["/users/locked/deep", "/Users/locked/deep"],
])("%s is %s", async (asked, expected) => expect(await nameOnDisk(asked, ignoring)).toBe(expected));

test("where case counts nothing is read", async () => {
  const counting: Disk = {
    file: async (path) => (path === "/tmp" || path === "/tmp/Shop" ? path : undefined),
    names: async (dir) => expect.unreachable(`it read ${dir}`),
  };
  expect(await nameOnDisk("/tmp/Shop", counting)).toBe("/tmp/Shop");
});
