// The user's tabs in the user's own browser, with a search: the user chooses one.
import * as l10n from "@vscode/l10n";
import { type Tab, tabText } from "../../core/browser/usertabs";
import { Sight } from "../../core/sight";
import { List, make, setText, type View } from "./list";

export class TabList {
  readonly element: HTMLElement;
  readonly #search = make("input", { type: "search", placeholder: l10n.t("Search by title or site") });
  readonly #none = make("p", { className: "absence" });
  readonly #rows: List<Tab>;
  readonly #sight = new Sight<string>();
  #tabs: readonly Tab[] = [];

  constructor(choose: (tab: Tab) => void) {
    const label = l10n.t("Which tab may agents use?");
    this.#search.ariaLabel = label;
    this.#search.addEventListener("input", () => this.#list());
    const rows = make("ul", {});
    this.#rows = new List(
      rows,
      ({ id }) => id,
      () => new TabView((tab) => this.#sight.isReadable(offerOf(tab)) && choose(tab)),
    );
    this.element = make("div", { className: "tabs", role: "group", ariaLabel: label }, this.#search, rows, this.#none);
  }

  update(tabs: readonly Tab[]): void {
    this.#tabs = tabs;
    this.#list();
  }

  focus(): void {
    this.#search.focus();
  }

  #list(): void {
    const sought = this.#search.value.trim().toLowerCase();
    const isFound = (tab: Tab) => Object.values(tabText(tab)).some((text) => text.toLowerCase().includes(sought));
    const found = this.#tabs.filter(isFound);
    this.#rows.update(found);
    this.#sight.show(...found.map(offerOf));
    setText(this.#none, found.length > 0 ? "" : l10n.t("Your own browser has no tab that could be handed over."));
  }
}

/** What a click does: one that comes as that changes was meant for what it did before. */
function offerOf({ id, handedOver = false }: Tab): string {
  return `${id} ${handedOver}`;
}

class TabView implements View<Tab> {
  readonly element: HTMLElement;
  readonly #label = make("span", { className: "title" });
  readonly #description = make("span", { className: "url" });
  readonly #detail = make("span", { className: "last" });
  #tab: Tab | undefined;

  constructor(choose: (tab: Tab) => void) {
    const button = make(
      "button",
      { type: "button", className: "secondary" },
      this.#label,
      this.#description,
      this.#detail,
    );
    button.addEventListener("click", () => this.#tab && choose(this.#tab));
    this.element = make("li", {}, button);
  }

  update(tab: Tab): void {
    this.#tab = tab;
    const { label, description, detail = "" } = tabText(tab);
    setText(this.#label, label);
    setText(this.#description, description);
    setText(this.#detail, detail);
    this.element.className = tab.handedOver ? "handed" : "";
  }
}
