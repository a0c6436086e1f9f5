// What is written into the files of the programs that host agents.
import { parse } from "jsonc-parser";
import { describe, expect, test } from "vitest";
import { entryName, Unreadable } from "../../src/core/setup/entry";
import { type Host, hosts, toPaste, withEntry } from "../../src/core/setup/hosts";

const entry = { command: "/opt/coordinator", args: ["mcp"] };
const host = (id: string) => hosts.find((each) => each.id === id) as Host;
const json = hosts.filter(({ format }) => format === "json");

describe.each(json.map((each) => [each.label, each] as const))("%s", (_, host) => {
  const { member } = host;
  const read = (text: string) => parse(text, [], { allowTrailingComma: true });

  test.each(["", " \n"])("a file that is not there yet, or blank", (text) => {
    expect(JSON.parse(withEntry(host, text, entry))).toEqual({ [member]: { [entryName]: entry } });
  });

  test("other servers, settings and comments stay", () => {
    const before = `{\n\t// mine\n\t"theme": "dark",\n\t"${member}": {\n\t\t"other": { "command": "x" }, // theirs\n\t},\n}\n`;
    const after = withEntry(host, before, entry);
    for (const kept of ["\t// mine\n", '"theme": "dark"', "// theirs"]) expect(after).toContain(kept);
    expect(after).toContain('\n\t\t\t"command": "/opt/coordinator"');
    expect(read(after)).toEqual({ theme: "dark", [member]: { other: { command: "x" }, [entryName]: entry } });
  });

  test("a file of comments alone keeps them", () => {
    const after = withEntry(host, "// mine\n/* and mine */", entry);
    expect(after).toMatch(/^\/\/ mine\n\/\* and mine \*\/\n\{/);
    expect(read(after)).toEqual({ [member]: { [entryName]: entry } });
  });

  test("line ends and a byte order mark stay", () => {
    const before = `\ufeff{\r\n  "${member}": {}\r\n}\r\n`;
    const after = withEntry(host, before, entry);
    expect(after).toMatch(/^\ufeff\{\r\n/);
    expect(after.replaceAll("\r\n", "")).not.toContain("\n");
    expect(read(after.slice(1))).toEqual({ [member]: { [entryName]: entry } });
    expect(withEntry(host, after, entry)).toBe(after);
  });

  test("a second time nothing changes", () => {
    const once = withEntry(host, "", entry);
    expect(withEntry(host, once, entry)).toBe(once);
  });

  test("of an older entry the command is replaced, and arguments that are not ours", () => {
    const old = withEntry(host, "", { command: "/old", args: ["serve"] });
    expect(JSON.parse(withEntry(host, old, entry))[member]).toEqual({ [entryName]: entry });
  });

  test("what the user has added to the entry stays", () => {
    const mine = { args: ["mcp", "--caps", "network"], env: { A: "1" }, type: "stdio" };
    const before = JSON.stringify({ [member]: { [entryName]: { command: "/old", ...mine } } });
    const after = withEntry(host, before, entry);
    expect(JSON.parse(after)[member][entryName]).toEqual({ command: "/opt/coordinator", ...mine });
    expect(withEntry(host, after, entry)).toBe(after);
  });

  const servers = (text: string) => `{"${member}": ${text}}`;
  test.each([
    "{",
    "[]",
    '"text"',
    "null",
    '{"a" 1}',
    ...["null", "[]", '"x"', `{"${entryName}": null}`, `{"${entryName}": "x"}`].map(servers),
    `{"${member}": {}, "${member}": {"other": {}}}`,
  ])("%s is nobody's to overwrite", (text) => {
    expect(() => withEntry(host, text, entry)).toThrow(Unreadable);
  });
});

describe("Codex CLI", () => {
  const codex = host("codex");
  const table = '[mcp_servers.browser-coordinator]\ncommand = "/opt/coordinator"\nargs = ["mcp"]\n';

  test.each(["", "\n"])("a file that is not there yet, or blank", (text) => {
    expect(withEntry(codex, text, entry)).toBe(table);
  });

  test.each([
    '# mine\nmodel = "x"\n\n[mcp_servers.other]\ncommand = "y"\n',
    'mcp_servers.other.command = "y"\n',
    "[mcp_servers]\n",
    'notes = """\n[mcp_servers.browser-coordinator]\n"""\n',
    'roots = [\n[1],\n["[mcp_servers.browser-coordinator]"],\n]\n',
    "big = 99999999999999999999\nwhen = 1979-05-27T07:32:00Z\nnot = nan\n",
    "# mine\n",
  ])("what is there stays: %j", (before) => {
    expect(withEntry(codex, before, entry)).toBe(`${before}\n${table}`);
  });

  test("a last line without an end gets one", () => {
    expect(withEntry(codex, 'model = "x"', entry)).toBe(`model = "x"\n\n${table}`);
  });

  test.each([
    "[mcp_servers.browser-coordinator] # mine",
    '[mcp_servers."browser-coordinator"]',
    "  [ mcp_servers . 'browser-coordinator' ]",
  ])("an entry below %s is the one", (header) => {
    const before = `${header}\n  command = "/old#1" # why\nargs = [\n  "serve", # no\n]\n\n[tui]\n`;
    const after = `${header}\ncommand = "/opt/coordinator" # why\nargs = ["mcp"]\n\n[tui]\n`;
    expect(withEntry(codex, before, entry)).toBe(after);
    expect(withEntry(codex, after, entry)).toBe(after);
  });

  test("what the user has added to the entry stays", () => {
    const mine = (command: string) =>
      `model = "x"\n\n[mcp_servers.browser-coordinator]\ncommand = "${command}"\nargs = [\n  "mcp",\n  # more\n  "--caps", "network",\n]\nroots = [\n[1],\n[2],\n]\nenv = { A = "1" }\n[mcp_servers.browser-coordinator.tools]\nx = 1\n\n[tui]\ntheme = "z"`;
    expect(withEntry(codex, mine("/old"), entry)).toBe(mine("/opt/coordinator"));
  });

  test("what the entry lacks comes below its header", () => {
    const header = "[mcp_servers.browser-coordinator]";
    expect(withEntry(codex, header, entry)).toBe(table);
    const tools = `${header.replace("]", ".tools]")}\nx = 1\n`;
    expect(withEntry(codex, tools, entry)).toBe(`${tools}\n${table}`);
    const env = 'env = { A = "1" }\n';
    expect(withEntry(codex, `${header} # mine\n${env}`, entry)).toBe(`${table.replace("]", "] # mine")}${env}`);
  });

  test("line ends and a byte order mark stay", () => {
    const crlf = (text: string) => `\ufeff${text.replaceAll("\n", "\r\n")}`;
    expect(withEntry(codex, crlf('model = "x"\n'), entry)).toBe(crlf(`model = "x"\n\n${table}`));
    const old = table.replace("/opt/coordinator", "/old");
    expect(withEntry(codex, crlf(`${old}[tui]\n`), entry)).toBe(crlf(`${table}[tui]\n`));
  });

  test("a second time nothing changes", () => {
    const once = withEntry(codex, 'model = "x"\n', entry);
    expect(withEntry(codex, once, entry)).toBe(once);
  });

  test.each([
    'model = "x',
    "[tui\n",
    "a = 1\na = 2\n",
    '[mcp_servers]\nbrowser-coordinator = { command = "/old" }\n',
    '[mcp_servers]\nbrowser-coordinator.command = "/old"\n',
    'mcp_servers = { other = { command = "y" } }\n',
    'mcp_servers.browser-coordinator.command = "/old"\n',
    "mcp_servers = 1\n",
    "mcp_servers = 1979-05-27\n",
    "[mcp_servers]\nbrowser-coordinator = 1\n",
    "[[mcp_servers]]\n",
    "[[mcp_servers.browser-coordinator]]\n",
  ])("%j is nobody's to overwrite", (text) => {
    expect(() => withEntry(codex, text, entry)).toThrow(Unreadable);
  });

  test("a Windows path is a TOML string", () => {
    expect(withEntry(codex, "", { command: "C:\\x\\coordinator.exe", args: ["mcp"] })).toContain(
      '"C:\\\\x\\\\coordinator.exe"',
    );
  });
});

test("for others there is the entry to paste", () => {
  expect(JSON.parse(toPaste(entry))).toEqual({ mcpServers: { [entryName]: entry } });
  expect(toPaste(entry, host("codex"))).toContain("[mcp_servers.browser-coordinator]");
  expect(JSON.parse(toPaste(entry, host("vscode")))).toEqual({ servers: { [entryName]: entry } });
});
