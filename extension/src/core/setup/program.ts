// Where the coordinator's program may be: the setting's, else the bundled one, else the one on PATH.

import { delimiter, isAbsolute, join } from "node:path";
import * as l10n from "@vscode/l10n";

/** What is known of the machine and the settings. */
export interface Surroundings {
  platform: NodeJS.Platform;
  /** The setting, empty where there is none. */
  setting: string;
  home(): string;
  /** The extension's own folder. */
  extension: string;
  /** PATH, as the environment has it. */
  path: string | undefined;
}

type IsProgram = (path: string) => Promise<boolean>;

/** There is no program; the message is a clause that names the cause. */
export class NoCoordinator extends Error {}

/** The program: the first that exists. A wrong setting is an error, not skipped: it throws NoCoordinator. */
export async function findProgram(surroundings: Surroundings, isProgram: IsProgram): Promise<string> {
  const { setting, home } = surroundings;
  const set = setting.trim().replace(/^~(?=[\\/])/, home);
  if (set !== "") {
    const named = ["browserCoordinator.coordinatorPath", JSON.stringify(setting)] as const;
    if (!isAbsolute(set)) throw new NoCoordinator(l10n.t("{0} is {1}, which is not an absolute path", ...named));
    if (!(await isProgram(set)))
      throw new NoCoordinator(l10n.t("{0} is {1}, where no program is that can be run", ...named));
    return set;
  }
  const found = await first([bundled(surroundings), ...onPath(surroundings)], isProgram);
  if (!found) throw new NoCoordinator(l10n.t("the coordinator is neither in the extension nor on PATH"));
  return found;
}

/**
 * The command of an entry in a host's configuration, which outlives this version of the extension. A program
 * on PATH goes by its name, so that the entry is good for others too; of the bundled one a copy is kept that
 * stays where it is.
 */
export async function lastingCommand(
  surroundings: Surroundings,
  isProgram: IsProgram,
  keepCopy: (program: string) => Promise<string>,
): Promise<string> {
  const program = await findProgram(surroundings, isProgram);
  const installed = await first(onPath(surroundings), isProgram);
  if (installed && (installed === program || surroundings.setting.trim() === "")) return "coordinator";
  return program === bundled(surroundings) ? await keepCopy(program) : program;
}

/** The program in the extension's folder, if this package has one. */
export function bundled({ platform, extension }: Pick<Surroundings, "platform" | "extension">): string {
  return join(extension, "bin", fileName(platform));
}

function onPath({ platform, path }: Surroundings): string[] {
  const folders = (path ?? "").split(delimiter).filter(isAbsolute); // never one below where we happen to run
  return folders.map((folder) => join(folder, fileName(platform)));
}

function fileName(platform: NodeJS.Platform): string {
  return platform === "win32" ? "coordinator.exe" : "coordinator";
}

async function first(paths: string[], isProgram: IsProgram): Promise<string | undefined> {
  for (const path of paths) {
    if (await isProgram(path)) return path;
  }
  return undefined;
}
