// What the status bar shows, state by state.
import { expect, describe as group, test } from "vitest";
import { describe, type Facts } from "../../src/core/access/status";
import type { ConnectedClient, State } from "../../src/core/protocol/protocol.generated";

const nothing: State = {
  revision: 0,
  debugSessions: [],
  browser: null,
  pages: [],
  access: { mode: "full", stopped: [] },
};
const debugging: State = {
  ...nothing,
  debugSessions: [{ id: "s", name: "Shop", type: "pwa-chrome" }],
  browser: { url: "ws://127.0.0.1:1/devtools/browser/x", product: "Chrome/156.0.8078.79", via: "injected" },
};
const claude: ConnectedClient = { id: "a", name: "Claude Code", version: "2.1.0", kind: "mcp", since: 1 };
const act = { number: 1, client: claude, act: "browser_click", detail: "click Buy" };
const having = (access: State["access"]): State => ({ ...debugging, access });

const cases: [string, Omit<Facts, "unreachable"> & Partial<Facts>, string, string, RegExp][] = [
  ["no browser", { state: nothing, clients: [] }, "none", "$(circle-slash) Browser", /start a browser debug session/],
  [
    "a session that starts",
    { state: { ...debugging, browser: null }, clients: [] },
    "none",
    "$(circle-slash) Browser",
    /debug browser of this window is starting/,
  ],
  [
    "a session without an endpoint",
    { state: { ...debugging, browser: null }, unreachable: true, clients: [] },
    "none",
    "$(circle-slash) Browser",
    /no endpoint; the log shows why/,
  ],
  ["a browser", { state: debugging, clients: [] }, "ready", "$(browser) Browser", /^Chrome 156 can be joined/],
  [
    "an agent",
    { state: debugging, clients: [claude] },
    "ready",
    "$(plug) Browser",
    /Connected: Claude Code 2\.1\.0\. Agents can do everything/,
  ],
  [
    "an agent at work",
    { state: debugging, clients: [claude], atWork: "Claude Code" },
    "work",
    "$(sync~spin) Claude Code",
    /Click to stop it/,
  ],
  [
    "an agent at work that calls itself like us",
    { state: debugging, clients: [], atWork: "$(bell-dot) Agent asks" },
    "work",
    "$(sync~spin) $ (bell-dot) Agent asks",
    /^\$ \(bell-dot\) Agent asks is at work/,
  ],
  [
    "an agent at work without a name",
    { state: debugging, clients: [], atWork: "\u0007\u200b" },
    "work",
    "$(sync~spin) An agent without a name",
    /^An agent without a name is at work/,
  ],
  [
    "a question, whatever else there is",
    {
      state: debugging,
      clients: [claude],
      atWork: "Claude Code",
      question: { id: "q", client: claude, actions: [act], until: 0 },
    },
    "waiting",
    "$(bell-dot) Agent asks",
    /^Claude Code 2\.1\.0 waits for your answer\. Click to allow or refuse it/,
  ],
  [
    "a problem, before all",
    { state: debugging, clients: [claude], problem: "the directory is not yours" },
    "problem",
    "$(warning) Browser",
    /cannot find this window: the directory is not yours/,
  ],
  [
    "the user who has taken over, while an agent reads",
    {
      state: having({ mode: "ask", stopped: [], takenOver: true }),
      clients: [{ ...claude, running: [{ time: 1, act: "browser_click", target: 'button "Buy"' }] }],
      atWork: "Claude Code",
    },
    "user",
    "$(record-keys) You drive $(shield)",
    /the actions of agents wait\. Claude Code waits: click button "Buy"\. Connected: Claude Code 2\.1\.0\..*give it back/,
  ],
  [
    "who must ask",
    { state: having({ mode: "ask", stopped: [] }), clients: [] },
    "ready",
    "$(browser) Browser $(shield)",
    /Agents must ask first/,
  ],
  [
    "who can only view",
    { state: having({ mode: "view", stopped: [] }), clients: [] },
    "ready",
    "$(browser) Browser $(eye)",
    /can only view/,
  ],
  [
    "who is stopped",
    { state: having({ mode: "full", stopped: ["Claude Code"] }), clients: [claude] },
    "ready",
    "$(browser) Browser",
    /No agent is connected\. Stopped: 1\./,
  ],
];

group("the status bar", () => {
  test.each(cases)("%s", (_, facts, kind, text, tooltip) => {
    const shown = describe({ unreachable: false, ...facts });
    expect(shown).toMatchObject({ kind, text, tooltip: expect.stringMatching(tooltip) });
    expect(shown.tooltip.startsWith(`${shown.summary} `)).toBe(true);
  });
});
