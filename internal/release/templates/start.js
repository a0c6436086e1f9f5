#!/usr/bin/env node
// Runs the program that npm has installed for this system.
const { spawn } = require("node:child_process");
const { config } = require("./package.json");

const system = `${process.platform}-${process.arch}`;
const program = process.platform === "win32" ? "coordinator.exe" : "coordinator";
let path;
try {
  path = require.resolve(`${config.scope}/${system}/${program}`);
} catch {
  console.error(
    `browser-coordinator: there is no program for ${system} in this installation. ` +
      `If the system is a supported one, install again with optional dependencies: ` +
      `npm install --include=optional browser-coordinator`,
  );
  process.exit(1);
}
const child = spawn(path, process.argv.slice(2), { stdio: "inherit" });
// The program decides what a signal means. Those of keys reach it by the terminal.
for (const signal of ["SIGINT", "SIGQUIT"]) process.on(signal, () => {});
for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("error", (error) => {
  console.error(`browser-coordinator: ${path} cannot be run: ${error.message}`);
  process.exit(126);
});
child.on("exit", (code, signal) => {
  if (!signal) process.exit(code);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
