// Asks a browser's DevTools server for its browser-level endpoint, and notices when it goes.
import { get } from "node:http";
import { createConnection } from "node:net";

const askLimit = 3_000;
const answerLimit = 64 * 1024;
const noDrops = 1_000;

export interface Found {
  url: string;
  product?: string;
}

/** The endpoint at host:port. Throws where no DevTools server answers there. */
export async function ask(host: string, port: number): Promise<Found> {
  const authority = `${host.includes(":") ? `[${host}]` : host}:${port}`;
  const body = await fetchText(host, port, authority);
  const { webSocketDebuggerUrl, Browser } = parsed(body);
  if (typeof webSocketDebuggerUrl !== "string") throw new Error(`no browser endpoint at ${authority}`);
  // The path is the browser's; the rest of that URL only echoes what was asked.
  const { pathname } = new URL(webSocketDebuggerUrl);
  return { url: `ws://${authority}${pathname}`, ...(typeof Browser === "string" && { product: Browser }) };
}

/** A body that is not JSON counts as empty: the parser's error would quote it, perhaps with the endpoint. */
function parsed(body: string): Record<string, unknown> {
  try {
    return (JSON.parse(body) ?? {}) as Record<string, unknown>;
  } catch {
    return {};
  }
}

function fetchText(host: string, port: number, authority: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { host, port, path: "/json/version", headers: { Host: authority }, agent: false };
    const request = get({ ...options, signal: AbortSignal.timeout(askLimit) }, (response) => {
      if (response.statusCode !== 200) {
        reject(new Error(`no browser endpoint at ${authority}: it answers ${response.statusCode}`));
        request.destroy();
        return;
      }
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (piece: string) => {
        text += piece;
        if (text.length > answerLimit)
          request.destroy(new Error(`no browser endpoint at ${authority}: its answer is too long`));
      });
      response.on("end", () => resolve(text));
      response.on("error", reject);
    });
    request.on("error", reject);
  });
}

/**
 * Calls gone once when the server at the URL's port is no longer there, until the returned function
 * is called. An idle connection shows it: the system closes it with the browser, however that ends.
 */
export function whenEnded(url: string, notify: () => void): () => void {
  const { hostname, port } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, "");
  let stopped = false;
  let stop = () => {};
  const hold = () => {
    const start = performance.now();
    const socket = createConnection({ host, port: Number(port) });
    stop = () => socket.destroy();
    socket.on("error", () => {}); // close follows
    socket.on("close", () => void check(performance.now() - start));
    socket.resume();
    socket.unref();
  };
  const check = async (lasted: number) => {
    if (stopped) return;
    const isSame = await ask(host, Number(port)).then(
      (found) => found.url === url,
      () => false,
    );
    if (stopped) return;
    if (!isSame) notify();
    // A server that drops idle connections at once cannot be watched this way.
    else if (lasted > noDrops) hold();
  };
  hold();
  return () => {
    stopped = true;
    stop();
  };
}
