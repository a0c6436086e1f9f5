// The tabs of the user's own browser, as every list of them shows them.
import * as l10n from "@vscode/l10n";
import { plain, siteOf } from "../plaintext";

/** One of the user's tabs. */
export interface Tab {
  id: string;
  title: string;
  origin: string;
  /** A server on this machine responds at its origin. */
  developed?: boolean;
  /** Agents may use it. */
  handedOver?: boolean;
}

export interface TabText {
  label: string;
  description: string;
  detail?: string;
}

export function tabText({ title, origin, developed, handedOver }: Tab): TabText {
  const detail = handedOver
    ? l10n.t("Agents may use it. Choose it to take it back.")
    : developed
      ? l10n.t("A server on this machine")
      : undefined;
  return { label: plain(title, 100) || plain(origin, 100), description: plain(origin, 100), ...(detail && { detail }) };
}

/** Those that an agent that asks for a tab could get, first those of the site that it wants. */
export function candidates(tabs: readonly Tab[], site: string | undefined): Tab[] {
  const free = tabs.filter(({ handedOver }) => !handedOver);
  return [...new Set([...free.filter(({ origin }) => siteOf(origin) === site), ...free])];
}
