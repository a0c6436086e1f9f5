// Why `coordinator setup` has failed.
import { reason } from "../log";

/** What it wrote to standard error, without its name and that of the file, which the caller names itself. */
export function failure(error: unknown): string {
  const { stderr } = error as { stderr?: unknown };
  if (typeof stderr !== "string" || stderr.trim() === "") return reason(error);
  const [first = ""] = stderr.trim().split("\n");
  return first.replace(/^coordinator: (.* is left as it is: )?/, "");
}
