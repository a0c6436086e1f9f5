// The user's machine: it runs VS Code's companion of js-debug as it is, and with it the browser. Its arguments are
// the companion's program and the folder of the two sockets that lead to the other machine.
const Module = require("node:module");
const net = require("node:net");
const { EventEmitter: Emitter } = require("node:events");
const { join } = require("node:path");

const [companion, folder] = process.argv.slice(2);

// What the companion uses of VS Code.
const commands = new Map();
class EventEmitter {
  emitter = new Emitter();
  event = (listener) => {
    this.emitter.on("event", listener);
    return { dispose: () => this.emitter.off("event", listener) };
  };
  fire = (value) => this.emitter.emit("event", value);
}
class CancellationTokenSource {
  cancelled = new EventEmitter();
  token = { isCancellationRequested: false, onCancellationRequested: this.cancelled.event };
  cancel() {
    this.token.isCancellationRequested = true;
    this.cancelled.fire();
  }
}
const vscode = {
  commands: { registerCommand: (name, run) => commands.set(name, run) },
  window: { showErrorMessage: (text) => process.stderr.write(`${text}\n`) },
  l10n: { t: (text) => text },
  EventEmitter,
  CancellationTokenSource,
};
const load = Module._load;
Module._load = (name, ...more) => (name === "vscode" ? vscode : load(name, ...more));

require(companion).activate({
  storageUri: { fsPath: join(folder, "profiles") },
  subscriptions: [],
  globalState: new Map(),
});

/** Forwards a port of this machine to the same port of the other one. */
const forwards = new Map();
function forward(port) {
  if (forwards.has(port)) return forwards.get(port);
  const server = net.createServer((from) => {
    const to = net.connect(join(folder, "tunnel.sock"));
    const header = Buffer.alloc(2);
    header.writeUInt16BE(port);
    from.once("data", (first) => {
      to.write(Buffer.concat([header, first]));
      from.pipe(to).pipe(from);
    });
    for (const [one, other] of [
      [from, to],
      [to, from],
    ])
      one.on("error", () => other.destroy()).on("close", () => other.destroy());
  });
  const listening = new Promise((resolve) => server.listen(port, "127.0.0.1", resolve));
  forwards.set(port, listening);
  return listening;
}

const server = net.createServer({ allowHalfOpen: true }, async (socket) => {
  const parts = [];
  for await (const part of socket) parts.push(part);
  const { command, argument, ports } = JSON.parse(Buffer.concat(parts).toString());
  await Promise.all(ports.map(forward));
  await commands.get(`js-debug-companion.${command}`)(argument);
  socket.end();
});
server.listen(join(folder, "commands.sock"), () => process.stdout.write("ready\n"));
