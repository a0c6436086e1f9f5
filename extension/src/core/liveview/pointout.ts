// The user clicks an element in the page itself, in the browser's own inspect mode: the page gets no event.
import { setTimeout } from "node:timers/promises";
import * as l10n from "@vscode/l10n";
import { whenAborted } from "../abort";
import { Cdp, type Members } from "../browser/cdp";
import { listPages, newest, type Page } from "../browser/pages";
import type { Annotation } from "../protocol/protocol.generated";
import { annotationOf, drawnAt } from "./element";

const blue = { r: 62, g: 125, b: 240, a: 0.35 };
const inspecting = {
  mode: "searchForNode",
  highlightConfig: {
    showInfo: true,
    showAccessibilityInfo: true,
    contentColor: blue,
    paddingColor: blue,
    borderColor: blue,
  },
};
/** Frames of other sites are targets of their own, and so is each in them. */
const frames = { autoAttach: true, waitForDebuggerOnStart: false, flatten: true, filter: [{ type: "iframe" }] };

/** Pages and frames can hang; milliseconds. */
const patience = 1_000;

interface Click {
  node: number;
  session: string;
}

/**
 * Waits until the user clicks an element of a page, for a note about it; undefined: they have pressed Escape there, or
 * the signal is aborted. Only until then does the browser inspect.
 */
export async function pointOut(browser: string, page: string, signal: AbortSignal): Promise<Annotation | undefined> {
  let cdp: Cdp | undefined;
  try {
    cdp = await Cdp.connect(browser, signal);
    return await pickIn(cdp, page, signal);
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  } finally {
    cdp?.close();
  }
}

async function pickIn(cdp: Cdp, page: string, signal: AbortSignal): Promise<Annotation | undefined> {
  const { sessionId } = await cdp.call("Target.attachToTarget", { targetId: page, flatten: true });
  const main = String(sessionId);
  const call = (method: string, params: Members = {}) => cdp.call(method, params, main);
  /** By their sessions: their ids, and the sessions of what is around them. */
  const around = new Map<string, { frameId: string; parent: string }>();
  const inspect = async (session: string) => {
    for (const method of ["DOM.enable", "Overlay.enable"]) await cdp.call(method, {}, session);
    await cdp.call("Overlay.setInspectMode", inspecting, session);
    await cdp.call("Target.setAutoAttach", frames, session);
  };
  cdp.on("Target.attachedToTarget", ({ sessionId, targetInfo }, parent) => {
    if (parent === undefined) return;
    around.set(String(sessionId), { frameId: String((targetInfo as Members).targetId), parent });
    void inspect(String(sessionId)).catch(() => {}); // it has gone
  });
  const clicked = new Promise<Click | undefined>((resolve, reject) => {
    const gone = () => reject(new Error(l10n.t("the page was closed")));
    cdp.on("Overlay.inspectNodeRequested", ({ backendNodeId }, session = main) =>
      resolve({ node: Number(backendNodeId), session }),
    );
    cdp.on("Overlay.inspectModeCanceled", () => resolve(undefined));
    cdp.on("Target.detachedFromTarget", ({ sessionId }) => sessionId === main && gone());
    void cdp.closed.then(gone);
    whenAborted(signal, () => resolve(undefined));
    const begin = async () => {
      signal.throwIfAborted();
      await inspect(main);
      await call("Page.bringToFront");
    };
    begin().catch(reject);
  });
  const click = await clicked;
  // The next click is the page's, and the picture is without the browser's frame around the element.
  const off = (session: string) => cdp.call("Overlay.disable", {}, session);
  await within(Promise.allSettled([main, ...around.keys()].map(off)));
  if (!click) return undefined;
  let { node, session } = click;
  for (let frame = around.get(session); frame; frame = around.get(session)) {
    const { backendNodeId } = await cdp.call("DOM.getFrameOwner", { frameId: frame.frameId }, frame.parent);
    node = Number(backendNodeId);
    session = frame.parent;
  }
  const drawn = await drawnAt(call, node);
  if (!drawn) throw new Error(l10n.t("the element has gone"));
  const { targetInfo } = await cdp.call("Target.getTargetInfo", { targetId: page });
  return annotationOf(drawn, String((targetInfo as Members).title));
}

/** The page that the user sees, the newest of several; else one that may be paused or show a dialog, else the newest. */
export async function visiblePage(browser: string): Promise<string | undefined> {
  const pages = await listPages(browser);
  const cdp = await Cdp.connect(browser);
  const isVisible = async ({ id }: Page) => {
    const { sessionId } = await cdp.call("Target.attachToTarget", { targetId: id, flatten: true });
    const asked = { expression: "document.visibilityState" };
    const { result } = await cdp.call("Runtime.evaluate", asked, String(sessionId));
    return (result as Members).value === "visible";
  };
  try {
    const visible = await Promise.all(pages.map((page) => within(isVisible(page).catch(() => false))));
    const those = (wanted: boolean | undefined) => newest(pages.filter((_, index) => visible[index] === wanted));
    return (those(true) ?? those(undefined) ?? newest(pages))?.id;
  } finally {
    cdp.close();
  }
}

/** The result if it comes in time. */
function within<T>(work: Promise<T>): Promise<T | undefined> {
  return Promise.race([work, setTimeout(patience, undefined, { ref: false })]);
}
