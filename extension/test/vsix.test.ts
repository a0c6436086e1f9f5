// Which system a program is for, by the first bytes that each system's loader looks at.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
// @ts-expect-error a script of the build, without types
import { missingFiles, systemOf } from "../scripts/vsix.mjs";

const bytes = (length: number, ...parts: [number, number[]][]) => {
  const all = Buffer.alloc(length);
  for (const [at, part] of parts) all.set(part, at);
  return all;
};
const elf = [0x7f, 0x45, 0x4c, 0x46];
const mach = [0xcf, 0xfa, 0xed, 0xfe];

test.each([
  ["linux-x64", bytes(64, [0, elf], [18, [0x3e, 0]])],
  ["linux-arm64", bytes(64, [0, elf], [18, [0xb7, 0]])],
  ["darwin-x64", bytes(64, [0, mach], [4, [7, 0, 0, 1]])],
  ["darwin-arm64", bytes(64, [0, mach], [4, [12, 0, 0, 1]])],
  ["win32-x64", bytes(128, [0, [0x4d, 0x5a]], [0x3c, [0x40]], [0x40, [0x50, 0x45, 0, 0, 0x64, 0x86]])],
  [undefined, bytes(64, [0, elf], [18, [0x28, 0]])],
  [undefined, Buffer.from("#!/bin/sh\n".padEnd(64))],
])("%s", (system, program) => expect(systemOf(program)).toBe(system));

test("the program that runs this is one for this system", () => {
  expect(systemOf(readFileSync(process.execPath))).toBe(`${process.platform}-${process.arch}`);
});

test("a package lacks what its description or a text names", () => {
  const file = (text: string) => ({ read: () => Buffer.from(text) });
  const files = new Map([
    ["extension/package.json", file('{"main": "./dist/extension.js", "l10n": "./l10n", "icon": "media/icon.png"}')],
    ["extension/readme.md", file("[a](docs/a.md#part), ![b](media/b.png), [c](https://example.test/), [d](#part)")],
    ["extension/dist/extension.js", file("")],
    ["extension/media/b.png", file("")],
    ["extension/LICENSE.txt", file("")],
  ]);
  expect(missingFiles(files)).toEqual(["./l10n", "media/icon.png", "docs/a.md", "THIRD-PARTY-NOTICES.txt"]);
});
