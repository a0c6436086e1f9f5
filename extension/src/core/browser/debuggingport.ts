// Decides whether a debug browser gets a port, and explains what that exposes.
// See adr/0032-a-debugging-port-only-without-other-users.md.

import * as l10n from "@vscode/l10n";
import { reason } from "../log";
import { plain } from "../plaintext";
import { type SettingValues, valuesOf } from "../settings";
import type { Configuration } from "./injection";

export type PortSetting = "auto" | "always" | "never";

export interface PortDecision {
  added: boolean;
  /** A clause, such as "no other user has a process on this machine". */
  why: string;
}

const settingName = "browserCoordinator.addDebuggingPort";
const strictness = ["always", "auto", "never"] as const;

/** The setting that counts: the user's, or a stricter one of the workspace. */
export function portSetting(values: SettingValues): PortSetting {
  const { user = "auto", workspace } = valuesOf(values);
  return [user, ...workspace].map(read).reduce((a, b) => (strictness.indexOf(a) > strictness.indexOf(b) ? a : b));
}

/** It used to be a boolean. An unknown value is the strictest. */
function read(value: unknown): PortSetting {
  if (value === true) return "always";
  return strictness.find((each) => each === value) ?? "never";
}

/** Decides for one launch. It finds out about other users only where they matter; if it cannot, there is no port. */
export async function decidePort(setting: PortSetting, otherUsers: () => Promise<string[]>): Promise<PortDecision> {
  if (setting !== "auto") return { added: setting === "always", why: l10n.t('{0} is "{1}"', settingName, setting) };
  try {
    const others = await otherUsers();
    if (others.length === 0) return { added: true, why: l10n.t("no other user has a process on this machine") };
    const why =
      others.length === 1
        ? l10n.t("{0} has processes on this machine", list(others))
        : l10n.t("{0} have processes on this machine", list(others));
    return { added: false, why };
  } catch (error) {
    return { added: false, why: l10n.t("it cannot be found out who else uses this machine ({0})", reason(error)) };
  }
}

const most = 3;

function list(names: string[]): string {
  const rest = names.length - most;
  const labels = names.slice(0, most).map((name) => plain(name, 40));
  if (rest > 0) labels.push(l10n.t("{0} more", rest));
  const last = labels.pop();
  return labels.length > 0 ? l10n.t("{0} and {1}", labels.join(", "), last ?? "") : `${last}`;
}

/** A member that keeps the decision in the configuration; debug sessions keep what they do not know. */
const decisionMark = "__browserCoordinatorPort";

export function withDecision(configuration: Configuration, decision: PortDecision): Configuration {
  return { ...configuration, [decisionMark]: decision };
}

/** The decision that was made for a session's configuration; undefined where there was none to make. */
export function decisionOf(configuration: Configuration): PortDecision | undefined {
  const { added, why } = (configuration[decisionMark] ?? {}) as Record<string, unknown>;
  return typeof added === "boolean" && typeof why === "string" ? { added, why: plain(why, 300) } : undefined;
}

/** How the view describes the way to a browser: beside the browser, and in its tooltip. */
export function describePort(
  via: string | undefined,
  decision: PortDecision | undefined,
): { short: string; long: string } {
  const exposes = l10n.t(
    "Every local user can see that a port is open, control the browser through it, and read your files by file://.",
  );
  const shared = l10n.t("Agents and CDP tools use the shared debug session of each page.");
  const inForce = l10n.t("The setting {0} decides it at each launch.", settingName);
  const because = (done: string) => (decision ? `${done}: ${decision.why}.` : `${done}.`);
  switch (via) {
    case "injected": {
      const long = [because(l10n.t("A debugging port was added")), exposes, inForce].join("\n");
      return { short: l10n.t("debugging port added"), long };
    }
    case "configured":
    case "attached": {
      const long = `${l10n.t("The port is that of your launch configuration.")}\n${exposes}`;
      return { short: l10n.t("the configuration's port"), long };
    }
    case "personal": {
      const long = l10n.t("Agents reach the tabs that they opened, and those that you hand over.");
      return { short: l10n.t("your own browser"), long };
    }
  }
  if (!decision) {
    const long = `${l10n.t("No port of this browser can be reached from here.")}\n${shared}`;
    return { short: l10n.t("shared debug session"), long };
  }
  const long = [because(l10n.t("No debugging port was added")), exposes, shared, inForce].join("\n");
  return { short: decision.why, long };
}
