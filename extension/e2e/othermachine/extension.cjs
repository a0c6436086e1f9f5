// What VS Code does for a remote window: it carries the commands of js-debug to its companion on the user's
// machine, and the connections of that machine to the ports that it forwards. Nothing goes to a port there.
const { once } = require("node:events");
const net = require("node:net");
const { join } = require("node:path");
const vscode = require("vscode");

exports.activate = (context) => {
  const folder = process.env.OTHER_MACHINE;
  const forwarded = new Set([Number(process.env.OTHER_MACHINE_PORT)]);
  const tunnel = net.createServer((from) => {
    from.once("data", (first) => {
      const port = first.readUInt16BE(0); // two bytes, then what the connection has sent
      if (!forwarded.has(port)) return from.destroy();
      const to = net.connect(port, "127.0.0.1");
      to.write(first.subarray(2));
      from.pipe(to).pipe(from);
      for (const [one, other] of [
        [from, to],
        [to, from],
      ])
        one.on("error", () => other.destroy()).on("close", () => other.destroy());
    });
  });
  tunnel.listen(join(folder, "tunnel.sock"));
  const send = async (command, argument) => {
    const socket = net.connect(join(folder, "commands.sock"));
    socket.end(JSON.stringify({ command, argument, ports: [...forwarded] }));
    await once(socket.resume(), "close");
  };
  context.subscriptions.push(
    { dispose: () => tunnel.close() },
    vscode.commands.registerCommand("js-debug-companion.launchAndAttach", (argument) => {
      // The address that a web server's VS Code would give is for its web pages.
      forwarded.add(argument.serverPort);
      return send("launchAndAttach", { ...argument, proxyUri: `127.0.0.1:${argument.serverPort}` });
    }),
    vscode.commands.registerCommand("js-debug-companion.kill", (argument) => send("kill", argument)),
  );
};
