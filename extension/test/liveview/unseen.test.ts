// Whether the user sees a page, asked of a real Chromium.
import { EventEmitter, once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { Cdp } from "../../src/core/browser/cdp";
import { findEndpoint } from "../../src/core/browser/discovery";
import { isUnseen } from "../../src/core/liveview/unseen";
import { Store } from "../../src/core/window/store";
import { launchBrowser } from "../support/browser";
import { hang } from "../support/hang";
import { temporaryFolder } from "../support/window";

const first = `<a id=go href=/second>go</a>
<script type=speculationrules>{"prerender":[{"urls":["/second"],"eagerness":"immediate"}]}</script>
<script>fetch('/prerendered').then(() => document.getElementById('go').click())</script>`;
const second = `<script>if (document.prerendering) {
  fetch('/began');
  document.addEventListener('prerenderingchange', () => fetch('/activated'));
}</script>`;

test("a page of the debugger is found by its target, also after a prerendered document's frame", async () => {
  const requested = new EventEmitter();
  const began = once(requested, "/began");
  const activated = once(requested, "/activated");
  const site = createServer((request, response) => {
    requested.emit(request.url ?? "");
    response.setHeader("Content-Type", "text/html");
    const answer = () => response.end(request.url === "/first" ? first : request.url === "/second" ? second : "");
    if (request.url === "/prerendered") void began.then(answer);
    else answer();
  });
  await new Promise<void>((listening) => site.listen(0, "127.0.0.1", listening));
  onTestFinished(() => site.closeAllConnections());
  onTestFinished(() => void site.close());

  const userDataDir = await temporaryFolder();
  launchBrowser(userDataDir);
  const { url } = await findEndpoint({ via: "injected", userDataDir }, AbortSignal.timeout(hang));
  const cdp = await Cdp.connect(url);
  onTestFinished(() => cdp.close());
  const address = `http://127.0.0.1:${(site.address() as AddressInfo).port}/first`;
  const { targetId } = await cdp.call("Target.createTarget", { url: address });
  await activated;

  const page = url.replace(/browser\/.*/, `page/${targetId}`);
  const direct = await Cdp.connect(page);
  const { frameTree } = await direct.call("Page.getFrameTree");
  direct.close();
  expect((frameTree as { frame: { id: string } }).frame.id).not.toBe(targetId);
  const { state } = new Store();
  expect(
    await isUnseen({ ...state, pages: [{ debugSession: "session", name: "page", url: page }] }, String(targetId)),
  ).toBe("session");
});
