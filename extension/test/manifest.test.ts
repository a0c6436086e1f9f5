// What the manifest promises, and what it must never ask for.
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
// @ts-expect-error a script of the build, without types
import { standalone } from "../scripts/readme.mjs";
import { modes, modeWords } from "../src/core/access/access";
import { inject, isBrowserType } from "../src/core/browser/injection";

const read = (name: string) => readFileSync(fileURLToPath(new URL(`../${name}`, import.meta.url)), "utf8");
const source = JSON.parse(read("package.json"));
const texts: Record<string, string> = JSON.parse(read("package.nls.json"));
/** As the editor shows it: with its texts in place of their keys. */
const manifest = JSON.parse(JSON.stringify(source), (_, value) =>
  typeof value === "string" ? value.replace(/^%(.+)%$/, (key, name) => texts[name] ?? key) : value,
);

/** A step's text, or its picture in each kind of theme. */
interface Media {
  markdown?: string;
  image?: Record<"light" | "dark" | "hc" | "hcLight", string>;
  altText?: string;
}

test("it asks for no proposed API: a published extension would not get it", () => {
  expect(manifest).not.toHaveProperty("enabledApiProposals");
});

test("it runs where the workspace is, and asks for nothing at run time", () => {
  expect(manifest.extensionKind).toEqual(["workspace"]);
  expect(manifest).not.toHaveProperty("dependencies");
  expect(manifest).not.toHaveProperty("extensionDependencies");
  expect(manifest.capabilities.untrustedWorkspaces.supported).toBe("limited");
  expect(manifest.capabilities.virtualWorkspaces.supported).toBe(false);
});

test("it is awake before a browser debug session is resolved", () => {
  const types = manifest.activationEvents
    .filter((event: string) => event.startsWith("onDebugResolve:"))
    .map((event: string) => event.slice("onDebugResolve:".length));
  expect(manifest.activationEvents).toContain("onStartupFinished");
  expect(types).toHaveLength(6);
  expect(types.every(isBrowserType)).toBe(true);
});

test("it is compiled against the oldest editor that it admits", () => {
  expect(`^${manifest.devDependencies["@types/vscode"]}`).toBe(manifest.engines.vscode);
});

test("each text of a person's language is in package.nls.json, and each there is used", () => {
  const keys = [...JSON.stringify(source).matchAll(/"%([\w.]+)%"/g)].map(([, key]) => key);
  expect([...new Set(keys)].sort()).toEqual(Object.keys(texts).sort());
});

describe("what a person reads", () => {
  test.each(manifest.contributes.commands as { command: string; category: string; title: string }[])(
    "$command",
    ({ command, category, title }) => {
      expect(command).toMatch(/^browserCoordinator\./);
      expect(category).toBe("Browser Coordinator");
      expect(title).toMatch(/^[A-Z]/);
    },
  );

  const settings = Object.entries(manifest.contributes.configuration.properties) as [string, Record<string, unknown>][];
  test.each(settings)("%s", (name, setting) => {
    expect(name).toMatch(/^browserCoordinator\./);
    expect(setting).toHaveProperty("default");
    expect(setting.markdownDescription).toMatch(/\.$/);
  });
});

describe("what is contributed", () => {
  const { commands, keybindings, menus, views, viewsWelcome, walkthroughs, configuration } = manifest.contributes;
  const known = new Set(commands.map(({ command }: { command: string }) => command));
  const ids = new Set(
    Object.values(views as Record<string, { id: string }[]>).flatMap((all) => all.map(({ id }) => id)),
  );
  const linked = (text: string) => [...text.matchAll(/command:(browserCoordinator\.[\w.]+)/g)].map(([, name]) => name);

  test("menus, welcomes and the walkthrough name commands that there are", () => {
    const used = ([keybindings, ...Object.values(menus)] as { command: string; args?: { commands: string[] } }[][])
      .flat()
      .flatMap(({ command, args }) => args?.commands ?? command); // what runs by another has no key beside its label
    const steps = (walkthroughs as { steps: { description: string }[] }[]).flatMap(({ steps }) => steps);
    const links = [
      ...(viewsWelcome as { contents: string }[]).flatMap(({ contents }) => linked(contents)),
      ...steps.flatMap(({ description }) => linked(description)),
    ].filter((name) => !name?.endsWith(".focus")); // the editor makes one for each view
    expect(links.length).toBeGreaterThan(3);
    for (const name of [...used, ...links]) expect([...known]).toContain(name);
  });

  test("each command can be reached by the keyboard: in the palette, or in the menu of a row", () => {
    type Item = { command: string; when?: string; group?: string };
    const hidden = (menus.commandPalette as Item[])
      .filter(({ when }) => when === "false")
      .map(({ command }) => command);
    const inMenus = (menus["view/item/context"] as Item[]).filter(({ group }) => !group?.startsWith("inline"));
    expect(hidden.filter((command) => !inMenus.some((item) => item.command === command))).toEqual([]);
  });

  test("menus and welcomes name views that there are", () => {
    const named = JSON.stringify({ menus, viewsWelcome }).matchAll(/view == ([\w.]+)|"view":"([\w.]+)"/g);
    for (const [, one, other] of named) expect([...ids]).toContain(one ?? other);
  });

  test("the walkthrough's pictures and texts are packed", () => {
    const packed = readFileSync(fileURLToPath(new URL("../.vscodeignore", import.meta.url)), "utf8");
    for (const each of ["walkthrough/**", "view*", "question*.png", "review*.png"])
      expect(packed).toContain(`!media/${each}`);
    for (const { steps } of walkthroughs as { steps: { media: Media }[] }[]) {
      for (const { media } of steps) {
        const files = media.markdown ? [media.markdown] : Object.values(media.image ?? {});
        expect(files).toHaveLength(media.markdown ? 1 : 4);
        if (media.image) expect(media.altText).toMatch(/^[A-Z]/);
        for (const file of files) {
          expect(file).toMatch(/^media\/(walkthrough\/|(view|question|review)(-dark)?\.png$)/);
          expect(existsSync(join(import.meta.dirname, "..", file)), file).toBe(true);
        }
      }
    }
  });

  test("a key works where its command does", () => {
    type Command = { command: string; enablement?: string };
    const enabled = new Map((commands as Command[]).map(({ command, enablement }) => [command, enablement]));
    const own = (keybindings as { command: string; when: string }[]).filter(({ command }) => enabled.has(command));
    expect(own.length).toBeGreaterThan(5);
    expect(own.map(({ when }) => when)).toEqual(own.map(({ command }) => enabled.get(command)));
  });

  test("the modes have one name each, wherever they are shown", () => {
    const { enum: values, enumItemLabels, enumDescriptions } = configuration.properties["browserCoordinator.access"];
    expect(values).toEqual(modes);
    expect(enumItemLabels).toEqual(modes.map((mode) => modeWords(mode).label));
    expect(enumDescriptions).toEqual(modes.map((mode) => modeWords(mode).detail));
    const text = read("README.md");
    for (const mode of modes) expect(text).toMatch(new RegExp(`${modeWords(mode).label}\\W+\`${mode}\``));
  });

  test("a remote window forwards no port of ours, and reports none", () => {
    const attributes: Record<string, { onAutoForward: string }> =
      manifest.contributes.configurationDefaults["remote.portsAttributes"];
    expect(Object.values(attributes).map(({ onAutoForward }) => onAutoForward)).toEqual(["ignore", "ignore"]);
    const isOurs = (line: string) => Object.keys(attributes).some((key) => new RegExp(key).test(line));
    const launched = inject({ type: "pwa-chrome", request: "launch", userDataDir: "/profile" }, true);
    const args = "configuration" in launched ? (launched.configuration.runtimeArgs as string[]) : [];
    const lines = ["/usr/bin/chromium", ...args, "about:blank"];
    // As the system lists them: with NUL between, or with blanks.
    expect(
      ["/bin/coordinator\0mcp\0", "coordinator.exe serve --workspace x", lines.join("\0"), lines.join(" ")].map(isOurs),
    ).toEqual([true, true, true, true]);
    expect(["node server.js", "chromium --remote-debugging-port=9222"].map(isOurs)).toEqual([false, false]);
  });

  test("the README's pictures exist, and no picture or link that an extension's page would not show is packed", () => {
    const path = fileURLToPath(new URL("../README.md", import.meta.url));
    const text = readFileSync(path, "utf8");
    const pictures = [...text.matchAll(/!\[[^\]]+\]\(([^)]*)\)/g)].map(([, source = ""]) => source);
    expect(pictures.length).toBeGreaterThan(2);
    for (const each of pictures) expect(existsSync(join(dirname(path), each))).toBe(true);
    const packed = standalone(text);
    expect(packed).not.toMatch(/!\[|<img/);
    const prose = text
      .replaceAll(/!\[.*?\]\(.*?\)/g, "")
      .replace("[The guide](../docs/vscode.md)", "The guide (`docs/vscode.md`)");
    expect(packed.replaceAll("\n", "")).toBe(prose.replaceAll("\n", ""));
  });

  test("the text of the walkthrough's steps has no marks that the editor would show as they are", () => {
    for (const { steps } of walkthroughs as { steps: { description: string }[] }[]) {
      for (const { description } of steps) expect(description.replaceAll(/\*\*[^*]+\*\*/g, "")).not.toMatch(/[*`#]/);
    }
  });

  test("a choice describes each of its values", () => {
    type Setting = { enum?: string[]; enumDescriptions?: string[] };
    const choices = (Object.values(configuration.properties) as Setting[]).filter((each) => each.enum);
    expect(choices.length).toBeGreaterThan(0);
    for (const each of choices) expect(each.enumDescriptions).toHaveLength(each.enum?.length ?? 0);
  });

  test("what agents may do is in the user's own settings alone: a workspace's could be written by an agent", () => {
    expect(configuration.properties["browserCoordinator.access"].scope).toBe("application");
    expect(configuration.properties["browserCoordinator.permissionTimeout"].scope).toBe("application");
  });
});
