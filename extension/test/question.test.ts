// The notification by which an agent asks, in a played editor; the real one is in e2e/agentcontrols.test.ts.
import { expect, onTestFinished, test, vi } from "vitest";
import { Permissions } from "../src/core/access/permission";
import { Clients } from "../src/core/window/clients";
import { Store } from "../src/core/window/store";
import { showQuestions } from "../src/vscode/question";
import * as editor from "./support/editor";

test("each report contains the whole question: the editor may drop all but the last one", async () => {
  vi.useFakeTimers();
  const store = new Store();
  store.set({ access: { mode: "ask", stopped: [] } });
  const permissions = new Permissions(store, new Clients(), () => 60_000);
  const shown = showQuestions(permissions);
  onTestFinished(() => {
    permissions.close();
    shown.dispose();
    vi.useRealTimers();
  });
  const client = { id: "c", name: "Agent", version: "1" };
  const never = new AbortController().signal;
  const ask = (detail: string) => void permissions.ask({ client, act: "click", detail }, never);
  ask("click A");
  await vi.advanceTimersByTimeAsync(3_000);
  ask("click B");
  await vi.advanceTimersByTimeAsync(3_000);
  const [notice] = editor.notices;
  const words = notice?.reports.map(({ message }) => /wants to act: (.*)\.$/.exec(message ?? "")?.[1]) ?? [];
  expect([...new Set(words)]).toEqual(["click A", "click A; click B"]);
  expect(words.length).toBeGreaterThan(6); // the bar fills
});
