// The live view in a page of `coordinator show`: what a panel's extension host does is done here.
import * as l10n from "@vscode/l10n";
import { askedNodes, waitingText } from "../../core/access/actions";
import { type Agents, LiveView, type Mailbox, type Shown } from "../../core/liveview/liveview";
import { type Message, receive } from "../../core/liveview/message";
import { body } from "../../core/liveview/page";
import { reason, silent } from "../../core/log";
import { plain } from "../../core/plaintext";
import { lastPage } from "../../core/window/lastpage";
import type { Editor } from "../editor";
import { report } from "../report";
import { type Feed, runningOf } from "./feed";
import { make, setText } from "./list";
import type { mirror as Mirror } from "./picture";

/** The overview, in whose frame this is. */
const { feed, mirror } = parent as unknown as { feed: Feed; mirror: typeof Mirror };
const window = new URLSearchParams(location.search).get("window") ?? "";
const page = new URLSearchParams(location.search).get("page");
const states = feed.states(window);
const failure = make("p", { className: "failure", role: "alert" });
const mailbox: Mailbox = {
  get recipients() {
    const { clients = [], notes } = feed.windows.find(({ key }) => key === window) ?? {};
    return notes ? clients.filter(({ kind, stopped }) => kind === "mcp" && !stopped) : [];
  },
  subscribe: (listener) => feed.subscribe(listener),
  send: (client, note) => attempt(feed.giveNote(window, client, note)),
};
const agents: Agents = {
  get lastPage() {
    return lastPage(feed.windows.find(({ key }) => key === window)?.clients ?? []);
  },
  get asked() {
    const { questions = [] } = feed.windows.find(({ key }) => key === window) ?? {};
    return questions.flatMap(({ actions }) => askedNodes(actions.map(({ action }) => action)));
  },
  get waiting() {
    const { clients = [] } = feed.windows.find(({ key }) => key === window) ?? {};
    return waitingText(clients.flatMap(runningOf));
  },
  subscribe: (listener) => feed.subscribe(listener),
};
const live = new LiveView(states, { subscribe: () => () => {}, unreachable: false }, silent, mailbox, agents);
if (page) live.choose(page);
live.onError = (text) => mirror.picture?.note(text);
addEventListener("pagehide", () => {
  live.close();
  mirror.turn();
});

function show(shown: Shown): void {
  if (shown.type === "takeover" && !feed.windows.find(({ key }) => key === window)?.controls) return;
  if (shown.type === "pages") mirror.turn(shown.current);
  else if (shown.type === "empty") mirror.turn();
  else if (shown.type === "frame") void mirror.picture?.draw(shown.data);
  else if (shown.type === "dialog") mirror.picture?.showDialog(shown.dialog);
  const data = shown.type === "empty" ? { ...shown, start: false } : shown;
  dispatchEvent(new MessageEvent("message", { data }));
}

/** Shows why something fails; resolves to whether it does not. */
async function attempt(work: Promise<void>): Promise<boolean> {
  setText(failure, "");
  try {
    await work;
    return true;
  } catch (error) {
    setText(failure, plain(reason(error), 300));
    return false;
  }
}

async function sendNote(client: string, text: string): Promise<void> {
  if (!(await live.sendNote(client, text))) return;
  report(l10n.t("Sent: the agent gets it with its next answer."));
}

/** Shows the element at a place; the one that the user chose is copied, to paste into a chat or a test. */
async function point(x: number, y: number, chosen: boolean): Promise<void> {
  const element = await live.point(x, y, chosen);
  if (chosen && element) await navigator.clipboard.writeText(element.text).catch(() => {});
}

const state = "live";
const editor: Editor = {
  postMessage: (posted) => {
    const message = posted as Message;
    if (message.type === "point") void point(message.x, message.y, message.chosen);
    else if (message.type === "takeOver") void attempt(feed.change(window, { takenOver: message.taken }));
    else if (message.type === "sendNote") void sendNote(message.client, message.text);
    else receive(live, message, show);
  },
  setState: (value) => sessionStorage.setItem(state, JSON.stringify(value)),
  getState: () => JSON.parse(sessionStorage.getItem(state) ?? "null"),
};
// Another window's message is none of the view's.
addEventListener("message", (event) => event.source && event.stopImmediatePropagation());
Object.assign(globalThis, { acquireVsCodeApi: () => editor });
document.body.insertAdjacentHTML("afterbegin", body());
document.getElementById("bar")?.after(failure);
