// A folder that is opened by a symbolic link has two names: the editor's and the window's.
import { mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isSamePath, relativePath, toEditor, windowPaths } from "../../src/core/files/paths";
import { temporaryFolder } from "../support/window";

test("paths are reported by their canonical name and accepted by either", async () => {
  const root = await temporaryFolder();
  const [real, link] = [join(root, "real"), join(root, "link")];
  await mkdir(real);
  await symlink(real, link);
  const toWindow = await windowPaths([link]);
  expect(toWindow(join(link, "a.ts"))).toBe(join(real, "a.ts"));
  expect(toWindow(join(root, "b.ts"))).toBeUndefined();
  expect(await toEditor(join(real, "a.ts"), [link])).toBe(join(link, "a.ts"));
  expect(await toEditor(join(link, "a.ts"), [link])).toBe(join(link, "a.ts"));
  expect(await toEditor("src/a.ts", [link])).toBe(join(link, "src", "a.ts"));
  expect(await toEditor(join(root, "b.ts"), [link])).toBe(join(root, "b.ts"));
  await expect(toEditor("a.ts", [])).rejects.toThrow("absolute path");
});

test.each<[NodeJS.Platform, string, string, string | undefined]>([
  ["win32", "C:\\Shop", "c:\\shop\\src\\Cart.ts", "src\\Cart.ts"],
  ["win32", "c:\\shop", "C:/Shop/./src/../Cart.ts", "Cart.ts"],
  ["win32", "c:\\shop", "c:\\shop2\\a.ts", undefined],
  ["win32", "c:\\shop", "d:\\shop\\a.ts", undefined],
  ["win32", "\\\\Server\\share", "\\\\server\\Share\\a.ts", "a.ts"],
  ["darwin", "/Users/dev/Shop", "/users/dev/shop/src/Cart.ts", "src/Cart.ts"],
  ["darwin", "/Users/dev/Shop", "/users/dev/shop2/a.ts", undefined],
  ["linux", "/shop", "/shop/src/Cart.ts", "src/Cart.ts"],
  ["linux", "/Shop", "/shop/a.ts", undefined],
])("on %s the way from %s to %s is %s", (platform, folder, path, way) => {
  expect(relativePath(folder, path, platform)).toBe(way);
  if (way !== undefined) expect(isSamePath(folder, path.slice(0, folder.length), platform)).toBe(true);
});
