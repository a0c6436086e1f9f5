// Looks into a VSIX: is the program in it one for its system, and may it be run?
import { readFileSync } from "node:fs";
import { inflateRawSync } from "node:zlib";

/** Which system a program is for by its first bytes, in VS Code's names. */
export function systemOf(program) {
  if (program.readUInt32BE(0) === 0x7f454c46) {
    return { 62: "linux-x64", 183: "linux-arm64" }[program.readUInt16LE(18)];
  }
  if (program.readUInt32LE(0) === 0xfeedfacf) {
    return { 16777223: "darwin-x64", 16777228: "darwin-arm64" }[program.readUInt32LE(4)];
  }
  if (program.toString("latin1", 0, 2) === "MZ") {
    const header = program.readUInt32LE(0x3c);
    if (program.toString("latin1", header, header + 4) === "PE\0\0" && program.readUInt16LE(header + 4) === 0x8664) {
      return "win32-x64";
    }
  }
  return undefined;
}

/** The files of a zip by name: `{mode, read()}`. No zip64: a VSIX is small. */
export function zipFiles(path) {
  const zip = readFileSync(path);
  const end = zip.lastIndexOf(Buffer.from("PK\x05\x06", "latin1"));
  if (end < 0) throw new Error(`${path} is no zip`);
  const files = new Map();
  let at = zip.readUInt32LE(end + 16);
  for (let left = zip.readUInt16LE(end + 10); left > 0; left -= 1) {
    const [method, packed] = [zip.readUInt16LE(at + 10), zip.readUInt32LE(at + 20)];
    const [name, extra, comment] = [28, 30, 32].map((offset) => zip.readUInt16LE(at + offset));
    const [mode, local] = [zip.readUInt16LE(at + 40), zip.readUInt32LE(at + 42)];
    const read = () => {
      const start = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
      const data = zip.subarray(start, start + packed);
      return method === 0 ? data : inflateRawSync(data);
    };
    files.set(zip.toString("utf8", at + 46, at + 46 + name), { mode, read });
    at += 46 + name + extra + comment;
  }
  return files;
}

/** Throws where the VSIX is not what its target needs. */
export function checkVsix(path, target) {
  const files = zipFiles(path);
  const name = `extension/bin/coordinator${target.startsWith("win32") ? ".exe" : ""}`;
  const program = files.get(name);
  if (!program) throw new Error(`${path} lacks ${name}`);
  const system = systemOf(program.read());
  if (system !== target) throw new Error(`${path}: the program is one for ${system ?? "an unknown system"}`);
  if (!target.startsWith("win32") && (program.mode & 0o111) !== 0o111)
    throw new Error(`${path}: ${name} may not be run`);
  if (!files.get("extension.vsixmanifest")?.read().toString().includes(`TargetPlatform="${target}"`)) {
    throw new Error(`${path} is not marked as being for ${target}`);
  }
  const missing = missingFiles(files);
  if (missing.length > 0) throw new Error(`${path} names files that are not in it: ${missing.join(", ")}`);
}

/** What the description and the texts of an extension name, and its package lacks. */
export function missingFiles(files) {
  const description = files.get("extension/package.json").read().toString();
  const named = [...description.matchAll(/"(\.\/[^"]+|media\/[^"]+|[^"]+\.(?:md|png|svg))"/g)].map((match) => match[1]);
  for (const text of ["readme.md", "changelog.md"]) {
    const links =
      files
        .get(`extension/${text}`)
        ?.read()
        .toString()
        .matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g) ?? [];
    named.push(...[...links].map((match) => match[1]));
  }
  named.push("LICENSE.txt", "THIRD-PARTY-NOTICES.txt");
  return named.filter((name) => !has(files, name.replace(/^\.\//, "")));
}

/** A folder is there by its files. */
function has(files, name) {
  return [...files.keys()].some((file) => file === `extension/${name}` || file.startsWith(`extension/${name}/`));
}
