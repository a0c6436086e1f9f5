// The user points out elements in the page itself, and writes about them to an agent.
import * as l10n from "@vscode/l10n";
import * as vscode from "vscode";
import { setTakenOver } from "../core/access/access";
import { NoResponse } from "../core/browser/cdp";
import { pointOut, visiblePage } from "../core/liveview/pointout";
import { isUnseen } from "../core/liveview/unseen";
import { reason } from "../core/log";
import { clientName, plain } from "../core/plaintext";
import type { Annotation, ConnectedClient } from "../core/protocol/protocol.generated";
import { annotationsLimit } from "../core/window/notelimits";
import type { Notes } from "../core/window/notes";
import type { Store } from "../core/window/store";
import { showSent } from "./liveview";
import { inform, reportError, warn, whileConnecting } from "./notifications";
import type { PageRow } from "./views/browser";

export function offerToPointOut(store: Store, notes: Notes): vscode.Disposable {
  const end = new AbortController();
  const draft: Annotation[] = [];
  let running = false;
  const command = vscode.commands.registerCommand("browserCoordinator.pointOut", async (row?: PageRow) => {
    if (running) return; // the user sees what it waits for
    running = true;
    try {
      await writeNote(store, notes, draft, row?.page.id, end.signal);
    } finally {
      running = false;
    }
  });
  return vscode.Disposable.from(command, { dispose: () => end.abort() });
}

/** A draft that the user has neither sent nor discarded is what the next note begins with. */
async function writeNote(
  store: Store,
  notes: Notes,
  draft: Annotation[],
  page: string | undefined,
  end: AbortSignal,
): Promise<void> {
  if (notes.recipients.length === 0) {
    inform(l10n.t("No agent is connected."));
    return;
  }
  const add = async () => {
    const annotation = await point(store, page, end).catch((error: unknown) => {
      const isSilent = error instanceof NoResponse;
      const silent = l10n.t("The page does not respond. It may show a dialog, or be paused at a breakpoint.");
      void reportError(isSilent ? silent : l10n.t("You cannot point at elements: {0}", reason(error)));
      return undefined;
    });
    const text = annotation && (await comment(annotation));
    if (annotation && text !== undefined) draft.push({ ...annotation, text });
  };
  if (draft.length === 0) await add();
  while (draft.length > 0 && (await isToGoOn(notes, draft))) await add();
}

/** Waits until the user clicks in the page, or in the one in sight; undefined: they do not want to, or cannot. */
async function point(store: Store, page: string | undefined, end: AbortSignal): Promise<Annotation | undefined> {
  const { browser } = store.state;
  if (!browser) {
    void warn(l10n.t("This window has no browser in which you could point at elements."));
    return undefined;
  }
  const { url } = browser;
  const target = page ?? (await visiblePage(url));
  if (target === undefined) {
    void warn(l10n.t("The browser has no page open."));
    return undefined;
  }
  if ((await isUnseen(store.state, target)) !== undefined) {
    const open = l10n.t("Open Live View");
    const advice = l10n.t("This browser has no screen. Draw for an Agent, in the live view, does the same.");
    void warn(advice, open).then((choice) => {
      if (choice === open) void vscode.commands.executeCommand("browserCoordinator.openLiveView");
    });
    return undefined;
  }
  const title = l10n.t("Click the element that you mean, in the browser. Escape there cancels.");
  const isTakenOver = () => store.state.access.takenOver === true;
  const isMine = !isTakenOver();
  if (isMine) setTakenOver(store, true); // an agent's click would be the user's
  const givenBack = new AbortController();
  const unsubscribe = store.subscribe(() => isTakenOver() || givenBack.abort());
  try {
    return await whileConnecting(title, (_, cancelled) =>
      pointOut(url, target, AbortSignal.any([cancelled, givenBack.signal, end])),
    );
  } finally {
    unsubscribe();
    if (isMine && !givenBack.signal.aborted) setTakenOver(store, false);
  }
}

async function comment({ element }: Annotation): Promise<string | undefined> {
  return vscode.window.showInputBox({
    title: plain(element, 100),
    prompt: l10n.t("What the agent should know or do"),
    ignoreFocusOut: true, // the user comes from the browser
  });
}

interface Choice extends vscode.QuickPickItem {
  client?: ConnectedClient;
}

/** Sends the note, discards it or leaves it for later, unless the user wants to point at another element first. */
async function isToGoOn(notes: Notes, draft: Annotation[]): Promise<boolean> {
  const add: Choice = { label: `$(add) ${l10n.t("Add Another")}` };
  const discard: Choice = { label: `$(trash) ${l10n.t("Discard")}` };
  for (;;) {
    const send = notes.recipients.map((client): Choice => {
      return { label: `$(send) ${l10n.t("Send to {0}", clientName(client))}`, client };
    });
    const choices = [...send, ...(draft.length < annotationsLimit ? [add] : []), discard];
    const choice = await vscode.window.showQuickPick(choices, {
      title: l10n.t("Note to an agent"),
      placeHolder:
        send.length === 0
          ? l10n.t("No agent is connected.")
          : draft.map(({ element }) => plain(element, 40)).join(", "),
      ignoreFocusOut: true,
    });
    if (choice === add) return true;
    if (choice?.client) {
      const isSent = notes.send(choice.client.id, { text: "", annotations: [...draft] });
      showSent(isSent);
      if (!isSent) continue;
    } else if (choice !== discard) {
      const kept = l10n.t("Your note is kept: Point Out Elements to an Agent goes on with it.");
      vscode.window.setStatusBarMessage(kept, 5_000);
      return false;
    }
    draft.length = 0;
    return false;
  }
}
