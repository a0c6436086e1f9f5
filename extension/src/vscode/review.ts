// The review panel in the editor.
import { join } from "node:path";
import * as l10n from "@vscode/l10n";
import * as vscode from "vscode";
import { editorPaths } from "../core/files/paths";
import { type Log, reason } from "../core/log";
import { clientName, html } from "../core/plaintext";
import { Refusal } from "../core/protocol/request";
import type { AnswerStatus, PanelAnswer, Review } from "../core/review/answer";
import { type ReviewPanel, type ReviewPlace, Reviews } from "../core/review/review";
import { isReview, ReviewFiles } from "../core/review/reviewfiles";
import { applyDiff, readFileNow } from "./applydiff";
import { folders } from "./folders";
import { inFolders, openFile } from "./openfile";
import { ownFiles, page } from "./webview";

const viewType = "browserCoordinator.review";

export function openReviews(
  context: vscode.ExtensionContext,
  isHere: (client: string) => boolean,
  /** Called when the user answers. */
  answered: () => void,
  log: Log,
): { reviews: Reviews; disposable: vscode.Disposable } {
  const { extensionUri: extension, storageUri, globalStorageUri } = context;
  // A window without a folder has no storage.
  const files = new ReviewFiles(join((storageUri ?? globalStorageUri).fsPath, "reviews"), log);
  const place: ReviewPlace = {
    open(label) {
      const all = reviewTabs();
      const tab = all.find((each) => each.label === label);
      const viewColumn = (tab ?? all[0])?.group.viewColumn ?? vscode.ViewColumn.Beside;
      const place = { viewColumn, preserveFocus: true };
      const panel = new Panel(vscode.window.createWebviewPanel(viewType, label, place, {}), extension, answered);
      if (tab) void vscode.window.tabGroups.close(tab, true);
      return panel;
    },
    has: (label) => reviewTabs().some((tab) => tab.label === label),
    stored: () => files.all(),
    keep: (review) => files.keep(review),
    forget: (review) => files.forget(review),
    readFile: readFileNow,
    waits(text, until) {
      const options = { location: vscode.ProgressLocation.Window, title: text };
      // In the status bar: a notification would cover the buttons.
      void vscode.window.withProgress(options, () => until.catch(() => {}));
    },
  };
  const reviews = new Reviews(place, isHere);
  const serializer = vscode.window.registerWebviewPanelSerializer(viewType, {
    async deserializeWebviewPanel(panel, state) {
      if (isReview(state)) await reviews.adopt(state, new Panel(panel, extension, answered));
      else panel.dispose();
    },
  });
  return { reviews, disposable: serializer };
}

/** The tabs of reviews, also those whose panel the editor has not made again yet. */
function reviewTabs(): vscode.Tab[] {
  const all = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
  return all.filter(({ input }) => input instanceof vscode.TabInputWebview && input.viewType.endsWith(viewType));
}

class Panel implements ReviewPanel {
  readonly onClosed: (listener: () => void) => void;
  readonly #answers = new vscode.EventEmitter<{ given: PanelAnswer; shown: Review }>();
  #review: Review | undefined;
  #status: AnswerStatus | undefined;
  #revision = 0;
  /** The page has loaded; it loads again whenever the panel comes back into sight. */
  #ready = false;
  #closed = false;
  #waiting: { revision: number; resolve: () => void; reject: (error: Error) => void }[] = [];

  constructor(
    private readonly panel: vscode.WebviewPanel,
    extension: vscode.Uri,
    private readonly answered: () => void,
  ) {
    const { webview } = panel;
    const folders = (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => uri);
    webview.options = { enableScripts: true, localResourceRoots: [ownFiles(extension), ...folders] };
    panel.iconPath = vscode.Uri.joinPath(extension, "media", "icon.png");
    this.onClosed = (listener) => void panel.onDidDispose(listener);
    panel.onDidDispose(() => this.#dispose());
    webview.onDidReceiveMessage((message: Message) => this.#message(message));
    webview.html = page(webview, extension, "review", panel.title, body(panel.title));
  }

  onAnswer(listener: (given: PanelAnswer, shown: Review) => void): void {
    this.#answers.event(({ given, shown }) => listener(given, shown));
  }

  show(review: Review, status: AnswerStatus): Promise<void> {
    this.#review = review;
    this.#status = status;
    this.#revision += 1;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#waiting.push({ revision: this.#revision, resolve, reject });
    if (this.#closed) this.#dispose();
    else {
      this.reveal();
      if (this.#ready) void this.#send();
    }
    return promise;
  }

  status(status: AnswerStatus): void {
    this.#status = status;
    if (!this.#closed) void this.panel.webview.postMessage({ type: "status", status });
  }

  reveal(): void {
    if (!this.#closed && !this.panel.visible) this.panel.reveal(undefined, true);
  }

  close(): void {
    this.panel.dispose();
  }

  #message(message: Message): void {
    if (message.type === "ready") {
      this.#ready = true;
      void this.#send();
    } else if (message.type === "shown") {
      const done = this.#waiting.filter(({ revision }) => revision <= message.revision);
      this.#waiting = this.#waiting.filter(({ revision }) => revision > message.revision);
      for (const { resolve } of done) resolve();
    } else if (message.type === "open") void openFile(message);
    else if (this.#review && message.revision === this.#revision) this.#do(message, this.#review);
  }

  /** The page shows this review as it is now. */
  #do(message: Action, shown: Review): void {
    if (message.type === "answer") {
      this.#answers.fire({ given: message, shown });
      this.answered();
    } else if (message.type === "copy") void this.#copy(message.line, shown);
    else if (message.type === "apply") void this.#apply(message.line, shown);
  }

  async #copy(line: number, shown: Review): Promise<void> {
    await vscode.env.clipboard.writeText(await codeOf(shown, line));
    void vscode.window.setStatusBarMessage(l10n.t("Copied"), 3_000);
  }

  async #apply(line: number, shown: Review): Promise<void> {
    const text = await applyDiff(codeOf(shown, line)).catch((error: unknown) =>
      l10n.t("Nothing was changed. {0}", reason(error)),
    );
    const { visible } = await import("../core/visible");
    if (!this.#closed) void this.panel.webview.postMessage({ type: "applied", line, text: visible(text) });
  }

  async #send(): Promise<void> {
    try {
      await this.#post();
    } catch (error) {
      for (const { reject } of this.#waiting.splice(0))
        reject(new Error(`the review cannot be shown: ${reason(error)}`));
    }
  }

  async #post(): Promise<void> {
    const { toHtml } = await import("../core/review/markdown");
    const toPath = await editorPaths(folders());
    const review = this.#review;
    if (!review || this.#closed) return;
    const html = toHtml(review.markdown, (path) => this.#image(path, toPath));
    await this.panel.webview.postMessage({
      type: "show",
      revision: this.#revision,
      html,
      author: l10n.t("From {0}", clientName(review.client)),
      keep: review,
      status: this.#status,
    });
  }

  /** Only of the window's folders: nothing else can be loaded anyway. */
  #image(path: string, toPath: (path: string) => string): string | undefined {
    if (folders().length === 0) return undefined;
    const file = toPath(path);
    return inFolders(file) ? this.panel.webview.asWebviewUri(vscode.Uri.file(file)).toString() : undefined;
  }

  #dispose(): void {
    this.#closed = true;
    this.#answers.dispose();
    for (const { reject } of this.#waiting.splice(0)) {
      reject(new Refusal("refused", "the user closed the review before it was shown"));
    }
  }
}

type Message =
  | { type: "ready" }
  | { type: "shown"; revision: number }
  | { type: "open"; file: string; line: number; column: number }
  | Action;

/** What the user does with the text that they see, by its revision. */
type Action = { revision: number } & (({ type: "answer" } & PanelAnswer) | { type: "copy" | "apply"; line: number });

/** The page: the client's text, and below it what is the user's. */
function body(title: string): string {
  return `<header><h1 class="unseen">${html(title)}</h1><div id="author"></div></header>
    <main id="content"></main>
    <form id="answer" aria-label="${l10n.t("Your answer")}">
      <div id="lost"></div>
      <p id="status" role="status"></p>
      <textarea id="text" rows="1" maxlength="10000" aria-label="${l10n.t("Your answer")}"
        placeholder="${l10n.t("What the agent should know")}"></textarea>
      <div class="buttons">
        <button type="button" id="approve">${l10n.t("Approve")}</button>
        <button type="button" id="changes">${l10n.t("Request Changes")}</button>
        <span id="count" data-text="${l10n.t("Comments: {0}", "#")}"></span>
      </div>
      <p id="problem" role="alert" data-empty="${l10n.t("Write what should change, or comment on a line.")}"></p>
      <template id="note">
        <div class="note">
          <textarea rows="2" maxlength="10000" placeholder="${l10n.t("Your comment")}"></textarea>
          <button type="button" class="secondary">${l10n.t("Remove Comment")}</button>
        </div>
      </template>
    </form>`;
}

/** The code is that of the review, not what the page may have made of it. */
async function codeOf({ markdown }: Review, line: number): Promise<string> {
  const { codeAt } = await import("../core/review/markdown");
  return codeAt(markdown, line) ?? "";
}
