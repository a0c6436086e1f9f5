// The status bar item: what this window offers, in one glance.
import * as vscode from "vscode";
import type { State } from "../core/protocol.generated";
import type { Serving } from "./window";

export interface Shown {
  text: string;
  tooltip: string;
  problem: boolean;
}

export class StatusItem {
  readonly #item = vscode.window.createStatusBarItem("browserCoordinator.status", vscode.StatusBarAlignment.Right, 50);

  constructor() {
    this.#item.name = "Browser Coordinator";
    this.#item.command = "browserCoordinator.showStatus";
  }

  show(shown: Shown): void {
    this.#item.text = shown.text;
    this.#item.tooltip = shown.tooltip;
    this.#item.accessibilityInformation = { label: `Browser Coordinator: ${shown.tooltip}` };
    this.#item.backgroundColor = shown.problem ? new vscode.ThemeColor("statusBarItem.warningBackground") : undefined;
    this.#item.show();
  }

  dispose(): void {
    this.#item.dispose();
  }
}

/** What the item says of a window and its state. */
export function describe(serving: Serving, state: State): Shown {
  if (serving.kind === "failed") {
    return {
      text: "$(warning) Browser",
      tooltip: `Agents cannot find this window: ${serving.problem}. Click for the log.`,
      problem: true,
    };
  }
  const clients = serving.kind === "open" ? serving.server.clients : [];
  const who = [...new Set(clients.map(({ name, version }) => `${name} ${version}`.trim()))].join(", ");
  const connected = who === "" ? "No agent is connected." : `Connected: ${who}.`;
  const browser = state.browser?.product ?? (state.pages.length > 0 ? "The browser's page" : undefined);
  if (browser) {
    const text = clients.length > 0 ? "$(plug) Browser" : "$(browser) Browser";
    return { text, tooltip: `${browser} can be joined by agents and CDP tools. ${connected}`, problem: false };
  }
  const debugging = state.debugSessions.length > 0;
  const tooltip = debugging
    ? `The debug browser of this window offers no endpoint. ${connected} Click for the log.`
    : `Start a browser debug session (F5) to share its browser. ${connected}`;
  return { text: "$(circle-slash) Browser", tooltip, problem: false };
}
