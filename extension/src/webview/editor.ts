// What the editor gives a webview's script, once.
export interface Editor {
  postMessage(message: object): void;
  setState(state: object): void;
  getState(): unknown;
}

declare function acquireVsCodeApi(): Editor;

export const editor: Editor = acquireVsCodeApi();

/** An element of the page that must be there. */
export function part<T extends Element = HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (!found) throw new Error(`no element #${id}`);
  return found as unknown as T;
}
