// Adds a port to a browser debug configuration, beside js-debug's pipe.
//
// js-debug talks to the browser that it launches over a pipe, so there is nothing for anyone else to
// connect to. With both flags Chromium keeps the pipe and opens a port of the system's choice too, and
// names it in <userDataDir>/DevToolsActivePort. See adr/0008-how-the-extension-finds-the-port.md.
import { isAbsolute } from "node:path";

export type Configuration = Readonly<Record<string, unknown>>;

export const pipeFlag = "--remote-debugging-pipe";
export const portFlag = "--remote-debugging-port=0";

/** The debug types whose sessions have a browser. */
export const browserTypes = ["chrome", "pwa-chrome", "msedge", "pwa-msedge", "editor-browser", "pwa-editor-browser"];
const launchedTypes = new Set(["chrome", "pwa-chrome", "msedge", "pwa-msedge"]);

export function isBrowserType(type: string): boolean {
  return browserTypes.includes(type);
}

/** Whether it is of a type whose browsers js-debug launches. */
export function isLaunched({ type }: Configuration): boolean {
  return typeof type === "string" && launchedTypes.has(type);
}

/** Whether it is of a tab that the user opened in the editor: the editor closes the tab when the session is stopped. */
export function isUsersTab({ type, request }: Configuration): boolean {
  return request === "attach" && (type === "editor-browser" || type === "pwa-editor-browser");
}

/** Whether the browser runs on the user's machine, and this window on another. */
export function isRemote({ request, browserLaunchLocation, browserAttachLocation }: Configuration): boolean {
  return (request === "attach" ? browserAttachLocation : browserLaunchLocation) === "ui";
}

export type Injection = { configuration: Configuration; userDataDir: string } | { skipped: string };

/** The configuration with a port, or why it can have none of ours. The argument is never changed. */
export function inject(configuration: Configuration, trusted: boolean): Injection {
  const { request, userDataDir, port, useWebView, inspectUri } = configuration;
  const skip = (why: string): Injection => ({ skipped: why });
  if (!isLaunched(configuration)) return skip("not a browser that js-debug launches");
  if ("__pendingTargetId" in configuration) return skip("a page of a session that exists already");
  if (request !== "launch") return skip("not a launch");
  if (!trusted) return skip("the workspace is not trusted");
  if (isRemote(configuration)) return skip("the browser runs on another machine");
  if (useWebView) return skip("a WebView2, not a browser");
  if (inspectUri) return skip("js-debug opens its own port for inspectUri");
  if (Number(port) > 0) return skip("the configuration has its own port");
  const args = runtimeArgs(configuration);
  if (args.some((arg) => arg.startsWith("--remote-debugging-"))) {
    return skip("the configuration has its own --remote-debugging-* argument");
  }
  if (typeof userDataDir !== "string" || !isAbsolute(userDataDir)) {
    return skip("there is no userDataDir (the browser ignores the port on its default profile)");
  }
  return { configuration: { ...configuration, runtimeArgs: [...args, pipeFlag, portFlag] }, userDataDir };
}

/** The configuration's runtimeArgs: js-debug has null where there are none. */
export function runtimeArgs(configuration: Configuration): string[] {
  const { runtimeArgs: args } = configuration;
  return Array.isArray(args) ? args.filter((arg) => typeof arg === "string") : [];
}
