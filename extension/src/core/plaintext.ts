// Makes text of clients and pages safe to show to the user. None of them can be trusted with more
// than plain text: notifications make links of [words](command:…), the status bar and lists make icons
// of $(words), and a long name could push the buttons out of sight.
import * as l10n from "@vscode/l10n";
import { visible } from "./visible";

/** Untrusted text as one short line without links, icons, control characters and changes of direction. */
export function plain(text: string, most: number): string {
  const line = text
    .replace(/\](?=\((https?:|command:|file:))/gi, "] ") // no link, and no other sign than what is there
    .replace(/\p{Cf}/gu, "") // soft hyphens, joiners and marks of direction are no blanks
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, " ")
    .replace(/\$[([]/g, ([dollar, bracket]) => `${dollar} ${bracket}`)
    .trim();
  const signs = [...line];
  return signs.length > most ? `${signs.slice(0, most - 1).join("")}…` : line;
}

/** Untrusted code as one line, exactly: what cannot be seen is marked. */
export function code(text: string, most: number): string {
  return plain(visible(text.replace(/[\s\p{Zl}\p{Zp}]+/gu, " ")), most);
}

/** The same with the beginning and the end of a longer text, and how much is left out: code cannot hide at the end. */
export function excerpt(text: string, most: number): string {
  const signs = [...code(text, Infinity)];
  if (signs.length <= most) return signs.join("");
  const end = signs.length - Math.floor(most / 3);
  const middle = signs.slice(Math.ceil((most * 2) / 3), end);
  // What the sender has left out of the middle counts too.
  const marks = [...middle.join("").matchAll(/…\((\d+) bytes left out\)…/g)];
  const count = marks.reduce((sum, [, bytes]) => sum + Number(bytes), middle.length);
  const mark = l10n.t("…({0} characters left out)…", count);
  return `${signs.slice(0, end - middle.length).join("")} ${mark} ${signs.slice(end).join("")}`;
}

/** "Claude Code 2.1.0" */
export function clientName({ name, version }: { name: string; version: string }): string {
  return plain(`${nameOf(name)} ${version}`, 60);
}

/** "Claude Code" */
export function nameOf(name: string, most = 60): string {
  return plain(name, most) || l10n.t("An agent without a name");
}

/** A page by its title, or by its site. */
export function pageName({ title, url }: { title: string; url: string }, most = 100): string {
  return plain(title, most) || siteOf(url);
}

/** Whether it is an address of the web. */
export function isWebUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

/** The host and port of a URL; its scheme where there is no host. A long host keeps its end, which says whose it is. */
export function siteOf(url: string): string {
  try {
    const { host, protocol } = new URL(url);
    return host.length > 60 ? `…${plain(host.slice(-59), 60)}` : plain(host || protocol, 60);
  } catch {
    return plain(url, 60);
  }
}

/** "Chrome 156", the shared debug session where no more is known, or undefined where there is none. */
export function browserName({
  browser,
  pages,
}: {
  browser: { product?: string } | null;
  pages: readonly unknown[];
}): string | undefined {
  if (browser) {
    const [name = "", version = ""] = plain(browser.product ?? l10n.t("The browser"), 60).split("/");
    return `${name} ${version.split(".")[0]}`.trim();
  }
  return pages.length > 0 ? l10n.t("The shared debug session") : undefined;
}

/** Text as HTML. */
export function html(text: string): string {
  return text.replace(/[&<>"]/g, (char) => `&#${char.charCodeAt(0)};`);
}
