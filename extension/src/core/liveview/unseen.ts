// Whether the user sees a page in its own browser.
import { Cdp } from "../browser/cdp";
import { isHeadless } from "../browser/devtools";
import type { State } from "../protocol/protocol.generated";

/** The id by which the live view has a page of a headless browser; undefined if its user sees it there. */
export async function isUnseen({ browser, pages }: State, target: string): Promise<string | undefined> {
  for (const { id, url } of browser ? [{ id: target, url: browser.url }] : pages.map(ofDebugger)) {
    const cdp = await Cdp.connect(url);
    try {
      if (browser || (await targetOf(cdp)) === target) return (await isHeadless(cdp)) ? id : undefined;
    } finally {
      cdp.close();
    }
  }
  return undefined;
}

/** The target's id of a page of the debugger. VS Code's integrated browser responds for itself; there the page has its
 * main frame's id, as its clients have it. */
async function targetOf(cdp: Cdp): Promise<string> {
  const { targetInfo } = (await cdp.call("Target.getTargetInfo")) as { targetInfo: { targetId: string; type: string } };
  if (targetInfo.type !== "browser") return targetInfo.targetId;
  const { frameTree } = (await cdp.call("Page.getFrameTree")) as { frameTree: { frame: { id: string } } };
  return frameTree.frame.id;
}

function ofDebugger({ debugSession, url }: State["pages"][number]): { id: string; url: string } {
  return { id: debugSession, url };
}
