// Our panels in a played editor.
import { expect, onTestFinished, test } from "vitest";
import { Store } from "../src/core/window/store";
import { offerLiveView } from "../src/vscode/liveview";
import { page } from "../src/vscode/webview";
import * as editor from "./support/editor";

test("a page's language is that of its text, which is English without a translation", () => {
  const webview = { cspSource: "", asWebviewUri: String };
  const html = () => page(webview as never, editor.Uri.file("/extension") as never, "live", "Live View", "");
  editor.env.language = "de";
  onTestFinished(() => {
    editor.env.language = "en";
    editor.l10n.bundle = undefined;
  });
  expect(html()).toContain('<html lang="en">');
  editor.l10n.bundle = {} as never;
  expect(html()).toContain('<html lang="de">');
});

test.each([
  ["beside the code", [{ viewColumn: 1, tabs: ["code"] }], editor.ViewColumn.Beside],
  ["in an empty window", [{ viewColumn: 1, tabs: [] }], 1],
  ["where the user has a second group", [1, 2].map((viewColumn) => ({ viewColumn, tabs: ["code"] })), 2],
])("the live view opens %s, and leaves the user's arrangement", async (_, all, viewColumn) => {
  const groups = editor.window.tabGroups;
  const before = { ...groups };
  Object.assign(groups, { all, activeTabGroup: all[0] });
  const arranged: unknown[] = [];
  const layout = editor.commands.registerCommand("vscode.setEditorLayout", (wanted) => arranged.push(wanted));
  const agents = { lastPage: undefined, asked: [], waiting: "", subscribe: () => () => {} };
  const none = { subscribe: () => () => {}, recipients: [] };
  const uri = editor.Uri.file("/extension") as never;
  const views = offerLiveView(uri, new Store(), none as never, none as never, agents, { warn() {} } as never);
  onTestFinished(() => {
    views.dispose();
    layout.dispose();
    Object.assign(groups, before);
  });
  await editor.commands.executeCommand("browserCoordinator.openLiveView");
  expect(editor.panels.at(-1)?.place).toEqual({ viewColumn, preserveFocus: true });
  expect(arranged).toEqual([]);
});
