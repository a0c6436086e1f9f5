// A window in the overview: its questions, its pages, and who uses its browser.
import * as l10n from "@vscode/l10n";
import { modes, modeWords } from "../../core/access/access";
import { actionText, fullText, isRecording, named, questionText, requestingTab } from "../../core/access/actions";
import { answersTo } from "../../core/access/answers";
import type { AskedAction, Choice } from "../../core/access/permission";
import { type Page, Pages } from "../../core/browser/pages";
import { candidates } from "../../core/browser/usertabs";
import { reason, silent } from "../../core/log";
import { browserName, clientName, plain } from "../../core/plaintext";
import type { AccessMode, PendingQuestion } from "../../core/protocol/protocol.generated";
import { pause, Sight } from "../../core/sight";
import type { Feed, ShownClient, ShownWindow } from "./feed";
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
  readonly #hand = make("button", { type: "button", className: "secondary", ariaExpanded: "false" });
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
    this.#tabs.element.hidden = true;
    this.#hand.textContent = l10n.t("Hand a Tab to Agents...");
    this.#hand.addEventListener("click", () => this.#showTabs(this.#tabs.element.hidden, feed));
    this.#pictures = new List(
      pages,
      ({ id }) => id,
      (page) =>
        new Picture(
          page,
          states,
          (page, from) => open(this.window, page, from),
          (page) => this.#try(feed.closePage(key, page)),
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
    const head = make("header", {}, make("div", {}, this.#title, this.#about), this.#hand, this.#drive, this.#mode);
    const parts = [this.#failure, questions, this.#tabs.element, pages, this.#absence, clients];
    this.element = make("section", {}, head, ...parts);
    this.#pages = new Pages(states, silent);
    this.#pages.subscribe(() => this.#list());
    this.#pages.visible = true;
  }

  update(window: ShownWindow): void {
    this.window = window;
    setText(this.#title, plain(window.title, 80));
    this.element.ariaLabel = this.#title.textContent;
    const browser = browserName({ ...window.state, browser: window.state.browser && { product: window.product } });
    const parts = [kindName(window.kind), browser ?? "", plain(window.place, 200)];
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
    this.#hand.hidden = window.own === "";
    if (this.#hand.hidden) this.#tabs.element.hidden = true;
    this.#questions.update(window.questions);
    const gone = window.stopped.filter((name) => !window.clients.some((client) => client.name === name));
    this.#clients.update([
      ...window.clients.map((client) => ({ ...client, stoppable: window.controls })),
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

  #showTabs(shown: boolean, feed: Feed): void {
    this.#tabs.element.hidden = !shown;
    this.#hand.ariaExpanded = String(shown);
    if (!shown) return;
    this.#tabs.focus();
    this.#try(feed.tabs(this.window.own).then((tabs) => this.#tabs.update(tabs)));
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

class ClientView implements View<ShownClient & { stoppable?: boolean }> {
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

  update(client: ShownClient & { stoppable?: boolean }): void {
    this.#client = client;
    this.element.className = client.stopped ? "stopped" : client.kind;
    const name = clientName(client);
    setText(this.#name, name);
    this.#name.title = name;
    setText(this.#last, client.stopped ? l10n.t("Stopped") : lastText(client));
    this.#last.title = [this.#last.textContent, client.last?.url ? plain(client.last.url, 300) : ""].join("\n").trim();
    setText(this.#age, client.last ? age(client.last.time) : "");
    const label = client.stopped ? l10n.t("Resume") : l10n.t("Stop");
    setText(this.#button, label);
    this.#button.ariaLabel = `${label}: ${name}`;
    this.#button.hidden = !client.stoppable;
  }
}

/** `Click button "Buy"`, as the window's own view has it. */
function lastText({ last }: ShownClient): string {
  if (!last) return l10n.t("Nothing yet");
  const [act = "", ...target] = last.text.split(" ");
  const text = plain(actionText({ act, target: target.join(" ") }), 160);
  return text.charAt(0).toUpperCase() + text.slice(1);
}

const relative = new Intl.RelativeTimeFormat("en", { style: "short", numeric: "auto" });

function age(time: string): string {
  const seconds = Math.max(0, Math.round((Date.now() - Date.parse(time)) / 1_000));
  if (seconds < 60) return relative.format(-seconds, "second");
  if (seconds < 3_600) return relative.format(-Math.floor(seconds / 60), "minute");
  return relative.format(-Math.floor(seconds / 3_600), "hour");
}
