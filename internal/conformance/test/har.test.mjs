// What a session has requested, saved as a HAR, answers the same page in Playwright while the site is gone.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { chromium } from "playwright-core";
import { openWindow } from "./support/window.mjs";

const page = `<!doctype html><title>Shop</title><link rel=stylesheet href=style.css><img src=tea.png>
<p id=price></p><p id=order></p><p id=moved></p><p id=broken></p>
<script>
  const show = (id, text) => document.getElementById(id).textContent = text;
  fetch("price").then((r) => r.json()).then(({ price }) => show("price", price));
  fetch("order", { method: "POST", body: "two cups" }).then((r) => r.text()).then((text) => show("order", text));
  fetch("old").then((r) => r.text()).then((text) => show("moved", text));
  fetch("broken").catch(() => show("broken", "no answer"));
</script>`;
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

let site;
let window;
let host;

before(async () => {
  site = createServer((request, response) => {
    const answer = (type, body, headers = {}) => response.writeHead(200, { "Content-Type": type, ...headers }).end(body);
    switch (request.url) {
      case "/shop":
        response.writeHead(302, { Location: "/shop/" }).end();
        break;
      case "/shop/":
        answer("text/html", gzipSync(page), { "Content-Encoding": "gzip", "Set-Cookie": "cart=7" });
        break;
      case "/shop/style.css":
        answer("text/css", "#price { color: rgb(0, 128, 0) }");
        break;
      case "/shop/tea.png":
        answer("image/png", Buffer.from(pixel, "base64"));
        break;
      case "/shop/price":
        answer("application/json", `{"price": "7 €"}`);
        break;
      case "/shop/order":
        request.on("data", (body) => answer("text/plain", `ordered ${body}`));
        break;
      case "/shop/old":
        response.writeHead(307, { Location: "new" }).end();
        break;
      case "/shop/new":
        answer("text/plain", "moved");
        break;
      case "/shop/broken":
        request.socket.destroy();
        break;
      default:
        response.writeHead(404).end();
    }
  });
  await new Promise((done) => site.listen(0, "127.0.0.1", done));
  window = await openWindow("about:blank");
  const workspace = join(window.root, "workspace");
  host = new Client({ name: "host", version: "1" });
  const args = ["mcp", "--workspace", workspace, "--no-launch", "--caps", "network"];
  await host.connect(new StdioClientTransport({ command: join(window.bin, "coordinator"), args, cwd: workspace, env: window.env, stderr: "inherit" }));
});

after(async () => {
  await host?.close();
  await window?.close();
  site?.close();
});

async function call(name, args) {
  const { content, isError } = await host.callTool({ name: `browser_${name}`, arguments: args });
  const text = content.map((each) => each.text ?? "").join("\n");
  assert.ok(!isError, text);
  return text;
}

test("a page works offline from the HAR of a session", { timeout: 60_000 }, async () => {
  const url = `http://127.0.0.1:${site.address().port}/shop`;
  await call("navigate", { url });
  for (const text of ["7 €", "ordered two cups", "moved", "no answer"]) {
    await call("wait_for", { text });
  }
  const answer = await call("har", { filename: "shop.har" });
  const [file] = answer.match(/\/\S+shop\.har/) ?? assert.fail(answer);
  const { log } = JSON.parse(readFileSync(file, "utf8"));
  assert.equal(log.version, "1.2");
  assert.ok(log.entries.some((entry) => entry.response.cookies.some(({ name }) => name === "cart")));
  await new Promise((done) => {
    site.close(done);
    site.closeAllConnections();
  });

  const browser = await chromium.launch({ executablePath: window.browser, args: ["--no-sandbox"] });
  try {
    const opened = await browser.newPage();
    const errors = [];
    opened.on("pageerror", (error) => errors.push(error.message));
    await opened.routeFromHAR(file, { notFound: "abort" });
    await opened.goto(url, { waitUntil: "domcontentloaded" });
    assert.equal(opened.url(), `${url}/`);
    await opened.getByText("ordered two cups").waitFor();
    await opened.getByText("moved").waitFor();
    const price = opened.getByText("7 €");
    await price.waitFor();
    assert.equal(await price.evaluate((element) => getComputedStyle(element).color), "rgb(0, 128, 0)");
    assert.equal(await opened.locator("img").evaluate((image) => image.decode().then(() => image.naturalWidth)), 1);
    assert.deepEqual(errors, []);
  } finally {
    await browser.close();
  }
});
