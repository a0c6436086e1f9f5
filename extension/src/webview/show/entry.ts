// What proves that this tab is the user's: a code in the link's fragment, once, for a path that only this tab has. A
// cookie would be no proof: other tabs of the same web browser have it too, and agents may have such tabs.
import * as l10n from "@vscode/l10n";

const key = "root";

/** Returns the path below which the coordinator serves this tab. */
export async function enter(): Promise<string> {
  const code = location.hash.slice(1);
  if (code !== "") {
    history.replaceState(null, "", location.pathname);
    const response = await fetch("open", { method: "POST", body: code });
    if (response.ok) sessionStorage.setItem(key, await response.text());
    else if (root() === "") throw new Error(await response.text());
  }
  if (root() === "") throw new Error(l10n.t("This page needs a link, which works once: run `coordinator show`."));
  return root();
}

/** That path, in a tab that has entered; empty: it has not. */
export function root(): string {
  return sessionStorage.getItem(key) ?? "";
}
