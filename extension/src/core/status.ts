// What the status bar says of a window, in one glance and in its tooltip.

import type { Question } from "./permission";
import type { ConnectedClient, State } from "./protocol.generated";
import { browserName, clientName, nameOf, questionText } from "./words";

export interface Facts {
  state: State;
  /** Why agents cannot find this window, if they cannot. */
  problem?: string | undefined;
  clients: readonly ConnectedClient[];
  /** Who has done something in the last moments, by the name that it gives itself. */
  atWork?: string | undefined;
  question?: Question | undefined;
}

export interface Shown {
  kind: "none" | "ready" | "work" | "waiting" | "problem";
  text: string;
  tooltip: string;
}

const allows = {
  full: "Agents may do everything.",
  ask: "Agents have to ask you before they act.",
  view: "Agents may look, not act.",
};
const marks = { full: "", ask: " $(shield)", view: " $(eye)" };

export function describe({ state, problem, clients, atWork, question }: Facts): Shown {
  const { mode, stopped } = state.access;
  if (problem !== undefined) {
    const tooltip = `Agents cannot find this window: ${problem}. Click to see the log and what else there is.`;
    return { kind: "problem", text: "$(warning) Browser", tooltip };
  }
  if (question) {
    const text = "$(bell-dot) Agent asks";
    return { kind: "waiting", text, tooltip: `${questionText(question)} Click to allow or refuse it.` };
  }
  const going = clients.filter(({ id }) => !stopped.includes(id));
  const names = [...new Set(going.map(clientName))].join(", ");
  const connected = names === "" ? "No agent is connected." : `Connected: ${names}.`;
  const held = clients.length > going.length ? ` Stopped: ${clients.length - going.length}.` : "";
  const who = `${connected}${held} ${allows[mode]}`;
  const browser = browserName(state);
  if (!browser) {
    const help =
      state.debugSessions.length > 0
        ? "The debug browser of this window offers no endpoint; the log says why."
        : "No browser to share: start a browser debug session (F5).";
    return { kind: "none", text: `$(circle-slash) Browser${marks[mode]}`, tooltip: `${help} ${who} Click for more.` };
  }
  if (atWork !== undefined) {
    const name = nameOf(atWork, 30);
    const tooltip = `${name} is at work in ${browser}. ${who} Click to stop it or to change what agents may do.`;
    return { kind: "work", text: `$(sync~spin) ${name}${marks[mode]}`, tooltip };
  }
  const icon = going.length > 0 ? "$(plug)" : "$(browser)";
  const tooltip = `${browser} can be joined by agents and CDP tools. ${who} Click for more.`;
  return { kind: "ready", text: `${icon} Browser${marks[mode]}`, tooltip };
}
