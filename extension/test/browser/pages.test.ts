// The pages of a real browser, by its own events.
import { expect, onTestFinished, test } from "vitest";
import { Cdp } from "../../src/core/browser/cdp";
import { devToolsAddress, openDevTools } from "../../src/core/browser/devtools";
import { findEndpoint } from "../../src/core/browser/discovery";
import { pipeFlag, portFlag } from "../../src/core/browser/injection";
import { Pages } from "../../src/core/browser/pages";
import { silent } from "../../src/core/log";
import { Store } from "../../src/core/window/store";
import { endBrowser, launchBrowser } from "../support/browser";
import { until } from "../support/until";
import { temporaryFolder } from "../support/window";

async function browser(args: string[] = []) {
  const userDataDir = await temporaryFolder();
  const child = launchBrowser(userDataDir, [pipeFlag, portFlag, ...args]);
  const { url } = await findEndpoint({ via: "injected", userDataDir }, new AbortController().signal);
  return { child, url };
}

function watch(store: Store): Pages {
  const pages = new Pages(store, silent);
  onTestFinished(() => pages.close());
  return pages;
}

const html = (title: string) => `data:text/html,<title>${title}</title>`;

test("pages come, go elsewhere, and close, and only those that a person has opened count", async () => {
  const { child, url } = await browser();
  const store = new Store();
  const pages = watch(store);
  store.set({ browser: { url, via: "injected" } });
  expect(pages.all).toEqual([]); // nobody looks
  pages.visible = true;
  await until(pages, () => pages.all.length === 1);
  expect(pages.all).toMatchObject([{ url: "about:blank" }]);

  const cdp = await Cdp.connect(url);
  onTestFinished(() => cdp.close());
  const { targetId } = await cdp.call("Target.createTarget", { url: html("Shop") });
  await until(pages, () => pages.all.some(({ title }) => title === "Shop"));
  const { sessionId } = await cdp.call("Target.attachToTarget", { targetId, flatten: true });
  await cdp.call("Page.navigate", { url: html("Basket") }, String(sessionId));
  await until(pages, () => pages.all.some(({ id, title }) => id === targetId && title === "Basket"));

  await cdp.call("Target.openDevTools", { targetId }); // a page of the type page too
  await cdp.call("Target.closeTarget", { targetId });
  await until(pages, () => pages.all.length === 1);

  pages.visible = false;
  expect(pages.all).toEqual([]);
  pages.visible = true;
  await until(pages, () => pages.all.length === 1);
  await endBrowser(child);
  store.set({ browser: null });
  expect(pages.all).toEqual([]);
});

test("a title that a script sets is followed, however it does, and in the next document too", async () => {
  const { child, url } = await browser();
  const store = new Store();
  const pages = watch(store);
  store.set({ browser: { url, via: "injected" } });
  pages.visible = true;
  const cdp = await Cdp.connect(url);
  onTestFinished(() => cdp.close());
  const { targetId } = await cdp.call("Target.createTarget", { url: html("Loaded") });
  const titled = (title: string) =>
    until(pages, () => pages.all.some((page) => page.id === targetId && page.title === title));
  await titled("Loaded");
  const { sessionId } = await cdp.call("Target.attachToTarget", { targetId, flatten: true });
  const run = (expression: string) => cdp.call("Runtime.evaluate", { expression }, String(sessionId));
  for (const round of ["first", "second"]) {
    await run('document.querySelector("title").remove()');
    await titled(html("Loaded")); // there is none
    await run(`document.title = "${round} made"`);
    await titled(`${round} made`);
    await run(`document.title = "${round} set"`);
    await titled(`${round} set`);
    await run(`document.querySelector("title").firstChild.data = "${round} changed"`);
    await titled(`${round} changed`);
    await run(`const title = document.createElement("title"); title.append("${round} replaced");
      document.querySelector("title").replaceWith(title)`);
    await titled(`${round} replaced`);
    await run(`for (let i = 1; i <= 500; i++) document.title = "${round} " + i`);
    await titled(`${round} 500`);
    await cdp.call("Page.navigate", { url: html("Loaded") }, String(sessionId));
    await titled("Loaded");
  }
  await endBrowser(child);
});

test("a browser that only the debugger reaches has the debugger's pages", () => {
  const store = new Store();
  const pages = watch(store);
  store.set({ pages: [{ debugSession: "s", name: "Shop", url: "ws://127.0.0.1:1/secret" }] });
  expect(pages.all).toEqual([{ id: "s", title: "Shop", url: "" }]);
});

test("DevTools open beside the page; a browser without a screen is recognized", async () => {
  const hidden = await browser();
  const page = await firstPage(hidden.url);
  expect(await openDevTools(hidden.url, page)).toBe("headless");

  const seen = await browser(["--user-agent=a browser with a screen"]); // there is none here
  const cdp = await Cdp.connect(seen.url);
  onTestFinished(() => cdp.close());
  const opened = new Promise((resolve) => {
    cdp.on("Target.targetCreated", ({ targetInfo }) => {
      const { url } = targetInfo as { url: string };
      if (url.startsWith("devtools://")) resolve(url);
    });
  });
  await cdp.call("Target.setDiscoverTargets", { discover: true });
  expect(await openDevTools(seen.url, await firstPage(seen.url))).toBe("opened");
  await opened;
});

test.each([
  ["http://127.0.0.1:21234", "ws=127.0.0.1:21234/devtools/page/T"],
  ["http://127.0.0.1:21234/5ec2e7/", "ws=127.0.0.1:21234/5ec2e7/devtools/page/T"],
])("the address of DevTools through %s", (endpoint, expected) => {
  expect(devToolsAddress(endpoint, "T")).toBe(`devtools://devtools/bundled/inspector.html?${expected}`);
});

async function firstPage(url: string): Promise<string> {
  const cdp = await Cdp.connect(url);
  const { targetInfos } = await cdp.call("Target.getTargets");
  cdp.close();
  return (targetInfos as { type: string; targetId: string }[]).find(({ type }) => type === "page")?.targetId ?? "";
}

test("an endpoint that is gone is an error without its URL", async () => {
  const { child, url } = await browser();
  const cdp = await Cdp.connect(url);
  const waiting = cdp.call("Runtime.evaluate", { expression: "1" }, "nobody");
  await expect(waiting).rejects.toThrow(/^Runtime\.evaluate: .*session/i);
  await endBrowser(child);
  await cdp.closed;
  await expect(cdp.call("Browser.getVersion")).rejects.toThrow("Browser.getVersion: the browser has closed");
  const failure = await Cdp.connect(url).catch((error: Error) => error.message);
  expect(failure).toBe("the browser does not take the connection");
});

test("by the debugger alone, its page sessions are listed, and not their workers", () => {
  const store = new Store();
  const session = (id: string, parent?: string) => ({ id, name: id, type: "pwa-chrome", ...(parent && { parent }) });
  const shared = (id: string) => ({ debugSession: id, name: id, url: `ws://127.0.0.1:1/${id}` });
  store.set({
    debugSessions: [session("root"), session("page", "root"), session("worker", "page"), session("tab", "root")],
    pages: ["page", "worker", "tab"].map(shared),
  });
  expect(watch(store).all.map(({ id }) => id)).toEqual(["page", "tab"]);
});
