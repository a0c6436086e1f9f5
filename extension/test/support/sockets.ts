// Sockets of processes that were killed, or that stand still.
import { type ChildProcess, spawn } from "node:child_process";
import { lstatSync } from "node:fs";
import { onTestFinished } from "vitest";

/** Socket files whose listener was killed. Answers its pid. */
export async function deadSocket(...paths: string[]): Promise<number> {
  const child = await listener(paths);
  child.kill("SIGKILL");
  await new Promise((resolve) => child.once("exit", resolve));
  for (const path of paths) if (!lstatSync(path).isSocket()) throw new Error(`${path} is no socket`);
  return child.pid as number;
}

/** A listener that takes no connection until the test is over. */
export async function stoppedSocket(path: string): Promise<void> {
  const child = await listener([path]);
  onTestFinished(() => void child.kill("SIGKILL"));
  child.kill("SIGSTOP");
}

async function listener(paths: string[]): Promise<ChildProcess> {
  const script = `
    const paths = ${JSON.stringify(paths)};
    const listen = (path) => new Promise((up) => require("net").createServer().listen(path, up));
    Promise.all(paths.map(listen)).then(() => console.log("up"));`;
  const child = spawn(process.execPath, ["-e", script], { stdio: ["ignore", "pipe", "inherit"] });
  await new Promise((resolve) => child.stdout.once("data", resolve));
  return child;
}
