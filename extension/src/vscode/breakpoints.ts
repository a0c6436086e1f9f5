// Shows who set a breakpoint, at the end of its line: the editor has no place for that.
import * as l10n from "@vscode/l10n";
import * as vscode from "vscode";
import { nameOf } from "../core/plaintext";

const key = "breakpoints";

/** The breakpoints that agents have set, until they are removed. */
export class AgentBreakpoints implements vscode.Disposable {
  /** The agents' names by the breakpoints' ids, which outlive a reload of the window. */
  readonly #names: Map<string, string>;
  readonly #memory: vscode.Memento;
  readonly #look = vscode.window.createTextEditorDecorationType({
    after: { color: new vscode.ThemeColor("editorCodeLens.foreground"), margin: "0 0 0 2em" },
    rangeBehavior: vscode.DecorationRangeBehavior.ClosedClosed,
  });
  readonly #stop: vscode.Disposable;

  constructor(memory: vscode.Memento) {
    this.#memory = memory;
    this.#names = new Map(memory.get<[string, string][]>(key, []));
    this.#stop = vscode.Disposable.from(
      this.#look,
      vscode.debug.onDidChangeBreakpoints(() => {
        const there = new Set(vscode.debug.breakpoints.map(({ id }) => id));
        const gone = [...this.#names.keys()].filter((id) => !there.has(id)); // perhaps while the extension was off
        for (const id of gone) this.#names.delete(id);
        if (gone.length > 0) this.#keep();
        this.#draw();
      }),
      vscode.window.onDidChangeVisibleTextEditors(() => this.#draw()),
    );
    this.#draw();
  }

  /** Notes which agent sets a breakpoint; called before it is added. */
  setBy(agent: string, { id }: vscode.Breakpoint): void {
    this.#names.set(id, agent);
    this.#keep();
  }

  dispose(): void {
    this.#stop.dispose();
  }

  #keep(): void {
    void this.#memory.update(key, [...this.#names]);
  }

  #draw(): void {
    for (const editor of vscode.window.visibleTextEditors) {
      editor.setDecorations(this.#look, this.#marks(editor.document));
    }
  }

  #marks(document: vscode.TextDocument): vscode.DecorationOptions[] {
    return vscode.debug.breakpoints.flatMap((each) => {
      const name = this.#names.get(each.id);
      if (name === undefined || !(each instanceof vscode.SourceBreakpoint)) return [];
      const { line } = each.location.range.start;
      if (each.location.uri.toString() !== document.uri.toString() || line >= document.lineCount) return [];
      const { end } = document.lineAt(line).range;
      const contentText = l10n.t("Breakpoint set by {0}", nameOf(name));
      return [{ range: new vscode.Range(end, end), renderOptions: { after: { contentText } } }];
    });
  }
}
