// A window of a user whom the system does not know, as in containers that run under any uid: for root,
// who can start such a process.
import { spawnSync } from "node:child_process";
import { chownSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { bundle } from "../support/program";
import { temporaryFolder } from "../support/window";

const nobodys = 54_321;

const program = `
  import { createServer } from "node:net";
  import { surroundings } from "./src/core/address/address";
  import { bind } from "./src/core/address/bind";
  const server = createServer();
  bind(server, "0123456789abcdef", surroundings()).then(
    async ({ address, release }) => {
      console.log(address);
      await release();
      server.close();
    },
    (error) => console.log(error.message),
  );`;

test.runIf(process.getuid?.() === 0)("a user without a name or a home has a window, given a directory", async () => {
  const folder = await temporaryFolder();
  chownSync(folder, nobodys, nobodys);
  const input = await bundle(program);
  const found = (env: NodeJS.ProcessEnv) => {
    const { stdout, stderr } = spawnSync(process.execPath, ["-"], {
      uid: nobodys,
      env,
      input,
      encoding: "utf8",
      cwd: "/",
    });
    return stdout + stderr;
  };
  const name = join("browser-coordinator-mcp", "ipc-0123456789abcdef.sock\n");
  expect(found({ XDG_DATA_HOME: folder })).toBe(join(folder, name));
  expect(found({ HOME: folder })).toBe(join(folder, ".local", "share", name));
  expect(found({})).toContain("neither XDG_DATA_HOME nor HOME is an absolute path");
});
