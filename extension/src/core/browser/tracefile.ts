// The file to which js-debug writes its messages when a launch configuration has `trace`. They hold the secret of the
// shared debug session, and all that passes between debugger and page, so no other user may read the file.
import { mkdir, open } from "node:fs/promises";
import { dirname, isAbsolute } from "node:path";
import type { Configuration } from "./injection";

/** Makes the file with the mode 0600 before js-debug makes it with the default one. It keeps an existing file's. */
export async function keepTracePrivate({ trace }: Configuration): Promise<void> {
  const { logFile } = (trace ?? {}) as Record<string, unknown>;
  if (typeof logFile !== "string" || !isAbsolute(logFile)) return;
  await mkdir(dirname(logFile), { recursive: true });
  const file = await open(logFile, "a", 0o600);
  try {
    await file.chmod(0o600); // one that was there already
  } finally {
    await file.close();
  }
}
