// The page of a webview panel: our own script and style, and nothing from anywhere else.
import { randomBytes } from "node:crypto";
import * as vscode from "vscode";
import { html } from "../core/plaintext";

/** The page that runs dist/webview/NAME.js with NAME.css. */
export function page(
  webview: vscode.Webview,
  extension: vscode.Uri,
  name: string,
  title: string,
  body: string,
): string {
  const nonce = randomBytes(16).toString("base64");
  const file = (ending: string) =>
    webview.asWebviewUri(vscode.Uri.joinPath(extension, "dist", "webview", name + ending));
  const policy = [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    `style-src ${webview.cspSource}`,
    `img-src ${webview.cspSource} data: blob:`,
    "form-action 'none'",
    "base-uri 'none'",
  ].join("; ");
  return `<!doctype html>
<html lang="${vscode.l10n.bundle ? vscode.env.language : "en"}">
  <head>
    <meta charset="utf-8">
    <title>${html(title)}</title>
    <meta http-equiv="Content-Security-Policy" content="${policy}">
    <link rel="stylesheet" href="${file(".css")}">
  </head>
  <body>
    ${body}
    <script nonce="${nonce}" src="${file(".js")}"></script>
  </body>
</html>`;
}

/** Where our own files of a panel are. */
export function ownFiles(extension: vscode.Uri): vscode.Uri {
  return vscode.Uri.joinPath(extension, "dist", "webview");
}
