// A window in the overview: its questions, its pages, and who uses its browser.
import * as l10n from "@vscode/l10n";
import { modes, modeWords } from "../../core/access/access";
import {
  actionText,
  fullText,
  isRecording,
  named,
  questionText,
  requestingTab,
  waitingText,
} from "../../core/access/actions";
import { answersTo } from "../../core/access/answers";
import type { AskedAction, Choice } from "../../core/access/permission";
import { type Page, Pages } from "../../core/browser/pages";
import { candidates } from "../../core/browser/usertabs";
import { reason, silent } from "../../core/log";
import { browserName, clientName, plain } from "../../core/plaintext";
import type { AccessMode, PendingQuestion } from "../../core/protocol/protocol.generated";
import { pause, Sight } from "../../core/sight";
import { type Feed, partsOf, runningOf, type ShownClient, type ShownWindow } from "./feed";
import { List, make, setText, type View } from "./list";
import { Picture } from "./picture";
import { TabList } from "./tabs";

export type Open = (window: ShownWindow, page: Page, from: HTMLElement) => void;

export class WindowView implements View<ShownWindow> {
  readonly element: HTMLElement;
  readonly #title = make("h2", {});
  readonly #about = make("p", { className: "about" });
  readonly #mode = make("select", { ariaLabel: l10n.t("What agents may do") });
  readonly #drive = make("button", { type: "button", className: "secondary" });
  readonly #driving = make("div", { className: "driving", role: "status", hidden: true });
  readonly #waiting = make("span", {});
  readonly #hand = make("details", { className: "hand" });
  readonly #tabs: TabList;
  readonly #failure = make("p", { className: "failure", role: "alert" });
  readonly #absence = make("p", { className: "absence" });
  readonly #questions: List<PendingQuestion>;
  readonly #pictures: List<Page>;
  readonly #clients: List<ShownClient>;
  readonly #pages: Pages;

  constructor(
    private window: ShownWindow,
    feed: Feed,
    open: Open,
  ) {
    const { key } = window;
    const states = feed.states(key);
    const questions = make("div", { className: "questions" });
    const pages = make("ul", { className: "pages" });
    const clients = make("ul", { className: "clients", ariaLabel: l10n.t("Agents and clients") });
    this.#questions = new List(
      questions,
      ({ id }) => id,
      () =>
        new QuestionView(
          (id, choice, last, tab) => this.#try(feed.answer(key, id, choice, last, tab)),
          (tabs) => {
            const { own } = this.window;
            if (own !== "") this.#try(feed.tabs(own).then((all) => tabs.update(candidates(all, undefined))));
            return own !== "";
          },
        ),
    );
    this.#tabs = new TabList((tab) =>
      this.#try(feed.toggle(this.window.own, tab).then((tabs) => this.#tabs.update(tabs))),
    );
    this.#hand.append(make("summary", {}, l10n.t("Hand a Tab to Agents")), this.#tabs.element);
    this.#hand.addEventListener("toggle", () => {
      if (!this.#hand.open) return;
      this.#tabs.focus();
      this.#try(feed.tabs(this.window.own).then((tabs) => this.#tabs.update(tabs)));
    });
    this.#driving.append(make("span", {}, l10n.t("You drive")), this.#waiting);
    this.#pictures = new List(
      pages,
      ({ id }) => id,
      (page) =>
        new Picture(
          page,
          states,
          (page, from) => open(this.window, page, from),
          () => (this.window.own === "" ? (page) => this.#try(feed.closePage(key, page)) : undefined),
        ),
    );
    this.#clients = new List(
      clients,
      ({ id }) => id,
      () =>
        new ClientView(({ name, stopped }) => this.#try(feed.change(key, stopped ? { resume: name } : { stop: name }))),
    );
    this.#mode.append(...modes.map((mode) => make("option", { value: mode, textContent: modeWords(mode).label })));
    this.#mode.addEventListener("change", () => this.#try(feed.change(key, { mode: this.#mode.value as AccessMode })));
    this.#drive.addEventListener("click", () => this.#try(feed.change(key, { takenOver: !this.window.takenOver })));
    this.#drive.classList.add("drive");
    const head = make("header", {}, make("div", {}, this.#title, this.#about), this.#drive, this.#mode);
    const body = make("div", { className: "body" }, make("div", {}, pages, this.#absence), clients);
    this.element = make("section", {}, head, this.#driving, this.#failure, questions, this.#hand, body);
    this.#pages = new Pages(states, silent);
    this.#pages.subscribe(() => this.#list());
    this.#pages.visible = true;
  }

  update(window: ShownWindow): void {
    this.window = window;
    setText(this.#title, plain(window.title, 80));
    this.element.ariaLabel = this.#title.textContent;
    const browser = browserName({ ...window.state, browser: window.state.browser && { product: window.product } });
    const isOwn = window.own !== "";
    const parts = [
      kindName(window.kind),
      isOwn ? l10n.t("your own {0}", browser ?? "Chrome") : (browser ?? ""),
      plain(window.place, 200),
    ];
    setText(this.#about, parts.filter((part) => part !== "").join(" · "));
    this.#about.title = this.#about.textContent;
    this.#mode.hidden = window.mode === "";
    this.#mode.disabled = !window.controls;
    if (document.activeElement !== this.#mode) this.#mode.value = window.mode;
    setText(this.#drive, window.takenOver ? l10n.t("Give Back") : l10n.t("Take Over"));
    this.#drive.title = window.takenOver
      ? l10n.t("You have taken over the browser: the actions of agents wait.")
      : l10n.t("The actions of agents wait meanwhile");
    this.#drive.hidden = !window.controls || (!window.takenOver && !browser);
    this.#drive.classList.toggle("secondary", !window.takenOver);
    this.#driving.hidden = !window.takenOver;
    setText(this.#waiting, waitingText(window.clients.flatMap(runningOf)));
    this.element.classList.toggle("own", isOwn);
    // The list of a question has the same tabs.
    const asksForTab = window.questions.some(({ actions }) =>
      actions.some(({ action }) => action.act === requestingTab),
    );
    this.#hand.hidden = !window.hands || asksForTab;
    if (this.#hand.hidden) this.#hand.open = false;
    this.#questions.update(window.questions);
    const gone = window.stopped.filter((name) => !window.clients.some((client) => client.name === name));
    this.#clients.update([
      ...window.clients.map((client) => ({ ...client, stoppable: window.controls, waits: waitOf(window, client) })),
      ...gone.map((name) => ({ ...absent(name), stoppable: window.controls })),
    ]);
    this.#list();
  }

  close(): void {
    this.#pages.close();
    this.#pictures.close();
  }

  #list(): void {
    const { all } = this.#pages;
    this.#pictures.update(all);
    const { browser, pages } = this.window.state;
    const none = browser || pages.length > 0 ? l10n.t("The browser has no page open.") : this.#noBrowser();
    const isListing = browser !== null && !this.#pages.listed;
    setText(this.#absence, all.length > 0 || isListing ? "" : none);
  }

  #noBrowser(): string {
    if (this.window.product) return l10n.t("The pages of this browser are not shown here.");
    if (this.window.kind === "vscode")
      return l10n.t("No browser is being debugged there. Start one in VS Code with F5.");
    return l10n.t("No browser is open.");
  }

  #try(work: Promise<void>): void {
    setText(this.#failure, "");
    work.catch((error: unknown) => setText(this.#failure, plain(reason(error), 300)));
  }
}

function kindName(kind: string): string {
  switch (kind) {
    case "vscode":
      return "VS Code";
    case "terminal":
      return l10n.t("Terminal");
    case "endpoint":
      return l10n.t("Endpoint without a window");
    case "agent":
      return l10n.t("Private browser of an agent");
    default:
      return plain(kind, 40);
  }
}

/** What a client waits for; empty: for nothing of the user's. */
function waitOf({ questions, takenOver }: ShownWindow, client: ShownClient): string {
  const asks = questions.some((each) => each.client.id === client.id && !isRecording(each));
  if (asks) return l10n.t("Waits for your answer");
  return takenOver && client.running?.length ? l10n.t("Waits until you give the browser back") : "";
}

/** One that the user has stopped, and that has left. */
function absent(name: string): ShownClient {
  return { id: ` ${name}`, name, version: "", kind: "mcp", since: "", stopped: true };
}

class QuestionView implements View<PendingQuestion> {
  readonly element: HTMLElement;
  readonly #text = make("p", { role: "alert" });
  /** What the text has not all of; the keyboard scrolls it. */
  readonly #full = make("pre", { tabIndex: 0, hidden: true });
  readonly #buttons = make("div", { className: "answers" });
  readonly #named = new Sight<number>();
  readonly #counted = new Sight<number>();
  /** For an agent that asks for a tab. */
  #tabs: TabList | undefined;
  #id = "";
  #actions: readonly AskedAction[] = [];
  #offered = "";

  constructor(
    private readonly answer: (id: string, choice: Choice, last: number, tab?: string) => void,
    /** Fills a list with the user's tabs; false: the window's browser is not the user's own. */
    private readonly fill: (list: TabList) => boolean,
  ) {
    this.element = make("div", { className: "question", role: "group", tabIndex: -1 });
    this.element.append(this.#text, this.#full, this.#buttons);
  }

  update(question: PendingQuestion): void {
    const { id, client, actions, choices } = question;
    this.#id = id;
    this.#actions = actions.map(({ number, action }) => ({ ...action, number }));
    const shown = named({ actions: this.#actions });
    setText(this.#text, questionText({ client, actions: this.#actions }));
    const full = fullText(this.#actions);
    this.#full.hidden = full === "";
    setText(this.#full, full);
    this.#named.show(...shown.map(({ number }) => number));
    this.#counted.show(...this.#actions.map(({ number }) => number));
    const records = isRecording(question);
    this.element.classList.toggle("recording", records);
    this.element.ariaLabel = records ? l10n.t("An agent records") : l10n.t("An agent asks");
    const asksForTab = shown.some(({ act }) => act === requestingTab);
    if (asksForTab && !this.#tabs) this.#showTabs();
    const answers = answersTo(shown, this.#tabs ? ["refuse"] : choices); // who chooses a tab allows it
    const offered = JSON.stringify(answers);
    if (offered === this.#offered) return;
    this.#offered = offered;
    const buttons = answers.map(({ choice, label, about }) => {
      const button = make("button", { type: "button", textContent: label, title: about, disabled: true });
      if (choice !== "once" && choice !== "connect") button.className = "secondary";
      button.addEventListener("click", () => this.#choose(choice));
      return button;
    });
    this.#buttons.replaceChildren(...buttons);
    setTimeout(() => {
      for (const button of buttons) button.disabled = false;
    }, pause);
  }

  #showTabs(): void {
    const tabs = new TabList((tab) => this.#choose("once", tab.id));
    if (!this.fill(tabs)) return;
    this.#tabs = tabs;
    this.#text.after(tabs.element);
  }

  /** What is allowed is what the text names; what is refused is all. */
  #choose(choice: Choice, tab?: string): void {
    const sight = choice === "refuse" ? this.#counted : this.#named;
    const last = this.#actions.findLast(({ number }) => sight.isReadable(number));
    if (last) this.answer(this.#id, choice, last.number, tab);
  }
}

type Listed = ShownClient & { stoppable?: boolean; waits?: string };

class ClientView implements View<Listed> {
  readonly element: HTMLElement;
  readonly #name = make("span", { className: "title" });
  readonly #last = make("span", { className: "last" });
  readonly #age = make("span", { className: "age" });
  readonly #button = make("button", { type: "button", className: "secondary small" });
  #client: ShownClient | undefined;

  constructor(change: (client: ShownClient) => void) {
    this.element = make("li", {}, this.#name, this.#last, this.#age, this.#button);
    this.#button.addEventListener("click", () => this.#client && change(this.#client));
  }

  update(client: Listed): void {
    this.#client = client;
    const { state, text } = stateOf(client);
    this.element.className = `${client.kind} ${state}`;
    const name = clientName(client);
    setText(this.#name, name);
    this.#name.title = name;
    setText(this.#last, text);
    const { text: done = "", url = "" } = client.last ?? {};
    this.#last.title = [text, ...(state === "idle" ? [words(done)] : []), plain(url, 300)].join("\n").trim();
    setText(this.#age, client.last ? age(client.last.time) : "");
    const label = client.stopped ? l10n.t("Resume") : l10n.t("Stop");
    setText(this.#button, label);
    this.#button.ariaLabel = `${label}: ${name}`;
    this.#button.hidden = !client.stoppable;
  }
}

/** In ms: what was done before that is no news. */
const stale = 5 * 60_000;

/** What a client is doing, in a word for the style and in words for the user. */
function stateOf({ stopped, waits, running = [], last }: Listed): { state: string; text: string } {
  if (stopped) return { state: "stopped", text: l10n.t("Stopped") };
  if (waits) return { state: "waits", text: waits };
  const [call] = running;
  if (call) return { state: "acts", text: words(call.text) };
  if (!last) return { state: "", text: l10n.t("Nothing yet") };
  if (Date.now() - Date.parse(last.time) > stale) return { state: "idle", text: l10n.t("Idle") };
  return { state: last.failed === undefined ? "" : "failed", text: words(last.text) };
}

/** `Click button "Buy"`, as the window's own view has it. */
function words(text: string): string {
  const shown = plain(actionText(partsOf(text)).replace(/: browser_\w+: /, ": "), 160); // an error names its tool again
  return shown.charAt(0).toUpperCase() + shown.slice(1);
}

const relative = new Intl.RelativeTimeFormat("en", { style: "short", numeric: "auto" });

function age(time: string): string {
  const seconds = Math.max(0, Math.round((Date.now() - Date.parse(time)) / 1_000));
  if (seconds < 60) return relative.format(-seconds, "second");
  if (seconds < 3_600) return relative.format(-Math.floor(seconds / 60), "minute");
  return relative.format(-Math.floor(seconds / 3_600), "hour");
}
