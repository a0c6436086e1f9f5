// A web shop to debug: a folder with a launch configuration, and the server of its pages.
import { cpSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Run } from "./run";

const pages = fileURLToPath(new URL("../workspace", import.meta.url));
const types: Record<string, string> = { ".html": "text/html", ".js": "text/javascript" };

export const browserArgs = [
  "--headless=new",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  // The address bar's hidden pages, half of what a start costs.
  "--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup",
];

export interface Shop {
  folder: string;
  url: string;
  close(): Promise<void>;
}

/** Makes the folder root/name, with a launch configuration for its page, and its own settings. */
export async function openShop(run: Run, name: string, settings: Record<string, unknown> = {}): Promise<Shop> {
  const folder = join(realpathSync(run.root), name);
  mkdirSync(join(folder, ".vscode"), { recursive: true });
  cpSync(pages, folder, { recursive: true });
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://shop");
    const file = pathname === "/" ? "index.html" : pathname.slice(1);
    const type = types[extname(file)];
    if (!type || file.includes("/")) {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, { "content-type": type }).end(readFileSync(join(folder, file)));
  });
  const url = await listen(server);
  const shop = {
    type: "chrome",
    request: "launch",
    name: "Shop",
    url: `${url}?${name}`,
    webRoot: "${workspaceFolder}",
    browserLaunchLocation: "workspace",
    runtimeExecutable: run.browser,
    runtimeArgs: browserArgs,
  };
  const launch = { version: "0.2.0", configurations: [shop] };
  writeFileSync(join(folder, ".vscode", "launch.json"), JSON.stringify(launch, undefined, 2));
  writeFileSync(join(folder, ".vscode", "settings.json"), JSON.stringify(settings));
  return { folder, url, close: () => close(server) };
}

function listen(server: Server): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`));
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
