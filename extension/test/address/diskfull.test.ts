// A window on a full disk, in its own mount namespace: for Linux, and
// where such a namespace is allowed (root, as in a container).
import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { hang } from "../support/hang";
import { bundle } from "../support/program";
import { temporaryFolder } from "../support/window";

const allowed = process.platform === "linux" && spawnSync("unshare", ["-m", "true"]).status === 0;

const program = `
  import { createServer } from "node:net";
  import { surroundings } from "./src/core/address/address";
  import { bind } from "./src/core/address/bind";
  bind(createServer(), "0123456789abcdef", surroundings()).then(
    () => console.log("bound"),
    (error) => console.log(error.message),
  );`;

test.runIf(allowed).each([
  ["no inode for the lock", "mount -t tmpfs -o nr_inodes=2 none $DISK"],
  ["no inode for the socket's folder", "mount -t tmpfs -o nr_inodes=3 none $DISK"],
  ["no inode for the socket", "mount -t tmpfs -o nr_inodes=4 none $DISK"],
  ["no block for the lock", "mount -t tmpfs -o size=8k none $DISK && { cat /dev/zero >$DISK/fill; true; } 2>/dev/null"],
])("%s: the error names it, and nothing is left", async (_, fill) => {
  const folder = await temporaryFolder();
  const disk = join(folder, "disk");
  mkdirSync(disk);
  const steps =
    `${fill} && mkdir -m 700 $DISK/browser-coordinator-mcp && ` +
    `"$0" - && echo "left:" $(ls -A $DISK/browser-coordinator-mcp)`;
  const { stdout, stderr } = spawnSync("unshare", ["-m", "sh", "-c", steps, process.execPath], {
    input: await bundle(program),
    env: { ...process.env, DISK: disk, XDG_DATA_HOME: disk },
    encoding: "utf8",
    timeout: hang,
  });
  expect(stderr).toBe("");
  expect(stdout).toMatch(/^(?:listen )?ENOSPC: no space left on device.*\nleft:\n$/);
});
