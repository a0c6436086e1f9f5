// How long the user's agent waits after F5: for its first answer, and for its first click; and what the extension's
// start costs. Reported by `go tool task bench:start`, and never asserted: the figures are those of the machine.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Agent } from "./support/agent";
import { thisRun } from "./support/run";
import { setScene } from "./support/scene";
import { Listener, roots } from "./support/socket";

const scene = setScene("start");
const turns = 5;

test("F5 to the first answer and the first click", { timeout: 300_000 }, async () => {
  const { window, shop, address } = scene;
  const agent = await Agent.start(thisRun(), shop.folder);
  const listener = await Listener.dial(address);
  const browsers: number[] = [];
  const answers: number[] = [];
  const clicks: number[] = [];
  try {
    for (let turn = 0; turn < turns; turn += 1) {
      const pressed = performance.now();
      await window.press("F5");
      await listener.debugging((state) => state.browser !== null);
      browsers.push(performance.now() - pressed);
      await snapshot(agent);
      answers.push(performance.now() - pressed);
      await agent.use("browser_click", { target: "#buy" });
      clicks.push(performance.now() - pressed);
      await listener.debugging((state) => state.browser !== null);
      await window.stop();
      await listener.until((state) => roots(state).length === 0);
    }
  } finally {
    listener.close();
    await agent.close();
  }
  expect(answers).toHaveLength(turns);
  console.log(
    `F5 to the browser: ${summary(browsers)}\nF5 to the first answer: ${summary(answers)}; aim 1.6 s\n` +
      `F5 to the first click: ${summary(clicks)}; aim 3 s`,
  );
});

test("the start of the extension", { timeout: 300_000 }, async () => {
  for (let turn = 1; turn < turns; turn += 1) await scene.window.reload();
  const folder = join(thisRun().root, "user", "logs");
  const logs = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith("Browser Coordinator.log"),
  );
  const text = logs.map((name) => readFileSync(join(folder, name), "utf8")).join("");
  const times = [...text.matchAll(/activated with ([0-9.]+) ms/g)].map(([, time]) => Number(time));
  expect(times).toHaveLength(turns);
  console.log(`Processor time of an activation: ${summary(times)}; aim 0.05 s`);
});

/** The agent asks again for as long as the page is not there yet. */
async function snapshot(agent: Agent): Promise<void> {
  for (;;) {
    const text = await agent.use("browser_snapshot").catch((error: Error) => error.message);
    if (text.includes('heading "Shop"')) return;
    if (!/Shop|about:blank/.test(text)) throw new Error(text);
  }
}

function summary(times: number[]): string {
  const sorted = [...times].sort((a, b) => a - b).map((time) => (time / 1_000).toFixed(2));
  return `${sorted[Math.floor(turns / 2)]} s (median of ${turns}: ${sorted.join(", ")})`;
}
