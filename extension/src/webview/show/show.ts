// The page of `coordinator show`: every window and private browser of the user, and beside them the live view of
// the page that the user opens.
import * as l10n from "@vscode/l10n";
import { isRecording } from "../../core/access/actions";
import type { Page } from "../../core/browser/pages";
import { pageName } from "../../core/plaintext";
import { part } from "../part";
import { enter } from "./entry";
import { Feed, type ShownWindow } from "./feed";
import { List, make, setText } from "./list";
import { mirror } from "./picture";
import { WindowView } from "./window";

const feed = new Feed();
const windows = new List<ShownWindow>(
  part("windows"),
  ({ key }) => key,
  (window) => new WindowView(window, feed, open),
);
Object.assign(globalThis, { feed, mirror }); // for the live view's document
const { title } = document;
const side = part("side");
const back = part("back");
const asks = part("asked");
/** What the user opened the live view from, which gets the focus back. */
let opener: HTMLElement | undefined;

/** With the live view goes what the user has drawn in it and not sent: whether there is none, or it may go. */
function mayLeave(): boolean {
  const draft = document.querySelector("iframe")?.contentDocument?.getElementById("compose");
  return !draft || draft.hidden || confirm(l10n.t("Your note to an agent is not sent. Discard it?"));
}

/** Shows the live view of a page, which has a document of its own. */
function open({ key }: ShownWindow, page: Page, from: HTMLElement): void {
  const isThere = from.ariaCurrent === "true"; // beside
  if (!isThere && !mayLeave()) return;
  opener = from;
  const src = `live.html?${new URLSearchParams({ window: key, page: page.id })}`;
  const title = l10n.t("Live view of {0}", pageName(page));
  if (!isThere) part("view").replaceChildren(make("iframe", { src, title }));
  side.hidden = back.hidden = false;
  document.body.classList.add("open");
  back.focus();
}

function close(): void {
  if (!mayLeave()) return;
  part("view").replaceChildren();
  side.hidden = back.hidden = true;
  document.body.classList.remove("open");
  opener?.focus();
}

function update(): void {
  const asked = feed.windows.flatMap(({ questions }) => questions).filter((each) => !isRecording(each)).length;
  document.title = asked > 0 ? `(${asked}) ${title}` : title;
  asks.hidden = asked === 0 || feed.lost;
  setText(asks, asked === 1 ? l10n.t("1 Question") : l10n.t("{0} Questions", asked));
  explain("lost", feed.lost ? l10n.t("`coordinator show` has ended. Run it again.") : "");
  const isEmpty = feed.listed && feed.windows.length === 0 && !feed.lost;
  const advice = l10n.t(
    "No window is open, and no agent is connected. Open a folder in VS Code, or run `coordinator window`.",
  );
  explain("none", isEmpty ? advice : "");
  windows.update(feed.lost ? [] : feed.windows);
}

/** Shows a text of ours, with its commands as code. */
function explain(id: string, text: string): void {
  const element = part(id);
  if (element.textContent === text.replaceAll("`", "")) return;
  element.replaceChildren(
    ...text.split("`").map((each, index) => (index % 2 === 0 ? each : make("code", { textContent: each }))),
  );
}

/** Brings the oldest question into sight. */
function showQuestion(): void {
  const question = document.querySelector<HTMLElement>(".question:not(.recording)");
  question?.scrollIntoView({ block: "center" });
  question?.focus();
}

back.addEventListener("click", close);
asks.addEventListener("click", showQuestion);
addEventListener("keydown", ({ key }) => {
  if (key === "Escape" && !side.hidden) close();
});

// Another link, opened in this tab.
addEventListener("hashchange", () => location.reload());

async function start(): Promise<void> {
  try {
    feed.connect(await enter());
  } catch (error) {
    explain("lost", (error as Error).message);
    return;
  }
  feed.subscribe(update);
  setInterval(update, 5_000); // how long ago each did something
}

void start();
