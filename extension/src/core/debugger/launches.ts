// Which launch configuration a debug.start starts.
import { randomUUID } from "node:crypto";
import { type Configuration, isBrowserType } from "../browser/injection";
import type { Argument } from "../protocol/argument";
import { Refusal } from "../protocol/request";

/** A folder's launch.json, or the workspace file's launch section, whose folder is undefined. */
export interface Launch {
  folder: string | undefined;
  configurations: Configuration[];
  compounds: Configuration[];
}

/** What to start: a configuration, or a compound by its name. `names` are those of its sessions. */
export interface Start {
  folder: string | undefined;
  what: string | (Configuration & { name: string });
  names: string[];
}

/** A member that marks the configuration of a start; debug sessions keep what they do not know. */
export const startMark = "__browserCoordinatorStart";

/**
 * Resolves what to start, in all folders or in one. With a URL, the only browser configuration decides how the browser
 * starts; where there are none or several, js-debug's defaults apply.
 */
export function choose(
  arg: Argument,
  launches: Launch[],
  folder: string | undefined,
  firstFolder: string | undefined,
): Start & { mark: string } {
  const mark = randomUUID();
  const url = arg.optional("url", () => readUrl(arg));
  const name = arg.optional("configuration", () => arg.text("configuration"));
  const candidates = folder === undefined ? launches : launches.filter((launch) => launch.folder === folder);
  if (folder !== undefined && candidates.length === 0) {
    const folders = launches.flatMap((launch) => launch.folder ?? []);
    throw arg.bad("folder", `is no folder of this window; there are ${quoted(folders)}`);
  }
  if (name !== undefined) {
    const found = candidates.flatMap((launch) => named(launch, name));
    const [only, other] = found;
    if (!only) throw nothing(`no launch configuration is called ${JSON.stringify(name)}`, candidates);
    if (other) {
      const folders = quoted(found.flatMap((each) => each.folder ?? "the workspace"));
      throw arg.bad("configuration", `is in more than one folder: name one in "folder": ${folders}`);
    }
    if (typeof only.what === "string" && url !== undefined) throw arg.bad("url", "cannot be given to a compound");
    return { ...only, what: prepared(only.what, mark, url), mark };
  }
  const browsers = candidates.flatMap(browserLaunches);
  const [only, other] = browsers;
  if (only && !other) return { ...only, what: prepared(only.what, mark, url), mark };
  if (url !== undefined) {
    const place = folder ?? firstFolder;
    const plain = { type: "chrome", request: "launch", name: url, ...(place !== undefined && { webRoot: place }) };
    return { folder: place, what: { ...plain, url, [startMark]: mark }, names: [url], mark };
  }
  throw nothing(
    only ? "there is more than one browser launch configuration" : "there is no browser launch configuration",
    candidates,
  );
}

function prepared(what: Start["what"], mark: string, url: string | undefined): Start["what"] {
  if (typeof what === "string") return what;
  const { file, ...rest } = what;
  return { ...(url === undefined ? what : { ...rest, name: what.name, url }), [startMark]: mark };
}

function readUrl(arg: Argument): string {
  const url = arg.text("url");
  if (!/^(https?|file):\/\//i.test(url) || !URL.canParse(url)) {
    throw arg.bad("url", "must be a whole URL that begins with http://, https:// or file://");
  }
  return url;
}

function named(launch: Launch, name: string): Start[] {
  const { folder } = launch;
  const configuration = launch.configurations.find((each) => each.name === name);
  if (configuration) return [{ folder, what: { ...configuration, name }, names: [name] }];
  const compound = launch.compounds.find((each) => each.name === name);
  return compound ? [{ folder, what: name, names: members(compound) }] : [];
}

/** A compound names configurations, or `{name, folder}`. */
function members(compound: Configuration): string[] {
  const { configurations } = compound;
  if (!Array.isArray(configurations)) return [];
  return configurations.map((each: unknown) =>
    typeof each === "string" ? each : String((each as { name?: unknown } | null)?.name),
  );
}

function browserLaunches({ folder, configurations }: Launch): Start[] {
  return configurations.flatMap((each) => {
    const { name, type, request } = each;
    const fits = typeof name === "string" && typeof type === "string" && isBrowserType(type) && request === "launch";
    return fits ? [{ folder, what: { ...each, name }, names: [name] }] : [];
  });
}

/** There is nothing to start: lists the candidates. */
function nothing(what: string, launches: Launch[]): Refusal {
  const configurations = launches.flatMap(({ folder, configurations, compounds }) => [
    ...configurations.map(({ name, type, request }) => ({ name, type, request, folder })),
    ...compounds.map(({ name }) => ({ name, type: "compound", folder })),
  ]);
  const names = configurations.map(({ name }) => String(name));
  const rest =
    names.length > 0
      ? `name one in "configuration": ${quoted(names)}`
      : 'there are none in this window: give a "url", or add one to .vscode/launch.json';
  return new Refusal("bad_payload", `${what}: ${rest}`, { path: "/payload/arg/configuration", configurations });
}

function quoted(names: string[]): string {
  return names.map((name) => JSON.stringify(name)).join(", ");
}
