// Puts what clients and pages say into words for the human. Nobody of them can be trusted with more
// than plain text: notifications make links of [words](command:…), and a long name could push the
// buttons out of sight.

import type { Question } from "./permission";
import type { Client, PermissionAskArg, State } from "./protocol.generated";

/** Text of somebody else's, as one short line without links, control characters and changes of direction. */
export function plain(text: string, most: number): string {
  const line = text
    .replace(/[[\]]/g, (bracket) => (bracket === "[" ? "(" : ")"))
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, " ")
    .trim();
  const signs = [...line];
  return signs.length > most ? `${signs.slice(0, most - 1).join("")}…` : line;
}

/** "Claude Code 2.1.0" */
export function clientName({ name, version }: Pick<Client, "name" | "version">): string {
  return plain(`${name} ${version}`, 60) || "An agent without a name";
}

/** "Claude Code 2.1.0 wants to act on “Shop” (127.0.0.1:5173): click button "Buy"; and 3 more acts." */
export function questionText({ client, acts }: Question): string {
  const first = acts[0];
  if (!first) return "";
  const where = placeOf(first);
  const others = acts.slice(1);
  const elsewhere = others.some((act) => placeOf(act) !== where) ? ", some of them elsewhere" : "";
  const more =
    others.length === 0 ? "" : `; and ${others.length} more ${others.length === 1 ? "act" : "acts"}${elsewhere}`;
  return `${clientName(client)} wants to act${where}: ${actText(first)}${more}.`;
}

/** `click button "Buy"`, or the act's name where there is nothing better. */
function actText({ act, detail }: Pick<PermissionAskArg, "act" | "detail">): string {
  return plain(detail, 160) || plain(act, 80);
}

function placeOf({ page }: PermissionAskArg): string {
  if (!page) return "";
  const title = plain(page.title, 60);
  const site = siteOf(page.url);
  return title === "" ? ` on ${site}` : ` on “${title}” (${site})`;
}

/** The host and port of a URL; its scheme where there is no host. */
export function siteOf(url: string): string {
  try {
    const { host, protocol } = new URL(url);
    return plain(host || protocol, 60);
  } catch {
    return plain(url, 60);
  }
}

/** "Chrome 156", the browser's page where there is no more to know, or undefined where there is none. */
export function browserName({ browser, pages }: Pick<State, "browser" | "pages">): string | undefined {
  if (browser) {
    const [name = "", version = ""] = plain(browser.product ?? "The browser", 60).split("/");
    return `${name} ${version.split(".")[0]}`.trim();
  }
  return pages.length > 0 ? "The browser's page" : undefined;
}
