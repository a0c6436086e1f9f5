// The state as a protocol version has it. Obeys specs/window-protocol/README.md section 9.2.
import type { AnyState, State } from "./protocol.generated";
import type { Version } from "./request";

/** A client that speaks version 1 does not know of access: it gets no browser where it would have to keep a rule. */
export function inVersion(version: Version, state: State): AnyState {
  if (version > 1) return state;
  const { access, editor, ...known } = state;
  if (access.mode === "full" && access.stopped.length === 0) return known;
  return { ...known, browser: null, pages: [] };
}
