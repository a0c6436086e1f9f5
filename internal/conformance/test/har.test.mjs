// What a session has requested, saved as a HAR, is as the published schema wants it, and answers the same page in
// Playwright while the site is gone.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import Ajv from "ajv";
import addFormats from "ajv-formats";
import schemas from "har-schema";
import { chromium } from "playwright-core";
import { openWindow } from "./support/window.mjs";

const page = `<!doctype html><title>Shop</title><link rel=stylesheet href=style.css><img src=tea.png>
<p id=price></p><p id=order></p><p id=form></p><p id=moved></p><p id=broken></p><p id=feed></p>
<script>
  const show = (id, text) => document.getElementById(id).textContent = text;
  fetch("price").then((r) => r.json()).then(({ price }) => show("price", price));
  fetch("order", { method: "POST", body: "two cups" }).then((r) => r.text()).then((text) => show("order", text));
  fetch("form", { method: "POST", body: new URLSearchParams({ tea: "green & black" }) }).then((r) => r.text())
    .then((text) => show("form", text));
  fetch("old").then((r) => r.text()).then((text) => show("moved", text));
  fetch("broken").catch(() => show("broken", "no answer"));
  new WebSocket("feed?from=7").onmessage = ({ data }) => show("feed", data);
</script>`;
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

let site;
let window;
let host;

before(async () => {
  site = createServer((request, response) => {
    const answer = (type, body, headers = {}) =>
      response.writeHead(200, { "Content-Type": type, ...headers }).end(body);
    switch (request.url) {
      case "/shop":
        response.writeHead(302, { Location: "/shop/" }).end();
        break;
      case "/shop/":
        answer("text/html", gzipSync(page), {
          "Content-Encoding": "gzip",
          "Set-Cookie": "cart=7; Max-Age=60; SameSite=Lax",
        });
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
      case "/shop/form":
        request.on("data", (body) => answer("text/plain", `filled in ${body}`));
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
  site.on("upgrade", ({ headers }, socket) => {
    const key = `${headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
    socket.write(
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" +
        `Sec-WebSocket-Accept: ${createHash("sha1").update(key).digest("base64")}\r\n\r\n`,
    );
    const news = "tea has come";
    socket.resume().end(Buffer.concat([Buffer.from([0x81, news.length]), Buffer.from(news), Buffer.from([0x88, 0])]));
  });
  await new Promise((done) => site.listen(0, "127.0.0.1", done));
  window = await openWindow("about:blank");
  const workspace = join(window.root, "workspace");
  host = new Client({ name: "host", version: "1" });
  const args = ["mcp", "--workspace", workspace, "--no-launch", "--caps", "network"];
  await host.connect(
    new StdioClientTransport({
      command: join(window.bin, "coordinator"),
      args,
      cwd: workspace,
      env: window.env,
      stderr: "inherit",
    }),
  );
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

/** What the published schema of HAR 1.2, and the specification beyond it, do not allow. */
function faults(har) {
  const ajv = addFormats(new Ajv({ strict: false, allErrors: true }));
  ajv.addMetaSchema(createRequire(import.meta.url)("ajv/dist/refs/json-schema-draft-06.json"));
  ajv.addKeyword({ keyword: "min", macro: (minimum) => ({ minimum }) }); // a slip of the schema
  for (const schema of Object.values(schemas)) {
    // The names of what the specification does not have begin with an underscore. Browsers add one without.
    const { properties, ...rest } = schema;
    const more = schema === schemas.cookie ? { sameSite: { type: "string" } } : {};
    const patternProperties = { "^_": {} };
    ajv.addSchema({ ...rest, properties: { ...properties, ...more }, patternProperties, additionalProperties: false });
  }
  const validate = ajv.getSchema(schemas.har.$id);
  validate(har);
  return validate.errors ?? [];
}

test("a page works offline from the HAR of a session", { timeout: 60_000 }, async () => {
  const url = `http://127.0.0.1:${site.address().port}/shop`;
  await call("navigate", { url });
  for (const text of ["7 €", "ordered two cups", "filled in tea=green", "moved", "no answer", "tea has come"]) {
    await call("wait_for", { text });
  }
  const answer = await call("har", { filename: "shop.har" });
  const [file] = answer.match(/\/\S+shop\.har/) ?? assert.fail(answer);
  const har = JSON.parse(readFileSync(file, "utf8"));
  assert.deepEqual(faults(har), []);
  const { log } = har;
  assert.equal(log.version, "1.2");
  assert.ok(log.entries.some((entry) => entry.response.cookies.some(({ name }) => name === "cart")));
  assert.ok(log.entries.some((entry) => entry._webSocketMessages?.some(({ data }) => data === "tea has come")));
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
    await opened.getByText("filled in tea=green").waitFor();
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
