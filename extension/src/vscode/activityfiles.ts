// The scripts and pictures of actions as files, which nobody can write.
import * as vscode from "vscode";
import type { Action, Clients, Running } from "../core/window/clients";

const scheme = "browser-coordinator-activity";

/** The file with the script of an action. */
export function scriptFile(action: Action | Running): vscode.Uri {
  return fileOf(action, "script.js");
}

/** The file with the picture of an action. */
export function pictureFile(action: Action): vscode.Uri {
  return fileOf(action, "picture.jpg");
}

function fileOf(action: Action | Running, name: string): vscode.Uri {
  const key = "number" in action ? `${action.number}` : encodeURIComponent(`${action.client} ${action.time}`);
  return vscode.Uri.from({ scheme, path: `/${key}/${name}` });
}

export function offerActivityFiles(clients: Clients): vscode.Disposable {
  const changed = new vscode.EventEmitter<vscode.FileChangeEvent[]>();
  const read = (uri: vscode.Uri): Uint8Array => {
    const isIt = (file: vscode.Uri) => file.path === uri.path;
    for (const action of clients.actions) {
      const { script, picture } = action.details ?? {};
      if (script !== undefined && isIt(scriptFile(action))) return Buffer.from(script);
      if (picture !== undefined && isIt(pictureFile(action))) return Buffer.from(picture, "base64");
    }
    const call = clients.running.find((each) => isIt(scriptFile(each)));
    if (call?.script === undefined) throw vscode.FileSystemError.FileNotFound(uri);
    return Buffer.from(call.script);
  };
  const refuse = (): never => {
    throw vscode.FileSystemError.NoPermissions();
  };
  const files: vscode.FileSystemProvider = {
    onDidChangeFile: changed.event,
    watch: () => new vscode.Disposable(() => {}), // none changes
    stat: (uri) => ({ type: vscode.FileType.File, ctime: 0, mtime: 0, size: read(uri).byteLength }),
    readFile: read,
    readDirectory: () => [],
    createDirectory: refuse,
    writeFile: refuse,
    delete: refuse,
    rename: refuse,
  };
  const options = { isReadonly: true, isCaseSensitive: true };
  return vscode.Disposable.from(changed, vscode.workspace.registerFileSystemProvider(scheme, files, options));
}
