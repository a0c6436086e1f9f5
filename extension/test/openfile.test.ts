// What an agent has the user open, in a played editor.
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openFile } from "../src/vscode/openfile";
import * as editor from "./support/editor";
import { temporaryFolder } from "./support/window";

test("a file in the window's folders is opened, and no link that leads out of them", async () => {
  const root = await temporaryFolder();
  const [shop, secret, linked] = [join(root, "shop"), join(root, "secret.txt"), join(root, "linked")];
  await mkdir(shop);
  for (const file of [secret, join(shop, "cart.ts")]) await writeFile(file, "");
  await symlink(secret, join(shop, "notes.txt"));
  await symlink("cart.ts", join(shop, "basket.ts"));
  await symlink(shop, linked);
  editor.workspace.workspaceFolders = [{ uri: editor.Uri.file(linked), name: "shop" }]; // as it was opened
  const opened: string[] = [];
  const command = editor.commands.registerCommand("vscode.open", (uri) => opened.push((uri as editor.Uri).fsPath));
  onTestFinished(() => command.dispose());
  for (const file of ["cart.ts", "notes.txt", "basket.ts", "absent.ts", "../secret.txt", secret])
    await openFile({ file, line: 1, column: 1 });
  expect(opened).toEqual([join(linked, "cart.ts"), join(linked, "basket.ts")]);
});
