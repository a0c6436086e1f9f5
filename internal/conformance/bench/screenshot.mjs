// Takes screenshots by Playwright for the benchmark. Each line of input is an address; the answer is
// the milliseconds that some screenshots of 1920 × 1080 took there, as JSON.
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";

const shots = 4;

// Noise does not compress, as photographs do not: the picture has about 8 MB.
const noise = `<canvas width="1920" height="1080" style="position:fixed;inset:0"></canvas><script>
const context = document.querySelector("canvas").getContext("2d");
const image = context.createImageData(1920, 1080);
for (let at = 0; at < image.data.length; at += 65536) crypto.getRandomValues(image.data.subarray(at, at + 65536));
for (let at = 3; at < image.data.length; at += 4) image.data[at] = 255;
context.putImageData(image, 0, 0);
</script>`;

for await (const address of createInterface({ input: process.stdin })) {
  const browser = await chromium.connectOverCDP(address, { timeout: 20_000 });
  const context = await browser.newContext({ viewport: { width: 1920, height: 1080 } });
  const page = await context.newPage();
  await page.setContent(noise);
  await page.screenshot(); // the first one is slower for everyone
  const took = [];
  for (let n = 0; n < shots; n++) {
    const start = performance.now();
    await page.screenshot();
    took.push(performance.now() - start);
  }
  await context.close();
  await browser.close();
  console.log(JSON.stringify(took));
}
