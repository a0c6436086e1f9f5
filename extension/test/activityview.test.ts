// The view Activity in a played editor; the real one is in e2e/activity.test.ts.
import { expect, onTestFinished, test } from "vitest";
import { silent } from "../src/core/log";
import { Clients } from "../src/core/window/clients";
import { pictureFile } from "../src/vscode/activityfiles";
import { openActivityView } from "../src/vscode/views/activity";
import * as editor from "./support/editor";
import { temporaryFolder } from "./support/window";

const done = { client: "a", time: 1, act: "browser_click", target: "Buy", outcome: "done", ok: true };

function openView(storage?: string): Clients {
  const clients = new Clients();
  const view = openActivityView(clients, storage, () => {}, silent);
  close = () => view.dispose();
  onTestFinished(close);
  return clients;
}
let close: () => void;

test("what failed, what something followed, and what the user has decided are marked", async () => {
  const clients = openView();
  const problem = { kind: "request", text: "GET /stock → 404" };
  clients.report([
    done,
    { ...done, ok: false, outcome: "refused" },
    { ...done, details: { duration: 1, effects: [problem] } },
    { ...done, details: { duration: 1, effects: [{ ...problem, late: true }] } },
  ]);
  clients.userDid("Stopped Agent");
  const rows = (await editor.views.get("browserCoordinator.activity")?.rows()) ?? [];
  expect(rows.map(({ item: { iconPath: icon } }) => icon && [icon.id, icon.color?.id])).toEqual([
    ["account", undefined],
    undefined,
    ["warning", "list.warningForeground"],
    ["error", "testing.iconFailed"],
    undefined,
  ]);
});

test("a picture that is open in an editor is there after a reload of the window", async () => {
  const storage = await temporaryFolder();
  const picture = "/9j/4AAQ";
  const before = openView(storage);
  before.report([{ ...done, details: { duration: 1, picture } }]);
  const [action] = before.actions;
  if (!action) throw new Error("it is not listed");
  const file = pictureFile(action) as unknown as editor.Uri;
  close();
  openView(storage);
  const read = editor.fileSystems.get(file.scheme)?.readFile(file);
  expect(read && Buffer.from(read).toString("base64")).toBe(picture);
  // The editor waits for the extension with that.
  expect(editor.manifest.activationEvents).toContain(`onFileSystem:${file.scheme}`);
});
