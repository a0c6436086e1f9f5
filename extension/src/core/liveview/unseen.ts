// Whether the user sees a page in its own browser.
import { Cdp } from "../browser/cdp";
import { isHeadless } from "../browser/devtools";
import type { State } from "../protocol/protocol.generated";

/** The id by which the live view has a page of a headless browser; undefined if its user sees it there. */
export async function isUnseen({ browser, pages }: State, target: string): Promise<string | undefined> {
  for (const { id, url } of browser ? [{ id: target, url: browser.url }] : pages.map(ofDebugger)) {
    const cdp = await Cdp.connect(url);
    try {
      // The debugger's page has its main frame's id, as the client has it.
      const { frameTree } = browser ? {} : await cdp.call("Page.getFrameTree");
      const frame = (frameTree as { frame: { id: string } } | undefined)?.frame.id ?? target;
      if (frame === target) return (await isHeadless(cdp)) ? id : undefined;
    } finally {
      cdp.close();
    }
  }
  return undefined;
}

function ofDebugger({ debugSession, url }: State["pages"][number]): { id: string; url: string } {
  return { id: debugSession, url };
}
