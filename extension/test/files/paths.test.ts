// A folder that is opened by a symbolic link has two names: the editor's and the window's.
import { mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { toEditor, windowPaths } from "../../src/core/files/paths";
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
