// Makes the VSIX in dist/. With no argument one for every system, without the coordinator's program;
// with targets (or "all") one for each of them, with that system's program in bin/. With the address of the
// public repository, the extension's page has its pictures, and links to it and to its issues.
//
//     node scripts/package.mjs [--repository URL] [linux-x64 …| all]
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { standalone } from "./readme.mjs";
import { checkVsix } from "./vsix.mjs";

const extension = fileURLToPath(new URL("..", import.meta.url));
const repository = dirname(extension.replace(/[\\/]$/, ""));
const bin = join(extension, "bin");
const notices = join(extension, "dist", "THIRD-PARTY-NOTICES.txt");

/** VS Code's names of systems, and Go's. */
const targets = {
  "linux-x64": { GOOS: "linux", GOARCH: "amd64" },
  "linux-arm64": { GOOS: "linux", GOARCH: "arm64" },
  "darwin-x64": { GOOS: "darwin", GOARCH: "amd64" },
  "darwin-arm64": { GOOS: "darwin", GOARCH: "arm64" },
  "win32-x64": { GOOS: "windows", GOARCH: "amd64" },
};

const description = JSON.parse(readFileSync(join(extension, "package.json"), "utf8"));
const vsce = createRequire(import.meta.url).resolve("@vscode/vsce/vsce");
const { values, positionals: asked } = parseArgs({
  options: { repository: { type: "string" } },
  allowPositionals: true,
});

/** Packs a copy, whose description and README may differ. */
function pack(name, args = []) {
  const copy = mkdtempSync(join(tmpdir(), "browser-coordinator-vsix-"));
  try {
    for (const part of [
      "dist/extension.js",
      "dist/webview",
      "media",
      "bin",
      "package.nls.json",
      "CHANGELOG.md",
      "LICENSE",
      ".vscodeignore",
    ]) {
      if (existsSync(join(extension, part))) cpSync(join(extension, part), join(copy, part), { recursive: true });
    }
    cpSync(notices, join(copy, "THIRD-PARTY-NOTICES.txt"));
    const { url, options } = published(values.repository);
    writeFileSync(join(copy, "package.json"), `${JSON.stringify({ ...description, ...url }, null, 2)}\n`);
    const readme = readFileSync(join(extension, "README.md"), "utf8");
    writeFileSync(join(copy, "README.md"), values.repository ? readme : standalone(readme));
    const out = join(extension, "dist", name);
    // Nothing here may ask a question: there may be nobody to answer.
    execFileSync(
      process.execPath,
      [vsce, "package", ...args, "--no-dependencies", "--skip-license", ...options, "--out", out],
      {
        cwd: copy,
        stdio: ["ignore", "ignore", "inherit"],
      },
    );
    console.log(join("extension", "dist", name));
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

/** What the extension's page says of its repository. The editor shows pictures only by their addresses. */
function published(repository) {
  if (!repository) return { options: ["--allow-missing-repository", "--no-rewrite-relative-links"] };
  const files = `${repository}/blob/HEAD/extension`;
  return {
    url: {
      repository: { type: "git", url: `${repository}.git`, directory: "extension" },
      bugs: { url: `${repository}/issues` },
      homepage: repository,
    },
    options: ["--baseContentUrl", files, "--baseImagesUrl", `${repository}/raw/HEAD/extension`],
  };
}

function packFor(target) {
  const program = join(bin, target.startsWith("win32") ? "coordinator.exe" : "coordinator");
  const env = { ...process.env, ...targets[target], CGO_ENABLED: "0", GOWORK: "off" };
  execFileSync(
    "go",
    ["build", "-trimpath", `-ldflags=-s -w -X main.release=${description.version}`, "-o", program, "./coordinator"],
    {
      cwd: repository,
      env,
      stdio: "inherit",
    },
  );
  try {
    const name = `browser-coordinator-${target}.vsix`;
    pack(name, ["--target", target]);
    checkVsix(join(extension, "dist", name), target);
  } finally {
    rmSync(bin, { recursive: true, force: true });
  }
}

const wanted = asked.includes("all") ? Object.keys(targets) : asked;
const unknown = wanted.filter((target) => !Object.hasOwn(targets, target));
if (unknown.length > 0) {
  console.error(`no such target: ${unknown.join(", ")}; there are ${Object.keys(targets).join(", ")}, all`);
  process.exit(2);
}
rmSync(bin, { recursive: true, force: true });
mkdirSync(join(extension, "dist"), { recursive: true });
execFileSync("go", ["run", "./internal/release", "-notices", notices], {
  cwd: repository,
  env: { ...process.env, GOWORK: "off" },
  stdio: "inherit",
});
if (wanted.length === 0) pack("browser-coordinator.vsix");
for (const target of wanted) packFor(target);
