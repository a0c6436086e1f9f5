// Finds the browser-level endpoint of a browser debug session from its resolved configuration.
//
// There may be none: without a port, the session's pages have their own endpoints
// (sessions.ts).
import { type FSWatcher, watch } from "node:fs";
import { readFile, unlink } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { code, reason } from "../log";
import { ask, type Found } from "./browserurl";
import { type Configuration, isRemote, pipeFlag, portFlag, runtimeArgs } from "./injection";

export type Via = "injected" | "configured" | "attached";

/** Where to look: a port that the configuration names, or a file that will name it. */
export type EndpointSource = { via: Via; hosts: string[]; port: number } | { via: Via; userDataDir: string };

const portFile = "DevToolsActivePort";
const fileLimit = 5_000;

/** Where to look for the endpoint, by the configuration; undefined when it names no port. */
export function endpointSource(configuration: Configuration): EndpointSource | undefined {
  const { request, port, address, userDataDir } = configuration;
  if (isRemote(configuration)) return undefined;
  const number = Number(port);
  if (request === "attach") {
    if (!isPort(number)) return undefined;
    const hosts = loopback(typeof address === "string" ? address : "localhost");
    return hosts.length > 0 ? { via: "attached", hosts, port: number } : undefined;
  }
  if (isPort(number)) return { via: "configured", hosts: loopback("localhost"), port: number };
  const args = runtimeArgs(configuration);
  const flag = args.findLast((arg) => arg.startsWith("--remote-debugging-port="));
  const chosen = Number(flag?.slice("--remote-debugging-port=".length));
  if (isPort(chosen)) return { via: "configured", hosts: loopback("localhost"), port: chosen };
  if (typeof userDataDir !== "string" || !isAbsolute(userDataDir)) return undefined;
  const injected = args.includes(pipeFlag) && args.includes(portFlag);
  if (injected) return { via: "injected", userDataDir };
  return flag !== undefined || configuration.inspectUri ? { via: "configured", userDataDir } : undefined;
}

/** Finds the endpoint at a source. Throws where no browser answers there. */
export async function findEndpoint(source: EndpointSource, signal: AbortSignal): Promise<Found> {
  if ("userDataDir" in source) return fromFile(source.userDataDir, signal);
  let failure: unknown;
  for (const host of source.hosts) {
    try {
      return await ask(host, source.port);
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

/**
 * Removes what an earlier browser of this profile left behind, so that the file found there later
 * is the new browser's. A file whose browser still runs is left alone.
 */
export async function removeStalePortFile(userDataDir: string): Promise<void> {
  const stays = await fromFileNow(userDataDir).then(
    (found) => found !== undefined,
    () => false,
  );
  if (stays) return;
  await unlink(join(userDataDir, portFile)).catch((error: unknown) => {
    if (code(error) !== "ENOENT") throw error;
  });
}

async function fromFile(userDataDir: string, signal: AbortSignal): Promise<Found> {
  // AbortSignal.any would not keep a signal of AbortSignal.timeout, and one that is collected ends nothing.
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), fileLimit);
  // Watch, then look: a file that is written in between is not missed.
  const changes = changesOf(userDataDir, AbortSignal.any([signal, limit.signal]));
  try {
    for (;;) {
      const found = await fromFileNow(userDataDir).catch((error: unknown) => {
        if (code(error) === "ECONNREFUSED") return undefined; // an earlier browser's file
        throw error;
      });
      if (found) return found;
      if (await changes.next()) continue;
      const file = join(userDataDir, portFile);
      throw new Error(`no browser has named its port in ${file}${changes.problem()}`);
    }
  } finally {
    clearTimeout(timer);
    changes.close();
  }
}

/** What the file names now; undefined while it is missing, incomplete or another browser's. */
async function fromFileNow(userDataDir: string): Promise<Found | undefined> {
  let text: string;
  try {
    text = await readFile(join(userDataDir, portFile), "utf8");
  } catch (error) {
    if (code(error) === "ENOENT") return undefined;
    throw error;
  }
  const [port, path] = text.split("\n");
  if (!isPort(Number(port)) || !path?.startsWith("/devtools/browser/")) return undefined;
  const endpoint = await ask("127.0.0.1", Number(port));
  // The file outlives its browser, and another may have its port by now.
  return endpoint.url.endsWith(path) ? endpoint : undefined;
}

interface Changes {
  /** Waits for the next change; false when there will be none. */
  next(): Promise<boolean>;
  /** Why none is reported, if that is so. */
  problem(): string;
  close(): void;
}

function changesOf(dir: string, signal: AbortSignal): Changes {
  let changes = 0;
  let reported = 0;
  let wake = () => {};
  let problem: unknown; // systems limit how much can be watched
  const fail = (error: unknown) => {
    problem = error;
    wake();
  };
  let watcher: FSWatcher | undefined;
  try {
    watcher = watch(dir, (_, name) => {
      if (name !== null && name !== portFile) return;
      changes += 1;
      wake();
    }).on("error", fail);
  } catch (error) {
    fail(error);
  }
  const onAbort = () => wake();
  signal.addEventListener("abort", onAbort);
  return {
    async next() {
      if (changes === reported && !signal.aborted && problem === undefined)
        await new Promise<void>((resolve) => (wake = resolve));
      const changed = changes > reported;
      reported = changes;
      return changed;
    },
    problem: () => (problem === undefined ? "" : `, and the folder cannot be watched: ${reason(problem)}`),
    close() {
      signal.removeEventListener("abort", onAbort);
      watcher?.close();
    },
  };
}

function isPort(number: number): boolean {
  return Number.isInteger(number) && number > 0 && number <= 65_535;
}

/** The loopback addresses that a host name may mean; none for another machine. */
function loopback(host: string): string[] {
  if (host === "" || host === "localhost") return ["127.0.0.1", "::1"];
  if (host === "::1" || host === "[::1]") return ["::1"];
  return /^127\.0\.0\.1$|^0\.0\.0\.0$/.test(host) ? ["127.0.0.1"] : [];
}
