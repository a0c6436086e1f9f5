// A folder that is opened by a symbolic link has two names: the editor's and the window's.
import { mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { toEditor, toWindow } from "../src/core/places";
import { temporaryFolder } from "./support/window";

test("paths are told by their canonical name and taken by either", async () => {
  const root = await temporaryFolder();
  const [real, link] = [join(root, "real"), join(root, "link")];
  await mkdir(real);
  await symlink(real, link);
  expect(await toWindow(join(link, "a.ts"), [link])).toBe(join(real, "a.ts"));
  expect(await toWindow(join(root, "b.ts"), [link])).toBeUndefined();
  expect(await toEditor(join(real, "a.ts"), [link])).toBe(join(link, "a.ts"));
  expect(await toEditor(join(link, "a.ts"), [link])).toBe(join(link, "a.ts"));
  expect(await toEditor("src/a.ts", [link])).toBe(join(link, "src", "a.ts"));
  expect(await toEditor(join(root, "b.ts"), [link])).toBe(join(root, "b.ts"));
  await expect(toEditor("a.ts", [])).rejects.toThrow("absolute path");
});
