// What the status bar shows of a window, and its tooltip.

import * as l10n from "@vscode/l10n";
import { browserName, clientName, nameOf } from "../plaintext";
import type { ConnectedClient, State } from "../protocol/protocol.generated";
import { modeWords } from "./access";
import { waitingText } from "./actions";
import type { Question } from "./permission";

export interface Facts {
  state: State;
  /** There is a browser that nobody can join. */
  unreachable: boolean;
  /** Why agents cannot find this window, if they cannot. */
  problem?: string | undefined;
  /** What the user must do before a browser can be shared. */
  missing?: string | undefined;
  clients: readonly ConnectedClient[];
  /** The client that acted in the last moments, by the name that it gives itself. */
  atWork?: string | undefined;
  question?: Question | undefined;
}

export interface Shown {
  kind: "none" | "ready" | "work" | "user" | "waiting" | "problem";
  text: string;
  /** How things are, in a line. */
  summary: string;
  /** That, who is connected, and what to do. */
  tooltip: string;
}

const marks = { full: "", ask: " $(shield)", view: " $(eye)" };

export function describe({ state, unreachable, problem, missing, clients, atWork, question }: Facts): Shown {
  const { mode, stopped, takenOver } = state.access;
  if (problem !== undefined) {
    const summary = l10n.t("Agents cannot find this window: {0}.", problem);
    const tooltip = `${summary} ${l10n.t("Click to see the log and what else there is.")}`;
    return { kind: "problem", text: `$(warning) ${l10n.t("Browser")}`, summary, tooltip };
  }
  if (question) {
    // Short: it lies above the question.
    const summary = l10n.t("{0} waits for your answer.", clientName(question.client));
    const tooltip = `${summary} ${l10n.t("Click to allow or refuse it.")}`;
    return { kind: "waiting", text: `$(bell-dot) ${l10n.t("Agent asks")}`, summary, tooltip };
  }
  const active = clients.filter(({ name }) => !stopped.includes(name));
  const names = [...new Set(active.map(clientName))].join(", ");
  const connected = names === "" ? l10n.t("No agent is connected.") : l10n.t("Connected: {0}.", names);
  const stops = clients.length > active.length ? ` ${l10n.t("Stopped: {0}.", clients.length - active.length)}` : "";
  const who = `${connected}${stops} ${modeWords(mode).label}.`;
  const more = l10n.t("Click for more.");
  if (takenOver) {
    const running = clients.flatMap((client) => (client.running ?? []).map((call) => ({ ...call, name: client.name })));
    const waiting = running.length > 0 ? [`${waitingText(running)}.`] : [];
    const summary = [l10n.t("You have taken over the browser: the actions of agents wait."), ...waiting].join(" ");
    const tooltip = `${summary} ${who} ${l10n.t("Click to give it back.")}`;
    return { kind: "user", text: `$(record-keys) ${l10n.t("You drive")}${marks[mode]}`, summary, tooltip };
  }
  const browser = browserName(state);
  if (!browser) {
    const summary = unreachable
      ? l10n.t("The debug browser of this window offers no endpoint; the log shows why.")
      : state.debugSessions.length > 0
        ? l10n.t("The debug browser of this window is starting.")
        : (missing ?? l10n.t("No browser to share: start a browser debug session (F5)."));
    const text = `$(circle-slash) ${l10n.t("Browser")}${marks[mode]}`;
    return { kind: "none", text, summary, tooltip: `${summary} ${who} ${more}` };
  }
  if (atWork !== undefined) {
    const name = nameOf(atWork, 30);
    const summary = l10n.t("{0} is at work in {1}.", name, browser);
    const tooltip = `${summary} ${who} ${l10n.t("Click to stop it or to change what agents may do.")}`;
    return { kind: "work", text: `$(sync~spin) ${name}${marks[mode]}`, summary, tooltip };
  }
  const icon = active.length > 0 ? "$(plug)" : "$(browser)";
  const summary = l10n.t("{0} can be joined by agents and CDP tools.", browser);
  const text = `${icon} ${l10n.t("Browser")}${marks[mode]}`;
  return { kind: "ready", text, summary, tooltip: `${summary} ${who} ${more}` };
}
