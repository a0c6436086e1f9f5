// The address that the user types into the live view.

/**
 * The URL that the browser opens for it: a page of the web, a file, or the empty page. No script, and no page of
 * the browser itself. As for agents, a host without a scheme is one of the web, a local one without TLS.
 */
export function typedAddress(text: string): string | undefined {
  const typed = text.trim();
  if (typed === "about:blank") return typed;
  if (/^[/\\?#]/.test(typed)) return undefined;
  const hasScheme = /^[a-z][a-z\d+.-]*:(?!\d)/i.test(typed); // localhost:3000 has a port
  const url = parsed(hasScheme ? typed : `https://${typed}`);
  if (url && !hasScheme && isLocal(url.hostname)) return parsed(`http://${typed}`)?.href;
  return url && /^(https?|file):$/.test(url.protocol) ? url.href : undefined;
}

function parsed(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined;
}

function isLocal(host: string): boolean {
  return /^(.+\.)?localhost$|^127\.|^\[::1?\]$|^0\.0\.0\.0$/.test(host);
}
