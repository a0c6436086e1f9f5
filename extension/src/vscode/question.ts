// The question whether an agent may act. A progress notification has its text: unlike others it stays visible
// until it is answered, its text can change, and it closes with the question. The answers are buttons in the
// status bar, right below it, with keys; and rows of a list (adr/0021-how-the-user-is-asked.md).
import * as l10n from "@vscode/l10n";
import * as vscode from "vscode";
import { named, placeOf, questionText, requestText } from "../core/access/actions";
import type { AskedAction, Choice, Permissions, Question } from "../core/access/permission";

const tick = 1_000;
/** A question can be answered from when it has been visible this long: a click or a key may be meant for the one before. */
const pause = 500;

interface Answer {
  choice: Choice;
  /** The last part of its command's name. */
  command: string;
  label: string;
  icon: string;
  key: string;
  about: string;
}

function answers(): Answer[] {
  const key = process.platform === "darwin" ? "⌘K" : "Ctrl+K";
  const once = l10n.t("Only what is asked now.");
  const session = l10n.t("Everything, until the agent leaves.");
  const refuse = l10n.t("The agent gets an error.");
  return [
    { choice: "once", command: "allowOnce", label: l10n.t("Allow Once"), icon: "check", key: `${key} Y`, about: once },
    {
      choice: "session",
      command: "allowForSession",
      label: l10n.t("Allow for This Session"),
      icon: "check-all",
      key: `${key} Shift+Y`,
      about: session,
    },
    {
      choice: "refuse",
      command: "refuse",
      label: l10n.t("Refuse"),
      icon: "circle-slash",
      key: `${key} N`,
      about: refuse,
    },
  ];
}

export function showQuestions(permissions: Permissions): vscode.Disposable {
  let dialog: Dialog | undefined;
  const update = () => {
    const { question } = permissions;
    if (dialog?.id !== question?.id) {
      dialog?.close();
      dialog = question && new Dialog(question, permissions);
    } else if (question) dialog?.show(question);
  };
  setAsking(false);
  update();
  const unsubscribe = permissions.subscribe(update);
  return vscode.Disposable.from(
    ...answers().map(({ command, choice }) =>
      vscode.commands.registerCommand(`browserCoordinator.${command}`, () => dialog?.answer(choice)),
    ),
    vscode.commands.registerCommand("browserCoordinator.answerQuestion", () => pickAnswer(permissions)),
    { dispose: unsubscribe },
    { dispose: () => dialog?.close() },
  );
}

/** The same question as a list, with all its actions. No row of it has the focus: Enter alone answers nothing. */
async function pickAnswer(permissions: Permissions): Promise<void> {
  const { question } = permissions;
  if (!question) return;
  const { actions } = question;
  const list = vscode.window.createQuickPick<vscode.QuickPickItem & { choice?: Choice }>();
  list.title = l10n.t("An agent asks");
  list.placeholder = questionText(question);
  list.ignoreFocusOut = true;
  list.items = [
    ...answers().map(({ choice, label, icon, key }) => ({ choice, label: `$(${icon}) ${label}`, description: key })),
    {
      label: actions.length === 1 ? l10n.t("what it wants to do") : l10n.t("the {0} actions", actions.length),
      kind: vscode.QuickPickItemKind.Separator,
    },
    ...actions.map((action) => ({ label: requestText(action), description: placeOf(action).trim() })),
  ];
  list.activeItems = [];
  const unsubscribe = permissions.subscribe(() => permissions.question?.id !== question.id && list.hide());
  list.onDidAccept(() => {
    const choice = list.selectedItems[0]?.choice;
    if (choice) permissions.answer(question.id, choice, lastOf(actions));
  });
  const hidden = new Promise((resolve) => list.onDidHide(resolve));
  list.show();
  await hidden;
  unsubscribe();
  list.dispose();
}

class Dialog {
  readonly id: string;
  readonly #permissions: Permissions;
  #question: Question;
  #progress: vscode.Progress<{ message?: string; increment?: number }> | undefined;
  readonly #pause: NodeJS.Timeout;
  #buttons: vscode.StatusBarItem[] = [];
  #end = () => {};
  readonly #ended = new Promise<void>((resolve) => {
    this.#end = resolve;
  });

  constructor(question: Question, permissions: Permissions) {
    this.id = question.id;
    this.#question = question;
    this.#permissions = permissions;
    this.#open();
    this.#pause = setTimeout(() => {
      this.#buttons = answers().map(button);
      setAsking(true);
    }, pause);
  }

  show(question: Question): void {
    this.#question = question;
    this.#report();
  }

  /** What is allowed once is what the notification names. */
  answer(choice: Choice): void {
    if (this.#buttons.length > 0) this.#permissions.answer(this.id, choice, lastOf(named(this.#question)));
  }

  close(): void {
    clearTimeout(this.#pause);
    for (const each of this.#buttons) each.dispose();
    setAsking(false);
    this.#end();
  }

  /** Its own button opens the list. The editor takes a label for it; if it did not, the button would read "Cancel". */
  #open(): void {
    const cancellable = l10n.t("Answer...") as unknown as boolean;
    const location = vscode.ProgressLocation.Notification;
    void vscode.window.withProgress({ location, cancellable }, async (progress, token) => {
      this.#progress = progress;
      this.#report();
      // The bar fills as the time runs out; it slows when another action extends the time.
      let left = 100;
      const timer = setInterval(() => {
        const increment = left * Math.min(tick / Math.max(this.#question.until - performance.now(), tick), 1);
        left -= increment;
        this.#report(increment);
      }, tick);
      const pressed = new Promise((resolve) => token.onCancellationRequested(resolve));
      await Promise.race([this.#ended, pressed]);
      clearInterval(timer);
      if (token.isCancellationRequested) void this.#pick(); // the editor has closed the notification
    });
  }

  async #pick(): Promise<void> {
    await pickAnswer(this.#permissions);
    if (this.#permissions.question?.id === this.id) this.#open();
  }

  /** Always with the text: the editor joins reports that come close together, and keeps the text of the last one only. */
  #report(increment?: number): void {
    this.#progress?.report({ message: questionText(this.#question), increment });
  }
}

/** A button below the notification. */
function button({ command, label, icon, key, about }: Answer, place: number): vscode.StatusBarItem {
  const item = vscode.window.createStatusBarItem(command, vscode.StatusBarAlignment.Right, 49 - place / 10);
  item.name = label;
  item.text = `$(${icon}) ${label}`;
  item.tooltip = `${label} (${key})\n${about}`;
  item.accessibilityInformation = { label: `${label}, ${key}`, role: "button" };
  item.command = `browserCoordinator.${command}`;
  item.backgroundColor = new vscode.ThemeColor("statusBarItem.warningBackground");
  item.show();
  return item;
}

function setAsking(asking: boolean): void {
  void vscode.commands.executeCommand("setContext", "browserCoordinator.asking", asking);
}

function lastOf(actions: readonly AskedAction[]): number {
  return actions.at(-1)?.number ?? 0;
}
