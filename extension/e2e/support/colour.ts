// What colour a person sees at a place: by a screenshot, not by what the page reports.
import type { Locator, Page } from "playwright-core";
import { expect } from "vitest";

/** Waits until the element has nearly that colour there; x and y are parts of its width and height. */
export async function untilColoured(
  page: Page,
  element: Locator,
  x: number,
  y: number,
  wanted: number[],
): Promise<void> {
  const near = (seen: number[]) => wanted.every((part, index) => Math.abs(part - (seen[index] ?? -99)) < 12);
  const look = async () => near(await colour(page, element, x, y).catch(() => []));
  await expect.poll(look).toBe(true);
}

async function colour(page: Page, element: Locator, x: number, y: number): Promise<number[]> {
  const shot = await element.screenshot({ timeout: 5_000 });
  // A string, since only the browser knows these.
  return page.evaluate(`(async () => {
    const bytes = Uint8Array.from(atob("${shot.toString("base64")}"), (char) => char.charCodeAt(0));
    const picture = await createImageBitmap(new Blob([bytes]));
    const context = new OffscreenCanvas(picture.width, picture.height).getContext("2d");
    context.drawImage(picture, 0, 0);
    return [...context.getImageData(${x} * picture.width, ${y} * picture.height, 1, 1).data].slice(0, 3);
  })()`);
}
