// The element at a place of the picture: what it is, and where. Only the browser is asked; no script runs in
// the page, and nothing in it changes.
import type { Members } from "../browser/cdp";

export interface Size {
  width: number;
  height: number;
}

export interface Pointed {
  /** Role, name and a short selector: `button "Order" #buy.large`. */
  text: string;
  /** Left, top, width and height, in parts of the picture's. */
  box: [number, number, number, number];
}

type Call = (method: string, params?: Members) => Promise<Members>;

/** Of Page.getLayoutMetrics: where what is in sight begins, in the layout and in the document. */
interface Viewport {
  offsetX: number;
  offsetY: number;
  pageX: number;
  pageY: number;
  scale: number;
}

/** `place` is in parts of the picture, `seen` what that shows, in the page's pixels before any pinch. */
export async function elementAt(call: Call, place: [number, number], size: Size): Promise<Pointed | undefined> {
  const { cssVisualViewport } = await call("Page.getLayoutMetrics");
  const { offsetX, offsetY, pageX, pageY, scale } = cssVisualViewport as Viewport;
  const x = Math.floor((place[0] * size.width) / scale + pageX);
  const y = Math.floor((place[1] * size.height) / scale + pageY);
  const { backendNodeId } = await call("DOM.getNodeForLocation", { x, y, ignorePointerEventsNone: true });
  const [node, accessible, box] = await Promise.all([
    call("DOM.describeNode", { backendNodeId }),
    call("Accessibility.getPartialAXTree", { backendNodeId, fetchRelatives: false }),
    call("DOM.getBoxModel", { backendNodeId }).catch(() => undefined), // it has none
  ]);
  if (!box) return undefined;
  const { border, width, height } = box.model as { border: number[]; width: number; height: number };
  const across = border.filter((_, index) => index % 2 === 0);
  const down = border.filter((_, index) => index % 2 === 1);
  return {
    // It may be pasted into a terminal: it has one line.
    text: `${roleOf(accessible)}${selectorOf(node)}`.replace(/[\p{C}\s]+/gu, " "),
    box: [
      ((Math.min(...across) - offsetX) * scale) / size.width,
      ((Math.min(...down) - offsetY) * scale) / size.height,
      (width * scale) / size.width,
      (height * scale) / size.height,
    ],
  };
}

function roleOf({ nodes }: Members): string {
  const { role, name, ignored } = ((nodes as Members[])[0] ?? {}) as Record<string, { value?: string } | undefined>;
  if (!role?.value || ignored || role.value === "generic") return "";
  return name?.value ? `${role.value} ${JSON.stringify(name.value.slice(0, 80))} ` : `${role.value} `;
}

/** As developer tools label it. */
function selectorOf({ node }: Members): string {
  const { localName, attributes = [] } = node as { localName: string; attributes?: string[] };
  const value = (name: string) =>
    attributes.find((_, index) => index % 2 === 1 && attributes[index - 1] === name)?.trim();
  const [id, classes] = [value("id"), value("class")];
  return `${localName}${id ? `#${id}` : ""}${classes ? `.${classes.split(/\s+/).slice(0, 3).join(".")}` : ""}`;
}
