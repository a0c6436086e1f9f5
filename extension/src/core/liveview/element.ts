// The element at a place of the picture: what it is, and where. Only the browser is asked; no script of the page
// runs, and nothing in it changes.
import type { Members } from "../browser/cdp";
import type { AnnotatedNode, Annotation } from "../protocol/protocol.generated";
import { elementLimit, pictureLimit, textLimit } from "../window/notelimits";
import { cutPng, sizeOfPng } from "./png";
import { world } from "./screencast";

export interface Size {
  width: number;
  height: number;
}

/** Left, top, width and height. */
export type Box = readonly [number, number, number, number];

export interface Pointed {
  /** Role, name and a short selector: `button "Order" #buy.large`. */
  text: string;
  /** In parts of the picture's. */
  box: Box;
}

/** What the user has drawn around, or clicked. */
export interface Drawn {
  /** The smallest element that covers most of the area. */
  element?: Pointed;
  node?: AnnotatedNode;
  /** Of the page. */
  url: string;
  /** The area in the document, in device-independent pixels, as the browser reports where frames scroll to. */
  place: Box;
  /** Of the area: a PNG, or a JPEG where that would be large, in base64. */
  picture?: string;
}

export type Call = (method: string, params?: Members) => Promise<Members>;

/** Of Page.getLayoutMetrics: where what is in sight begins, in the layout and in the document. */
interface Viewport {
  offsetX: number;
  offsetY: number;
  pageX: number;
  pageY: number;
  clientWidth: number;
  clientHeight: number;
  scale: number;
  zoom?: number;
}

/** An element, and its backend node id. */
interface Found {
  element: Pointed;
  id: number;
}

type Node = { backendNodeId: unknown } | { objectId: unknown };

/** `place` is in parts of the picture, `seen` what that shows, in the page's pixels before any pinch. */
export async function elementAt(call: Call, place: [number, number], size: Size): Promise<Pointed | undefined> {
  const viewport = await viewportOf(call);
  const { backendNodeId } = await nodeAt(call, place, size, viewport);
  const box = await boxOf(call, { backendNodeId }, size, viewport);
  return box && { text: await textOf(call, { backendNodeId }), box };
}

/** What an area of the picture is about. An area without a size is a click: the element there, and its own area. */
export async function drawnIn(call: Call, area: Box, size: Size): Promise<Drawn | undefined> {
  const viewport = await viewportOf(call);
  return draw(call, area, size, viewport, () => covering(call, area, size, viewport));
}

/** The same about an element that was clicked in the page itself. */
export async function drawnAt(call: Call, id: number): Promise<Drawn | undefined> {
  const viewport = await viewportOf(call);
  const { clientWidth, clientHeight, scale } = viewport;
  const size = { width: clientWidth * scale, height: clientHeight * scale };
  return draw(call, [0, 0, 0, 0], size, viewport, async () => {
    const box = await boxOf(call, { backendNodeId: id }, size, viewport);
    return box && { element: { text: await textOf(call, { backendNodeId: id }), box }, id };
  });
}

/** Of that, what a note has; `title` is the page's. */
export function annotationOf({ element, node, url, picture }: Drawn, title: string): Annotation {
  return {
    element: element?.text ?? "",
    text: "",
    page: { title: title.slice(0, elementLimit), url: url.slice(0, textLimit) },
    ...(node && { node }),
    ...(picture && { picture }),
  };
}

async function draw(
  call: Call,
  [left, top, width, height]: Box,
  size: Size,
  viewport: Viewport,
  find: () => Promise<Found | undefined>,
): Promise<Drawn | undefined> {
  const { id, loaderId, url, urlFragment = "" } = await mainFrame(call);
  const found = await find();
  const isClick = width * height === 0;
  if (isClick && !found) return undefined;
  const edges: Box = isClick && found ? seen(found.element.box) : [left, top, left + width, top + height];
  const [x, y, right, bottom] = edges;
  const { pageX, pageY, scale, zoom = 1 } = viewport;
  const across = (part: number) => ((part * size.width) / scale) * zoom;
  const down = (part: number) => ((part * size.height) / scale) * zoom;
  const place: Box = [pageX * zoom + across(x), pageY * zoom + down(y), across(right - x), down(bottom - y)];
  const area = { x: x * size.width, y: y * size.height, width: place[2] / zoom, height: place[3] / zoom };
  const picture = await pictureOf(call, area, size, scale).catch(() => undefined); // the rest is worth sending too
  const isSame = await mainFrame(call).then(
    (now) => now.loaderId === loaderId, // else the picture may show the next document
    () => false,
  );
  return {
    ...(found && { element: found.element, node: { target: String(id), document: String(loaderId), id: found.id } }),
    url: `${url}${urlFragment}`,
    place,
    ...(picture && isSame && { picture }),
  };
}

async function mainFrame(call: Call): Promise<Record<string, string>> {
  const { frameTree } = await call("Page.getFrameTree");
  return (frameTree as { frame: Record<string, string> }).frame;
}

/** Left, top, right and bottom of what is in the picture. */
function seen([left, top, width, height]: Box): Box {
  const inside = (part: number) => Math.min(Math.max(part, 0), 1);
  return [inside(left), inside(top), inside(left + width), inside(top + height)];
}

const group = "browserCoordinatorDrawing";
/** So many of the elements in an area are named. */
const mostNamed = 5;

/** Runs apart from the page's scripts. The page cannot replace what it reads by elements that have such names. */
const around = `function () {
  const [parent, type] = ["parentNode", "nodeType"].map((name) =>
    Object.getOwnPropertyDescriptor(Node.prototype, name).get);
  const all = [];
  for (let node = this, view = window; node; ) {
    const kind = type.call(node);
    if (kind === 1) all.push(node);
    if (kind === 9) [node, view] = [view.frameElement, view.parent];
    else node = parent.call(node) ?? (kind === 11 ? node.host : null);
  }
  return all;
}`;

/** What is shown mostly within an area, given from the element's corner: the outermost elements in it. */
const within = `function (left, top, right, bottom, most) {
  const of = Element.prototype, all = [];
  const get = (name, node) => Object.getOwnPropertyDescriptor(of, name).get.call(node);
  const { x, y } = of.getBoundingClientRect.call(this), range = new Range();
  const boxOf = (node) => { // a heading is as wide as its text
    range.selectNodeContents(node);
    const content = range.getBoundingClientRect();
    return content.width * content.height > 0 ? content : of.getBoundingClientRect.call(node);
  };
  const look = (nodes) => {
    for (const node of nodes) {
      const box = boxOf(node), size = box.width * box.height;
      const width = Math.min(box.right, x + right) - Math.max(box.left, x + left);
      const height = Math.min(box.bottom, y + bottom) - Math.max(box.top, y + top);
      if (all.length === most || size > 0 && (width <= 0 || height <= 0)) continue;
      const isSeen = size > 0 && of.checkVisibility.call(node, { visibilityProperty: true });
      const parts = [...get("children", node), ...(get("shadowRoot", node)?.children ?? [])];
      const isGroup = parts.length > 0 && of.matches.call(node, "div, span, label, form");
      if (isSeen && !isGroup && width * height > 0.8 * size) all.push(node);
      else look(parts);
    }
  };
  look(get("children", this));
  return all;
}`;

/**
 * The smallest element that covers more than half of an area: it and the elements around it cover its middle, so
 * they are the one that is in front there, and those around that. One that is mostly outside of the area is named by
 * what is inside, if there is anything. The page as a whole is none.
 */
async function covering(call: Call, area: Box, size: Size, viewport: Viewport): Promise<Found | undefined> {
  const [left, top, width, height] = area;
  const { backendNodeId, frameId } = await nodeAt(call, [left + width / 2, top + height / 2], size, viewport);
  const { executionContextId } = await call("Page.createIsolatedWorld", { frameId, worldName: world });
  try {
    const { object } = await call("DOM.resolveNode", { backendNodeId, executionContextId, objectGroup: group });
    const { objectId } = object as { objectId: string };
    const { result } = await call("Runtime.callFunctionOn", {
      functionDeclaration: around,
      objectId,
      objectGroup: group,
    });
    for (const element of await itemsOf(call, result)) {
      const box = await boxOf(call, element, size, viewport);
      if (!box || !covers(box, area)) continue;
      const { localName, backendNodeId: id } = await describe(call, element);
      const isOutside = width * height > 0 && !covers(area, box);
      const inside = isOutside ? await elementsIn(call, element, box, area, size, viewport) : [];
      const texts = await Promise.all(inside.map((each) => textOf(call, each)));
      const [only] = inside.length === 1 ? inside : [];
      if (only) return { element: { text: texts.join(), box }, id: (await describe(call, only)).backendNodeId };
      if (texts.length > 0) return { element: { text: texts.join(", ").slice(0, elementLimit), box }, id };
      if (width * height > 0 && /^(html|body)$/.test(localName)) continue;
      return { element: { text: await textOf(call, element), box }, id };
    }
    return undefined;
  } finally {
    await call("Runtime.releaseObjectGroup", { objectGroup: group }).catch(() => {}); // the page has gone
  }
}

/** The elements of a list in the page. */
async function itemsOf(call: Call, list: unknown): Promise<{ objectId: string }[]> {
  const { objectId } = list as { objectId: string };
  const { result } = await call("Runtime.getProperties", { objectId, ownProperties: true });
  return (result as { name: string; value?: { objectId?: string } }[]).flatMap(({ name, value }) =>
    /^\d+$/.test(name) && value?.objectId ? [{ objectId: value.objectId }] : [],
  );
}

/** The outermost elements in a part of an element that is at `box`. */
async function elementsIn(
  call: Call,
  { objectId }: { objectId: string },
  box: Box,
  area: Box,
  { width, height }: Size,
  { scale }: Viewport,
): Promise<{ objectId: string }[]> {
  const [left, top] = [((area[0] - box[0]) * width) / scale, ((area[1] - box[1]) * height) / scale];
  const edges = [left, top, left + (area[2] * width) / scale, top + (area[3] * height) / scale];
  const args = { arguments: [...edges, mostNamed].map((value) => ({ value })), functionDeclaration: within };
  const { result } = await call("Runtime.callFunctionOn", { ...args, objectId, objectGroup: group });
  return itemsOf(call, result);
}

async function describe(call: Call, element: Node): Promise<{ localName: string; backendNodeId: number }> {
  const { node } = await call("DOM.describeNode", element);
  return node as { localName: string; backendNodeId: number };
}

/** Whether a box has more than half of an area. */
function covers(box: Box, [left, top, width, height]: Box): boolean {
  const shared = (from: number, length: number, start: number, size: number) =>
    Math.max(0, Math.min(from + length, start + size) - Math.max(from, start));
  const common = shared(box[0], box[2], left, width) * shared(box[1], box[3], top, height);
  return width * height === 0 || common > (width * height) / 2;
}

/**
 * An area of what is in sight, in the page's own pixels: on a dense screen the browser's picture has more, and for a
 * large one the result has fewer. The browser captures all that is in sight: only that changes nothing in the page.
 * `size` is that of all, before any pinch.
 */
async function pictureOf(call: Call, area: Area, size: Size, pinch: number): Promise<string | undefined> {
  const { data } = await call("Page.captureScreenshot", { format: "png", optimizeForSpeed: true });
  const whole = Uint8Array.from(Buffer.from(String(data), "base64"));
  const { width, height } = sizeOfPng(whole);
  const density = Math.min(width / size.width, height / size.height); // size may be without a scroll bar
  const from = {
    x: Math.round(area.x * density),
    y: Math.round(area.y * density),
    width: Math.max(1, Math.round(area.width * pinch * density)),
    height: Math.max(1, Math.round(area.height * pinch * density)),
  };
  for (const smaller of [1, 2, 4]) {
    const pixels = (length: number) => Math.max(1, Math.round(length / smaller));
    const part = await cutPng(whole, from, { width: pixels(area.width), height: pixels(area.height) });
    const picture = btoa(Array.from(part, (value) => String.fromCharCode(value)).join("")); // also in a browser
    if (picture.length <= pictureLimit) return picture;
  }
  return undefined;
}

interface Area extends Size {
  x: number;
  y: number;
}

/** Where elements are in the picture, in parts of its size, of those whose document the page shows. */
export async function boxesOf(call: Call, nodes: readonly AnnotatedNode[], size: Size): Promise<Box[]> {
  const viewport = await viewportOf(call);
  const { loaderId } = await mainFrame(call);
  const shown = nodes.filter(({ document }) => document === loaderId);
  const boxes = await Promise.all(shown.map(({ id }) => boxOf(call, { backendNodeId: id }, size, viewport)));
  return boxes.filter((box) => box !== undefined);
}

async function viewportOf(call: Call): Promise<Viewport> {
  const { cssVisualViewport } = await call("Page.getLayoutMetrics");
  return cssVisualViewport as Viewport;
}

async function nodeAt(call: Call, place: [number, number], size: Size, viewport: Viewport): Promise<Members> {
  const { pageX, pageY, scale } = viewport;
  const x = Math.floor((place[0] * size.width) / scale + pageX);
  const y = Math.floor((place[1] * size.height) / scale + pageY);
  return call("DOM.getNodeForLocation", { x, y, ignorePointerEventsNone: true });
}

async function boxOf(
  call: Call,
  element: Node,
  size: Size,
  { offsetX, offsetY, scale }: Viewport,
): Promise<Box | undefined> {
  const box = await call("DOM.getBoxModel", element).catch(() => undefined); // it has none
  if (!box) return undefined;
  const { border, width, height } = box.model as { border: number[]; width: number; height: number };
  const xs = border.filter((_, index) => index % 2 === 0);
  const down = border.filter((_, index) => index % 2 === 1);
  return [
    ((Math.min(...xs) - offsetX) * scale) / size.width,
    ((Math.min(...down) - offsetY) * scale) / size.height,
    (width * scale) / size.width,
    (height * scale) / size.height,
  ];
}

/** It may be pasted into a terminal: it has one line. */
async function textOf(call: Call, element: Node): Promise<string> {
  const [node, accessible] = await Promise.all([
    call("DOM.describeNode", element),
    call("Accessibility.getPartialAXTree", { ...element, fetchRelatives: false }),
  ]);
  return `${roleOf(accessible)}${selectorOf(node)}`.replace(/[\p{C}\s]+/gu, " ").slice(0, elementLimit);
}

function roleOf({ nodes }: Members): string {
  const { role, name, ignored } = ((nodes as Members[])[0] ?? {}) as Record<string, { value?: string } | undefined>;
  if (!role?.value || ignored || !/^[a-z]/.test(role.value) || role.value === "generic") return ""; // LabelText is no role
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
