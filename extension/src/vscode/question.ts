// The question whether an agent may act, or a CDP client connect. A progress notification has its text: unlike
// others it stays visible until it is answered, its text can change, and it closes with the question. The answers
// are buttons in the status bar, right below it, with keys; and rows of a list (adr/0021-how-the-user-is-asked.md).
import * as l10n from "@vscode/l10n";
import * as vscode from "vscode";
import { connecting, fullText, named, placeOf, questionText, requestText } from "../core/access/actions";
import { type AnswerText, answersTo } from "../core/access/answers";
import type { AskedAction, Choice, Permissions, Question } from "../core/access/permission";
import { pause, Sight } from "../core/sight";
import { labelled } from "./notice";

const tick = 1_000;

/** In the order of their buttons: a narrow window hides the first ones, so the careful answers come last. */
const commands: Record<Choice, string> = {
  session: "browserCoordinator.allowForSession",
  category: "browserCoordinator.allowCategory",
  once: "browserCoordinator.allowOnce",
  connect: "browserCoordinator.allowConnection",
  view: "browserCoordinator.viewOnly",
  refuse: "browserCoordinator.refuse",
};

/** As the manifest has them. */
const prefix = process.platform === "darwin" ? "⌘K" : "Ctrl+K";
const keys: Record<Choice, string> = {
  once: `${prefix} Y`,
  category: `${prefix} Alt+Y`,
  session: `${prefix} Shift+Y`,
  connect: `${prefix} Y`,
  view: `${prefix} Alt+Y`,
  refuse: `${prefix} N`,
};

interface Answer extends AnswerText {
  key: string;
}

/** The answers to a question about these actions. */
function answers(actions: readonly AskedAction[]): Answer[] {
  return answersTo(actions).map((answer) => ({ ...answer, key: keys[answer.choice] }));
}

/** What a question's text has not all of: in an editor without the focus, until the question is answered. */
class FullText implements vscode.TextDocumentContentProvider {
  readonly #changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.#changed.event;
  #shown: { file: vscode.Uri; registration: vscode.Disposable } | undefined;
  #text = "";

  constructor(private readonly id: string) {}

  provideTextDocumentContent(): string {
    return this.#text;
  }

  show(text: string): void {
    if (text === this.#text) return;
    this.#text = text;
    if (this.#shown) this.#changed.fire(this.#shown.file);
    if (text === "") return;
    this.#shown ??= this.#register();
    const options = { preserveFocus: true, preview: true };
    void vscode.window.showTextDocument(this.#shown.file, options).then(undefined, (error) => {
      void vscode.window.showErrorMessage(l10n.t("Refuse what you cannot read in full: {0}", String(error)));
    });
  }

  #register() {
    const scheme = `browser-coordinator-question-${this.id}`;
    const file = vscode.Uri.from({ scheme, path: `/${l10n.t("What the agent wants to do")}.txt` });
    return { file, registration: vscode.workspace.registerTextDocumentContentProvider(scheme, this) };
  }

  dispose(): void {
    this.#changed.dispose();
    const shown = this.#shown;
    if (!shown) return;
    const isIts = ({ input }: vscode.Tab) =>
      input instanceof vscode.TabInputText && input.uri.toString() === shown.file.toString();
    const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs).filter(isIts);
    if (tabs.length > 0) void vscode.window.tabGroups.close(tabs, true);
    shown.registration.dispose();
  }
}

export function showQuestions(permissions: Permissions): vscode.Disposable {
  let dialog: Dialog | undefined;
  const update = () => {
    const { question } = permissions;
    if (dialog?.id !== question?.id) {
      dialog?.close();
      dialog = question && new Dialog(question, permissions);
    } else if (question) dialog?.show(question);
    setContext("asking", question !== undefined);
  };
  setCanAnswer([]);
  update();
  const unsubscribe = permissions.subscribe(update);
  return vscode.Disposable.from(
    ...Object.entries(commands).map(([choice, command]) =>
      vscode.commands.registerCommand(command, () => dialog?.answer(choice as Choice)),
    ),
    vscode.commands.registerCommand("browserCoordinator.answerQuestion", () => pickAnswer(permissions)),
    { dispose: unsubscribe },
    { dispose: () => dialog?.close() },
  );
}

/** The same question as a list. Of several actions each can be chosen, to be answered alone. */
async function pickAnswer(permissions: Permissions): Promise<void> {
  const { question } = permissions;
  if (!question) return;
  const action = await pickFrom(question, permissions);
  if (!action) return;
  await pickFrom({ ...question, actions: [action] }, permissions);
  if (permissions.question?.client.id === question.client.id) await pickAnswer(permissions);
}

/** Answers these actions, or returns the one that the user chooses. No row has the focus: Enter alone does nothing. */
async function pickFrom(question: Question, permissions: Permissions): Promise<AskedAction | undefined> {
  const { actions } = question;
  const list = vscode.window.createQuickPick<vscode.QuickPickItem & { choice?: Choice; action?: AskedAction }>();
  const joins = actions[0]?.act === connecting;
  list.title = joins ? l10n.t("A program asks") : l10n.t("An agent asks");
  list.placeholder = questionText(question);
  list.ignoreFocusOut = true;
  list.items = [
    ...answers(actions).map(({ choice, label, icon, key }) => ({
      choice,
      label: `$(${icon}) ${label}`,
      description: key,
    })),
    {
      label: actions.length === 1 ? l10n.t("what it wants to do") : l10n.t("answer one of the {0}", actions.length),
      kind: vscode.QuickPickItemKind.Separator,
    },
    ...actions.map((action) => ({ label: requestText(action), description: placeOf(action).trim(), action })),
  ];
  list.activeItems = [];
  const unsubscribe = permissions.subscribe(() => permissions.question?.id !== question.id && list.hide());
  let chosen: AskedAction | undefined;
  const sight = new Sight<AskedAction>();
  list.onDidAccept(() => {
    if (!actions.every((each) => sight.isReadable(each))) return;
    const { choice, action } = list.selectedItems[0] ?? {};
    if (choice) permissions.answer(question.id, choice, actions);
    else if (action && actions.length > 1) chosen = action;
    else return;
    list.hide();
  });
  const hidden = new Promise((resolve) => list.onDidHide(resolve));
  list.show();
  sight.show(...actions);
  await hidden;
  unsubscribe();
  list.dispose();
  return chosen;
}

class Dialog {
  readonly id: string;
  readonly #permissions: Permissions;
  #question: Question;
  /** The actions that the notification names, and all that it counts. */
  readonly #named = new Sight<AskedAction>();
  readonly #counted = new Sight<AskedAction>();
  #progress: vscode.Progress<{ message?: string; increment?: number }> | undefined;
  readonly #pause: NodeJS.Timeout;
  readonly #full: FullText;
  #buttons: Buttons | undefined;
  #end = () => {};
  readonly #ended = new Promise<void>((resolve) => {
    this.#end = resolve;
  });

  constructor(question: Question, permissions: Permissions) {
    this.id = question.id;
    this.#question = question;
    this.#permissions = permissions;
    this.#full = new FullText(question.id);
    this.#open();
    this.#pause = setTimeout(() => {
      this.#buttons = new Buttons();
      this.#buttons.show(named(this.#question));
    }, pause);
  }

  show(question: Question): void {
    this.#question = question;
    this.#buttons?.show(named(question));
    this.#report();
  }

  /** What is allowed is what the notification names; what is refused is all. */
  answer(choice: Choice): void {
    const sight = choice === "refuse" ? this.#counted : this.#named;
    const actions = this.#question.actions.filter((each) => sight.isReadable(each));
    this.#permissions.answer(this.id, choice, actions);
  }

  close(): void {
    clearTimeout(this.#pause);
    this.#full.dispose();
    this.#buttons?.dispose();
    this.#end();
  }

  /** Its own button opens the list. */
  #open(): void {
    const cancellable = labelled(l10n.t("Answer..."));
    const location = vscode.ProgressLocation.Notification;
    void vscode.window.withProgress({ location, cancellable }, async (progress, token) => {
      this.#progress = progress;
      this.#report();
      // The bar fills as the time runs out; it slows when another action extends the time.
      let remaining = 100;
      const timer = setInterval(() => {
        const increment = remaining * Math.min(tick / Math.max(this.#question.until - performance.now(), tick), 1);
        remaining -= increment;
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

  /** Always with the text: the editor joins reports that come close together, and keeps the last one's text. */
  #report(increment?: number): void {
    this.#named.show(...named(this.#question));
    this.#counted.show(...this.#question.actions);
    this.#full.show(fullText(this.#question.actions));
    this.#progress?.report({ message: questionText(this.#question), increment });
  }
}

/** The buttons below the notification. */
class Buttons {
  readonly #items = new Map<Choice, vscode.StatusBarItem>();

  constructor() {
    for (const [place, choice] of (Object.keys(commands) as Choice[]).entries()) {
      const item = vscode.window.createStatusBarItem(choice, vscode.StatusBarAlignment.Right, 49 - place / 10);
      item.command = commands[choice];
      item.backgroundColor = new vscode.ThemeColor("statusBarItem.warningBackground");
      this.#items.set(choice, item);
    }
  }

  /** Those that answer these actions. One that stays keeps the focus. */
  show(actions: readonly AskedAction[]): void {
    const all = answers(actions);
    for (const [choice, item] of this.#items) {
      const answer = all.find((each) => each.choice === choice);
      if (!answer) {
        item.hide();
        continue;
      }
      const { icon, label, short, about, key } = answer;
      item.name = label;
      item.text = `$(${icon}) ${short}`;
      item.tooltip = `${label} (${key})\n${about}`;
      item.accessibilityInformation = { label: `${label}, ${key}`, role: "button" };
      item.show();
    }
    setCanAnswer(all.map(({ choice }) => choice));
  }

  dispose(): void {
    for (const item of this.#items.values()) item.dispose();
    setCanAnswer([]);
  }
}

/** The keys depend on it. */
function setCanAnswer(choices: readonly Choice[]): void {
  setContext("canAnswer", choices.includes("refuse"));
  setContext("canAllowOnce", choices.includes("once"));
  setContext("canAllowCategory", choices.includes("category"));
  setContext("canAllowForSession", choices.includes("session"));
  setContext("canAllowConnection", choices.includes("connect"));
}

function setContext(name: string, value: boolean): void {
  void vscode.commands.executeCommand("setContext", `browserCoordinator.${name}`, value);
}
