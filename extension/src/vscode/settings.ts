// The settings by which the user shares what agents need.
import * as vscode from "vscode";
import { isOn } from "../core/settings";

type Switch = "registerMcpServer" | "setEnvironment" | "shareEditor";

export function isEnabled(name: Switch): boolean {
  return isOn(vscode.workspace.getConfiguration("browserCoordinator").inspect(name) ?? {});
}
