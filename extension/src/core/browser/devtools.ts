// Chromium's own DevTools, on a page of this window's browser.

import { reason } from "../log";
import { Cdp } from "./cdp";

/** headless: there is no screen to open it on. unknown: a browser from before 2025, which cannot be asked. */
export type Opened = "opened" | "headless" | "unknown";

/** Opens DevTools in the browser itself, beside the page. */
export async function openDevTools(browser: string, target: string): Promise<Opened> {
  const cdp = await Cdp.connect(browser);
  try {
    if (await isHeadless(cdp)) return "headless";
    await cdp.call("Target.openDevTools", { targetId: target });
    return "opened";
  } catch (error) {
    if (reason(error).includes("wasn't found")) return "unknown";
    throw error;
  } finally {
    cdp.close();
  }
}

/** Whether the browser draws on no screen. */
export async function isHeadless(cdp: Cdp): Promise<boolean> {
  const { product, userAgent } = await cdp.call("Browser.getVersion");
  return `${product} ${userAgent}`.includes("Headless");
}

/**
 * What opens DevTools in the address bar of any Chrome of this machine. It goes through the window's
 * stable endpoint: the browser itself takes no WebSocket from devtools://, but the endpoint does.
 */
export function devToolsAddress(endpoint: string, target: string): string {
  const { host, pathname } = new URL(endpoint);
  return `devtools://devtools/bundled/inspector.html?ws=${host}${pathname.replace(/\/$/, "")}/devtools/page/${target}`;
}
