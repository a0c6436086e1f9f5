// Makes the VSIX in dist/. With no argument one for every system, without the coordinator's program;
// with targets (or "all") one for each of them, with that system's program in bin/.
//
//     node scripts/package.mjs [linux-x64 …| all]
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { withoutPictures } from "./readme.mjs";
import { checkVsix } from "./vsix.mjs";

const extension = fileURLToPath(new URL("..", import.meta.url));
const repository = dirname(extension.replace(/[\\/]$/, ""));
const bin = join(extension, "bin");

/** VS Code's names of systems, and Go's. */
const targets = {
  "linux-x64": { GOOS: "linux", GOARCH: "amd64" },
  "linux-arm64": { GOOS: "linux", GOARCH: "arm64" },
  "darwin-x64": { GOOS: "darwin", GOARCH: "amd64" },
  "darwin-arm64": { GOOS: "darwin", GOARCH: "arm64" },
  "win32-x64": { GOOS: "windows", GOARCH: "amd64" },
};

const { version } = JSON.parse(readFileSync(join(extension, "package.json"), "utf8"));
const vsce = createRequire(import.meta.url).resolve("@vscode/vsce/vsce");

function pack(name, args = []) {
  const out = join("dist", name);
  const readme = join("dist", "README.md");
  writeFileSync(join(extension, readme), withoutPictures(readFileSync(join(extension, "README.md"), "utf8")));
  // Nothing here may ask a question: there may be nobody to answer.
  const fixed = [
    "--no-dependencies",
    "--allow-missing-repository",
    "--skip-license",
    "--no-rewrite-relative-links",
    "--readme-path",
    readme,
  ];
  execFileSync(process.execPath, [vsce, "package", ...args, ...fixed, "--out", out], {
    cwd: extension,
    stdio: ["ignore", "ignore", "inherit"],
  });
  console.log(join("extension", out));
}

function packFor(target) {
  const program = join(bin, target.startsWith("win32") ? "coordinator.exe" : "coordinator");
  const env = { ...process.env, ...targets[target], CGO_ENABLED: "0", GOWORK: "off" };
  execFileSync(
    "go",
    ["build", "-trimpath", `-ldflags=-s -w -X main.release=${version}`, "-o", program, "./coordinator"],
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

const asked = process.argv.slice(2);
const wanted = asked.includes("all") ? Object.keys(targets) : asked;
const unknown = wanted.filter((target) => !Object.hasOwn(targets, target));
if (unknown.length > 0) {
  console.error(`no such target: ${unknown.join(", ")}; there are ${Object.keys(targets).join(", ")}, all`);
  process.exit(2);
}
rmSync(bin, { recursive: true, force: true });
mkdirSync(join(extension, "dist"), { recursive: true });
if (wanted.length === 0) pack("browser-coordinator.vsix");
for (const target of wanted) packFor(target);
