// Where the coordinator's program may be: what the setting says, else the bundled one, else PATH's.
import { delimiter, isAbsolute, join } from "node:path";

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

/** The program: the first that is there. A wrong setting is told, not worked around. */
export async function findProgram(
  surroundings: Surroundings,
  isProgram: (path: string) => Promise<boolean>,
): Promise<string | undefined> {
  for (const path of candidates(surroundings)) {
    if (await isProgram(path)) return path;
  }
  return undefined;
}

function candidates({ platform, setting, home, extension, path }: Surroundings): string[] {
  const set = setting.trim();
  if (set !== "") return [set.replace(/^~(?=[\\/])/, home)];
  const name = platform === "win32" ? "coordinator.exe" : "coordinator";
  const folders = (path ?? "").split(delimiter).filter(isAbsolute); // never one below where we happen to run
  return [join(extension, "bin", name), ...folders.map((folder) => join(folder, name))];
}
