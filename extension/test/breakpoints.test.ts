// Who has set a breakpoint, in a played editor; the real one is in e2e/debugger.test.ts.
import { expect, onTestFinished, test } from "vitest";
import { AgentBreakpoints } from "../src/vscode/breakpoints";
import * as editor from "./support/editor";

test("names of breakpoints that were removed while the extension was off are forgotten", () => {
  const at = { uri: editor.Uri.file("/a.ts"), range: { start: { line: 1, character: 0 } } };
  const present = new editor.SourceBreakpoint(at);
  let kept: [string, string][] = [
    [present.id, "Agent"],
    ["removed", "Agent"],
  ];
  const update = async (_: string, names: [string, string][]) => {
    kept = names;
  };
  const memory = { get: () => kept, update };
  const breakpoints = new AgentBreakpoints(memory as never);
  onTestFinished(() => {
    breakpoints.dispose();
    editor.debug.breakpoints = [];
  });
  editor.debug.breakpoints = [present];
  editor.debugging.breakpointsChanged.fire({}); // the editor has read them
  expect(kept).toEqual([[present.id, "Agent"]]);
});
