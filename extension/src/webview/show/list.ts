// Elements for items that come, change and go. An element stays as long as its item, so that it keeps the focus.

export interface View<Item> {
  readonly element: HTMLElement;
  update(item: Item): void;
  close?(): void;
}

export class List<Item> {
  readonly #views = new Map<string, View<Item>>();

  constructor(
    private readonly parent: HTMLElement,
    private readonly keyOf: (item: Item) => string,
    private readonly make: (item: Item) => View<Item>,
  ) {}

  update(items: readonly Item[]): void {
    const keys = new Set(items.map(this.keyOf));
    for (const [key, view] of this.#views) {
      if (keys.has(key)) continue;
      view.close?.();
      view.element.remove();
      this.#views.delete(key);
    }
    for (const [index, item] of items.entries()) {
      const key = this.keyOf(item);
      const view = this.#views.get(key) ?? this.make(item);
      this.#views.set(key, view);
      view.update(item);
      const here = this.parent.children[index];
      if (here !== view.element) this.parent.insertBefore(view.element, here ?? null);
    }
    this.parent.hidden = items.length === 0;
  }

  close(): void {
    this.update([]);
  }
}

/** An element with its members and children. Texts are text: they are of pages, and of clients. */
export function make<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  members: Partial<Omit<HTMLElementTagNameMap[Name], "children">>,
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const element = Object.assign(document.createElement(name), members);
  element.append(...children);
  return element;
}

/** Sets a text only if it differs: a screen reader would read it again. */
export function setText(element: HTMLElement, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}
