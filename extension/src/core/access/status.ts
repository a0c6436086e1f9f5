// What the status bar shows of a window, and its tooltip.

import { browserName, clientName, nameOf } from "../plaintext";
import type { ConnectedClient, State } from "../protocol/protocol.generated";
import type { Question } from "./permission";

export interface Facts {
  state: State;
  /** Why agents cannot find this window, if they cannot. */
  problem?: string | undefined;
  clients: readonly ConnectedClient[];
  /** The client that acted in the last moments, by the name that it gives itself. */
  atWork?: string | undefined;
  question?: Question | undefined;
}

export interface Shown {
  kind: "none" | "ready" | "work" | "waiting" | "problem";
  text: string;
  /** How things are, in a line. */
  summary: string;
  /** That, who is there, and what to do. */
  tooltip: string;
}

const allows = {
  full: "Agents can do everything.",
  ask: "Agents must ask you before they act.",
  view: "Agents can only view.",
};
const marks = { full: "", ask: " $(shield)", view: " $(eye)" };

export function describe({ state, problem, clients, atWork, question }: Facts): Shown {
  const { mode, stopped } = state.access;
  if (problem !== undefined) {
    const summary = `Agents cannot find this window: ${problem}.`;
    const tooltip = `${summary} Click to see the log and what else there is.`;
    return { kind: "problem", text: "$(warning) Browser", summary, tooltip };
  }
  if (question) {
    const summary = `${clientName(question.client)} waits for your answer.`; // short: it lies above the question
    const tooltip = `${summary} Click to allow or refuse it.`;
    return { kind: "waiting", text: "$(bell-dot) Agent asks", summary, tooltip };
  }
  const going = clients.filter(({ id }) => !stopped.includes(id));
  const names = [...new Set(going.map(clientName))].join(", ");
  const connected = names === "" ? "No agent is connected." : `Connected: ${names}.`;
  const held = clients.length > going.length ? ` Stopped: ${clients.length - going.length}.` : "";
  const who = `${connected}${held} ${allows[mode]}`;
  const browser = browserName(state);
  if (!browser) {
    const summary =
      state.debugSessions.length > 0
        ? "The debug browser of this window offers no endpoint; the log shows why."
        : "No browser to share: start a browser debug session (F5).";
    const text = `$(circle-slash) Browser${marks[mode]}`;
    return { kind: "none", text, summary, tooltip: `${summary} ${who} Click for more.` };
  }
  if (atWork !== undefined) {
    const name = nameOf(atWork, 30);
    const summary = `${name} is at work in ${browser}.`;
    const tooltip = `${summary} ${who} Click to stop it or to change what agents may do.`;
    return { kind: "work", text: `$(sync~spin) ${name}${marks[mode]}`, summary, tooltip };
  }
  const icon = going.length > 0 ? "$(plug)" : "$(browser)";
  const summary = `${browser} can be joined by agents and CDP tools.`;
  const text = `${icon} Browser${marks[mode]}`;
  return { kind: "ready", text, summary, tooltip: `${summary} ${who} Click for more.` };
}
