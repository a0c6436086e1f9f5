// What is written into the files of the programs that host agents.
import { parse } from "jsonc-parser";
import { describe, expect, test } from "vitest";
import { entryName, type Host, hosts, toPaste, Unreadable, withEntry } from "../src/core/hosts";

const entry = { command: "/opt/coordinator", args: ["mcp"] };
const host = (id: string) => hosts.find((each) => each.id === id) as Host;
const json = hosts.filter(({ format }) => format === "json");

describe.each(json.map((each) => [each.label, each] as const))("%s", (_, host) => {
  test("a file that is not there yet", () => {
    expect(JSON.parse(withEntry(host, "", entry))).toEqual({ [host.member]: { [entryName]: entry } });
  });

  test("other servers, settings and comments stay", () => {
    const before = `{\n\t// mine\n\t"theme": "dark",\n\t"${host.member}": {\n\t\t"other": { "command": "x" }, // theirs\n\t},\n}\n`;
    const after = withEntry(host, before, entry);
    for (const kept of ["\t// mine\n", '"theme": "dark"', "// theirs"]) expect(after).toContain(kept);
    expect(after).toContain('\n\t\t\t"command": "/opt/coordinator"');
    expect(parse(after, [], { allowTrailingComma: true })).toEqual({
      theme: "dark",
      [host.member]: { other: { command: "x" }, [entryName]: entry },
    });
  });

  test("a second time nothing changes", () => {
    const once = withEntry(host, "", entry);
    expect(withEntry(host, once, entry)).toBe(once);
  });

  test("an older entry is replaced", () => {
    const old = withEntry(host, "", { command: "/old", args: [] });
    expect(JSON.parse(withEntry(host, old, entry))[host.member]).toEqual({ [entryName]: entry });
  });

  test.each(["{", "[]", '"text"', '{"a" 1}'])("%s is nobody's to overwrite", (text) => {
    expect(() => withEntry(host, text, entry)).toThrow(Unreadable);
  });
});

describe("Codex CLI", () => {
  const codex = host("codex");
  const table = '[mcp_servers.browser-coordinator]\ncommand = "/opt/coordinator"\nargs = ["mcp"]\n';

  test("a file that is not there yet", () => expect(withEntry(codex, "", entry)).toBe(table));

  test("what is there stays", () => {
    const before = '# mine\nmodel = "x"\n\n[mcp_servers.other]\ncommand = "y"\n';
    expect(withEntry(codex, before, entry)).toBe(`${before}\n${table}`);
  });

  test("an older entry is replaced, what follows it stays", () => {
    const before =
      'model = "x"\n\n[mcp_servers.browser-coordinator]\ncommand = "/old"\nenv = { A = "1" }\n\n[tui]\ntheme = "z"\n';
    expect(withEntry(codex, before, entry)).toBe(`model = "x"\n\n${table}\n[tui]\ntheme = "z"\n`);
  });

  test("a second time nothing changes", () => {
    const once = withEntry(codex, 'model = "x"\n', entry);
    expect(withEntry(codex, once, entry)).toBe(once);
  });

  test("a Windows path is a TOML string", () => {
    expect(withEntry(codex, "", { command: "C:\\x\\coordinator.exe", args: ["mcp"] })).toContain(
      '"C:\\\\x\\\\coordinator.exe"',
    );
  });
});

test("for others there is the entry to paste", () => {
  expect(JSON.parse(toPaste(entry))).toEqual({ mcpServers: { [entryName]: entry } });
});
