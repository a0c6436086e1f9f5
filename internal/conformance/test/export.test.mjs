// What an agent does, exported as a test, passes with Playwright's own test runner on the same pages.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { openEverything } from "./support/everything.mjs";
import { openWindow } from "./support/window.mjs";

const modules = fileURLToPath(new URL("../node_modules", import.meta.url));
const secret = "correct-horse-77";

let site;
let window;
let workspace;
let host;

before(async () => {
  site = await openEverything();
  window = await openWindow("about:blank");
  workspace = join(window.root, "workspace");
  writeFileSync(join(window.root, "secrets.env"), `SHOP_PASSWORD=${secret}\n`);
  writeFileSync(join(workspace, "photo.txt"), "a photo");
  symlinkSync(modules, join(workspace, "node_modules"));
  const settings = {
    testDir: ".",
    outputDir: join(window.root, "results"),
    use: { launchOptions: { executablePath: window.browser } },
  };
  writeFileSync(join(workspace, "playwright.config.mjs"), `export default ${JSON.stringify(settings)};`);
  const flags = ["--caps", "testing,vision,network", "--secrets", join(window.root, "secrets.env")];
  host = new Client({ name: "host", version: "1" });
  await host.connect(
    new StdioClientTransport({
      command: join(window.bin, "coordinator"),
      args: ["mcp", "--workspace", workspace, "--no-launch", ...flags],
      cwd: workspace,
      env: window.env,
      stderr: "inherit",
    }),
  );
});

after(async () => {
  await host?.close();
  await window?.close();
  await site?.close();
});

async function call(name, args = {}, fails = false) {
  const { content, isError } = await host.callTool({ name: `browser_${name}`, arguments: args });
  const text = content.map((each) => each.text ?? "").join("\n");
  assert.equal(isError ?? false, fails, `${name} ${JSON.stringify(args)}: ${text}`);
  return text;
}

/** The ref of the `nth` line of a snapshot with this text. */
async function ref(text, nth = 0) {
  const snapshot = await call("snapshot");
  const rest = snapshot.split(text)[nth + 1] ?? assert.fail(`no ${text} in ${snapshot}`);
  return rest.match(/\[ref=(e\d+)\]/)[1];
}

/** Runs the exported test; what it reports if it fails. */
function run(env) {
  const cli = join(modules, "@playwright/test/cli.js");
  const args = [cli, "test", "--reporter=line", "--timeout=20000"];
  const options = { cwd: workspace, env: { ...window.env, ...env } };
  return new Promise((done) => {
    execFile(process.execPath, args, options, (error, stdout, stderr) => done(error ? stdout + stderr : ""));
  });
}

test("a session, as a test", { timeout: 120_000 }, async () => {
  await call("navigate", { url: site.url });
  await call("steps", {
    steps: [
      { action: "type", target: await ref('"Name"'), text: "Ada O'Hara" },
      { action: "type", target: await ref('"Password"'), text: "SHOP_PASSWORD", submit: true },
    ],
  });
  await call("verify_text_visible", { text: "Welcome back" });
  await call("navigate", { action: "back" });
  await call("click", { target: 'link "Everything"' });
  await call("verify_element_visible", { role: "button", accessibleName: "Delete" });
  await call("fill_form", {
    fields: [
      { target: await ref('"Size"'), type: "combobox", value: "extra large" },
      { target: await ref('"Gift"'), type: "checkbox", value: "true" },
      { target: await ref('"Amount"'), type: "slider", value: "7" },
    ],
  });
  await call("wait_for", { text: "amount 7" });
  const part = [{ target: await ref('"Amount"'), value: "8" }, { target: "select", value: "gigantic" }];
  await call("fill_form", { fields: part }, true);
  await call("verify_text_visible", { text: "amount 8" });
  await call("route", { pattern: "/news", status: 503, body: "none today", headers: ["X-Now: 1"] });
  await call("click", { target: 'button "Fetch"' });
  await call("wait_for", { text: "503 none today 1" });
  await call("unroute", { pattern: "/news" });
  await call("network_state_set", { state: "offline" });
  await call("click", { target: 'button "Fetch"' });
  await call("wait_for", { text: "no network" });
  await call("network_state_set", { state: "online" });
  await call("select_option", { target: "select", values: ["small"] });
  await call("verify_value", { target: "select", type: "combobox", value: "small" });
  await call("click", { target: await ref('"Buy"', 1) });
  await call("verify_text_visible", { text: "bought black" });
  await call("type", { target: '[placeholder="TEA10"]', text: "TEA", slowly: true });
  await call("verify_value", { target: '[placeholder="TEA10"]', type: "textbox", value: "TEA" });
  await call("press_key", { key: "Esc" });
  await call("verify_text_visible", { text: "escaped" });
  await call("click", { target: 'button "Delete"' });
  await call("handle_dialog", { accept: true });
  await call("handle_dialog", { accept: true, promptText: "no longer needed" });
  await call("verify_text_visible", { text: "said no longer needed" });
  await call("click", { target: 'button "Delete"' });
  await call("handle_dialog", { accept: false });
  await call("steps", { steps: [{ action: "click", target: 'button "Wait"' }, { action: "dialog", accept: true }] });
  await call("verify_text_visible", { text: "here" });
  await call("click", { target: 'button "Menu"', button: "right" });
  await call("verify_text_visible", { text: "context" });
  await call("click", { target: 'button "Menu"', doubleClick: true });
  await call("click", { target: 'button "Choose a file"' });
  await call("file_upload", { paths: ["photo.txt"] });
  await call("verify_text_visible", { text: "got photo.txt" });
  await call("file_upload", { target: 'button "Choose a file"', paths: ["photo.txt"] });
  await call("file_upload", { target: await ref('"Photo"'), paths: ["photo.txt"] });
  await call("verify_text_visible", { text: "photo photo.txt" });
  await call("drag", { startTarget: "#from", endTarget: "#to" });
  await call("verify_text_visible", { text: "dropped card" });
  await call("drop", { target: "#to", data: { "text/plain": "a note" } });
  await call("type", { target: await ref('"Card number"'), text: "4242" });
  await call("click", { target: 'button "Pay"' });
  await call("verify_text_visible", { text: "4242 paid" });
  await call("click", { target: 'button "News"' });
  await call("wait_for", { text: "late news" });
  await call("evaluate", { function: "() => log('from script')" });
  await call("wait_for", { textGone: "late news" });
  await call("mouse_wheel", { deltaY: 50 });
  await call("click", { target: 'button "Best coupon"' });
  await call("click", { target: 'button "Send"' });
  await call("click", { target: 'button "Details"' });
  await call("click", { target: 'button "Close"' });
  await call("steps", { steps: [{ action: "click", target: await ref('"Plan"'), position: { x: 30, y: 20 } }] });
  await call("click", { target: 'link "Help"' });
  const tabs = await call("tabs", { action: "list" });
  await call("tabs", { action: "select", index: Number(tabs.match(/^(\d+): .*\/help/m)[1]) });
  await call("click", { target: 'button "Call"' });
  await call("verify_text_visible", { text: "Called" });

  const answer = await call("export", { filename: "session" });
  const file = answer.match(/Saved the test to (\S+)/)[1];
  const source = readFileSync(file, "utf8");
  if (process.env.SHOW) console.log(source);
  assert.ok(!source.includes(secret), source);
  assert.ok(source.includes("fill(process.env.SHOP_PASSWORD!)"), source);
  for (const expected of [
    "getByRole('heading', { name: 'Shop' }).first()).toBeVisible()",
    "getByRole('status')).toHaveText('bought black')",
    "getByRole('textbox', { name: 'Coupon' })).toHaveValue('TEA20')",
    "getByRole('checkbox', { name: 'Gift' })).toBeChecked({ checked: false })",
    "getByRole('dialog', { name: 'All details' }).first()).toBeVisible()",
    "getByRole('alert')).toHaveText('Nothing was saved')",
    "getByText('Try again')",
    "getByRole('status')).toHaveText('plan 30 20')",
  ]) {
    assert.ok(source.includes(`expect(page.${expected}`), `${expected} in ${source}`);
  }
  for (const fleeting of ["sent at", "'Now'"]) assert.ok(!source.includes(fleeting), source);
  assert.equal(await run({ SHOP_PASSWORD: secret }), "", source);

  // It is a test: it fails where the page is another.
  writeFileSync(file, source.replace("bought black", "bought white"));
  assert.match(await run({ SHOP_PASSWORD: secret }), /bought white/);
});
