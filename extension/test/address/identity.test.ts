import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { identify, onDisk } from "../../src/core/address/address";
import { canonical, hashOf, PathError, spell } from "../../src/core/address/identity";
import { identityVectors } from "../support/vectors";
import { temporaryFolder } from "../support/window";

const systems = { linux: "linux", darwin: "darwin", windows: "win32" } as const;

for (const [system, platform] of Object.entries(systems) as [keyof typeof systems, NodeJS.Platform][]) {
  describe(`identity vectors of ${system}`, () => {
    const vectors = identityVectors(system);
    test("are there", () => expect(vectors.length).toBeGreaterThan(10));
    test.each(vectors)("$name", async (vector) => {
      const path = vector.hex === undefined ? (vector.path ?? "") : new Uint8Array(Buffer.from(vector.hex, "hex"));
      if (vector.error !== undefined) {
        expect(() => spell(path, platform)).toThrow(new PathError(vector.error as PathError["fault"]).message);
        return;
      }
      expect(spell(path, platform)).toBe(vector.canonical);
      expect(await hashOf(vector.canonical ?? "")).toBe(vector.hash);
    });
  });
}

test("the known digests of XXH3-64", async () => {
  expect(await hashOf("")).toBe("2d06800538d394c2");
  expect(await hashOf("/home/dev/shop")).toMatch(/^[0-9a-f]{16}$/);
});

test("a lone surrogate is not UTF-8", () => {
  expect(() => spell("/home/\ud800", "linux")).toThrow("not_utf8");
});

describe("a window's identity", () => {
  test("resolves links and trailing separators", async () => {
    const dir = await canonical(await temporaryFolder());
    await mkdir(join(dir, "shop"));
    await symlink(join(dir, "shop"), join(dir, "link"));
    const { workspace, folders, key } = await identify(undefined, [`${dir}/link/`], 42);
    expect(workspace).toBe(join(dir, "shop"));
    expect(folders).toEqual([join(dir, "shop")]);
    expect(key).toBe(await hashOf(join(dir, "shop")));
  });

  test("is the workspace file where there is one", async () => {
    const dir = await canonical(await temporaryFolder());
    await writeFile(join(dir, "all.code-workspace"), "{}");
    await mkdir(join(dir, "a"));
    const { workspace, folders } = await identify(join(dir, "all.code-workspace"), [join(dir, "a")], 42);
    expect(workspace).toBe(join(dir, "all.code-workspace"));
    expect(folders).toEqual([join(dir, "a")]);
  });

  test("leaves out folders that do not exist", async () => {
    const dir = await canonical(await temporaryFolder());
    const { workspace, folders } = await identify(undefined, [join(dir, "gone"), dir], 42);
    expect(workspace).toBe(dir);
    expect(folders).toEqual([dir]);
  });

  test("is its process without a folder", async () => {
    expect(await identify(undefined, [], 42)).toEqual({ workspace: null, folders: [], key: "pid-42" });
  });
});

describe("what of a workspace counts", () => {
  const place = (scheme: string, fsPath: string) => ({ scheme, fsPath });
  const shop = place("file", "/home/dev/shop");

  test("nothing is open", () => {
    expect(onDisk(undefined, [])).toEqual({ folders: [] });
  });

  test("a folder", () => {
    expect(onDisk(undefined, [shop])).toEqual({ folders: ["/home/dev/shop"] });
  });

  test.each(["file", "untitled"])("a workspace file of scheme %s, and its folders in their order", (scheme) => {
    const lib = place("file", "/home/dev/lib");
    expect(onDisk(place(scheme, "/home/dev/all.code-workspace"), [shop, lib])).toEqual({
      file: "/home/dev/all.code-workspace",
      folders: ["/home/dev/shop", "/home/dev/lib"],
    });
  });

  test.each(["vscode-vfs", "vscode-remote", "http", "tmp"])("no workspace file of scheme %s", (scheme) => {
    expect(onDisk(place(scheme, "/all.code-workspace"), [shop])).toEqual({ folders: ["/home/dev/shop"] });
  });

  test("folders of other file systems do not count, wherever they stand", () => {
    const virtual = place("vscode-vfs", "/github/shop");
    expect(onDisk(undefined, [virtual, shop, place("untitled", "/new")])).toEqual({ folders: ["/home/dev/shop"] });
    expect(onDisk(undefined, [virtual])).toEqual({ folders: [] });
  });
});
