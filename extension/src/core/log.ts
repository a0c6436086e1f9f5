// Log is the core's diagnostic log. The editor passes a log channel; tests pass none.
export interface Log {
  debug(message: string): void;
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
}

export const silent: Log = { debug() {}, info() {}, warn() {}, error() {} };

/** What went wrong, in a line, for a log or for a message. */
export function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The code of a system error such as ENOENT, or "". */
export function code(error: unknown): string {
  const value = (error as { code?: unknown } | null)?.code;
  return typeof value === "string" ? value : "";
}
