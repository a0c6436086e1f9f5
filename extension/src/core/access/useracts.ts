// What the user decides about agents, as entries of Activity: the mode, whom they stop, and when they take over.
import * as l10n from "@vscode/l10n";
import { nameOf } from "../plaintext";
import type { Clients } from "../window/clients";
import type { Store } from "../window/store";
import { modeWords } from "./access";

export class UserActs {
  #pause = () => {};

  constructor(
    private readonly store: Store,
    private readonly clients: Clients,
  ) {
    this.resume();
  }

  /** What changes from now on the user has decided before. */
  pause(): void {
    this.#pause();
    this.#pause = () => {};
  }

  resume(): void {
    this.pause();
    let known = this.store.state.access;
    this.#pause = this.store.subscribe(() => {
      const before = known;
      known = this.store.state.access;
      for (const act of differences(before, known)) this.clients.userDid(act);
    });
  }
}

type Access = Store["state"]["access"];

function differences(before: Access, { mode, stopped, takenOver }: Access): string[] {
  const names = (all: string[], others: string[]) => all.filter((name) => !others.includes(name)).map((n) => nameOf(n));
  return [
    ...(mode === before.mode ? [] : [l10n.t("Mode changed: {0}", modeWords(mode).label)]),
    ...names(stopped, before.stopped).map((name) => l10n.t("Stopped {0}", name)),
    ...names(before.stopped, stopped).map((name) => l10n.t("Resumed {0}", name)),
    ...(takenOver === before.takenOver
      ? []
      : [takenOver ? l10n.t("Took over the browser") : l10n.t("Gave back the browser")]),
  ];
}
