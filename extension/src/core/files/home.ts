// The user's home directory.

import { homedir } from "node:os";
import { isAbsolute } from "node:path";
import * as l10n from "@vscode/l10n";
import { code } from "../log";

/**
 * Where there is none this throws: its files must not be written elsewhere. Many a container runs
 * under a uid that the system does not know, and an empty HOME would lead to where the editor was started.
 */
export function homeDirectory(): string {
  const home = systemHome();
  if (home !== undefined && isAbsolute(home)) return home;
  throw new Error(l10n.t("your home directory is not known: set HOME to its absolute path, and restart the editor"));
}

function systemHome(): string | undefined {
  try {
    return homedir();
  } catch (error) {
    if (code(error) === "ERR_SYSTEM_ERROR") return undefined;
    throw error;
  }
}
