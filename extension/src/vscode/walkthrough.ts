// Completes the steps of the walkthrough. The editor completes a step when its context becomes true, but never one
// whose context is true already when a walkthrough is first opened in a window. So the contexts are true for a
// moment only, and for another one whenever such an editor is opened.
import * as vscode from "vscode";

const id = "browser-coordinator.browser-coordinator#browserCoordinator.start";

type Step = "debug" | "connect" | "watch" | "review" | "access";

export class Walkthrough implements vscode.Disposable {
  readonly #done = new Set<Step>();
  readonly #opened = vscode.window.tabGroups.onDidChangeTabs(({ opened }) => {
    if (opened.every(({ input }) => input !== undefined)) return; // the editor reports no kind for a walkthrough
    for (const step of this.#done) void complete(step);
  });

  open(): Thenable<unknown> {
    return vscode.commands.executeCommand("workbench.action.openWalkthrough", id, false);
  }

  /** The user has done what a step is about. */
  done(step: Step): void {
    if (this.#done.has(step)) return;
    this.#done.add(step);
    void complete(step);
  }

  dispose(): void {
    this.#opened.dispose();
  }
}

async function complete(step: Step): Promise<void> {
  for (const value of [true, false]) {
    await vscode.commands.executeCommand("setContext", `browserCoordinator.did.${step}`, value);
  }
}
