// Puts what clients and pages say into words for the human. Nobody of them can be trusted with more
// than plain text: notifications make links of [words](command:…), the status bar and lists make icons
// of $(words), and a long name could push the buttons out of sight.

import type { Client, PermissionAskArg, State } from "./protocol.generated";

/** Text of somebody else's, as one short line without links, icons, control characters and changes of direction. */
export function plain(text: string, most: number): string {
  const line = text
    .replace(/[[\]]/g, (bracket) => (bracket === "[" ? "(" : ")"))
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, " ")
    .replace(/\$\(/g, "$ (")
    .trim();
  const signs = [...line];
  return signs.length > most ? `${signs.slice(0, most - 1).join("")}…` : line;
}

/** "Claude Code 2.1.0" */
export function clientName({ name, version }: Pick<Client, "name" | "version">): string {
  return plain(`${nameOf(name)} ${version}`, 60);
}

/** "Claude Code" */
export function nameOf(name: string, most = 60): string {
  return plain(name, most) || "An agent without a name";
}

/** So many acts stand in a question; what stands there is what "once" allows. */
const namedActs = 3;

/** The acts that a question names. */
export function named<Act>({ acts }: { acts: readonly Act[] }): readonly Act[] {
  return acts.slice(0, namedActs);
}

/** "Claude Code 2.1.0 wants to act on “Shop” (127.0.0.1:5173): click button "Buy"; press Enter. 2 more acts wait." */
export function questionText({ client, acts }: { client: Client; acts: readonly PermissionAskArg[] }): string {
  const shown = named({ acts });
  const [first] = shown;
  if (!first) return "";
  const where = placeOf(first);
  const most = shown.length > 1 ? 80 : 160;
  const texts = shown.map((act) => actText(act, most) + (placeOf(act) === where ? "" : placeOf(act)));
  const waiting = acts.length - shown.length;
  const more = waiting === 0 ? "" : ` ${waiting} more ${waiting === 1 ? "act waits" : "acts wait"}.`;
  return `${clientName(client)} wants to act${where}: ${texts.join("; ")}.${more}`;
}

/** `click button "Buy"`, or the act's name where there is nothing better. */
export function actText({ act, detail }: Pick<PermissionAskArg, "act" | "detail">, most = 160): string {
  return plain(detail, most) || plain(actName(act), most) || "something that it does not name";
}

/** What an agent's tool does, by its name: "take screenshot" for browser_take_screenshot. CDP's methods stay. */
export function actName(act: string): string {
  return act.replace(/^browser_/, "").replaceAll("_", " ");
}

/** ` on “Shop” (127.0.0.1:5173)`, or nothing. */
export function placeOf({ page }: Pick<PermissionAskArg, "page">): string {
  if (!page) return "";
  const title = plain(page.title, 60);
  const site = siteOf(page.url);
  return title === "" ? ` on ${site}` : ` on “${title}” (${site})`;
}

/** A page by its title, or by its site. */
export function pageName({ title, url }: { title: string; url: string }): string {
  return plain(title, 100) || siteOf(url);
}

/** Whether it is an address of the web. */
export function isWebUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
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
