// The question whether an agent may act: a notification with three answers.
//
// It is a progress notification: unlike others it stays visible until it is answered, its text can
// change while it is shown, and it closes with the question. It has one button, which refuses;
// the other answers are links (adr/0021-how-the-user-is-asked.md).
import * as vscode from "vscode";
import { named, placeOf, questionText, requestText } from "../core/access/actions";
import type { AskedAction, Choice, Permissions, Question } from "../core/access/permission";

const answerCommand = "browserCoordinator.answer";
const tick = 1_000;

/** The editor takes a button's label too; if it did not, the button would read "Cancel", which is true too. */
const refuseLabel = "Refuse" as unknown as boolean;

const choices: { choice: Choice; label: string; icon: string; title?: string }[] = [
  { choice: "once", label: "Allow Once", icon: "check", title: "It is asked about again next time" },
  { choice: "session", label: "Allow for This Session", icon: "check-all", title: "Until the agent leaves" },
  { choice: "refuse", label: "Refuse", icon: "circle-slash" },
];

export function showQuestions(permissions: Permissions): vscode.Disposable {
  let dialog: Dialog | undefined;
  const update = () => {
    const { question } = permissions;
    if (dialog?.id !== question?.id) {
      dialog?.close();
      dialog = question && new Dialog(question, permissions);
    } else if (question) dialog?.show(question);
    void vscode.commands.executeCommand("setContext", "browserCoordinator.asking", question !== undefined);
  };
  update();
  const unsubscribe = permissions.subscribe(update);
  const answer = vscode.commands.registerCommand(answerCommand, (id: string, choice: Choice, seen: number) => {
    if (choices.some((each) => each.choice === choice)) permissions.answer(id, choice, seen);
  });
  const pick = vscode.commands.registerCommand("browserCoordinator.answerQuestion", () => pickAnswer(permissions));
  return vscode.Disposable.from(answer, pick, { dispose: unsubscribe }, { dispose: () => dialog?.close() });
}

/** The same question where the keyboard is: for those who come by the status bar or the palette. */
async function pickAnswer(permissions: Permissions): Promise<void> {
  const { question } = permissions;
  if (!question) return;
  const actions = question.actions.map((action) => ({
    label: requestText(action),
    description: placeOf(action).trim(),
  }));
  const items: (vscode.QuickPickItem & { choice?: Choice })[] = [
    ...choices.map(({ choice, label, icon }) => ({ choice, label: `$(${icon}) ${label}` })),
    {
      label: actions.length === 1 ? "what it wants to do" : `the ${actions.length} actions`,
      kind: vscode.QuickPickItemKind.Separator,
    },
    ...actions,
  ];
  const options = { title: "An agent asks", placeHolder: questionText(question), ignoreFocusOut: true };
  const closed = new vscode.CancellationTokenSource();
  const unsubscribe = permissions.subscribe(() => permissions.question?.id !== question.id && closed.cancel());
  const picked = await vscode.window.showQuickPick(items, options, closed.token);
  unsubscribe();
  closed.dispose();
  if (picked?.choice) permissions.answer(question.id, picked.choice, lastOf(question.actions));
  else if (picked) await pickAnswer(permissions); // an action is no answer
}

class Dialog {
  readonly id: string;
  #question: Question;
  #progress: vscode.Progress<{ message?: string; increment?: number }> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #end = () => {};
  readonly #ended = new Promise<void>((resolve) => {
    this.#end = resolve;
  });

  constructor(question: Question, permissions: Permissions) {
    this.id = question.id;
    this.#question = question;
    const location = vscode.ProgressLocation.Notification;
    void vscode.window.withProgress({ location, cancellable: refuseLabel }, (progress, token) => {
      this.#progress = progress;
      token.onCancellationRequested(() => permissions.answer(question.id, "refuse", lastOf(question.actions)));
      this.show(this.#question);
      // The bar fills as the time runs out; it slows when another action extends the time.
      let left = 100;
      this.#timer = setInterval(() => {
        const increment = left * Math.min(tick / Math.max(this.#question.until - performance.now(), tick), 1);
        left -= increment;
        this.#report(increment);
      }, tick);
      return this.#ended.finally(() => clearInterval(this.#timer));
    });
  }

  show(question: Question): void {
    this.#question = question;
    this.#report();
  }

  /** Always with the words: the editor joins reports that come close together, and keeps the words of the last one only. */
  #report(increment?: number): void {
    const links = choices.flatMap(({ choice, label, title }) =>
      title ? `[${label}](${link(this.#question, choice)} "${title}")` : [],
    );
    this.#progress?.report({ message: `${questionText(this.#question)} ${links.join(" or ")}`, increment });
  }

  close(): void {
    this.#end();
  }
}

/** What is allowed once is what the notification names. */
function link(question: Question, choice: Choice): string {
  const args = [question.id, choice, lastOf(named(question))];
  return `command:${answerCommand}?${encodeURIComponent(JSON.stringify(args))}`;
}

function lastOf(actions: readonly AskedAction[]): number {
  return actions.at(-1)?.number ?? 0;
}
