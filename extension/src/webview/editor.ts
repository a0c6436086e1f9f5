// What the editor gives a webview's script, once.
export interface Editor {
  postMessage(message: object): void;
  setState(state: object): void;
  getState(): unknown;
}

declare function acquireVsCodeApi(): Editor;

export const editor: Editor = acquireVsCodeApi();
