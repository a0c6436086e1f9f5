// A connection to something that is no DevTools server. The real one is in pages.test.ts.
import { createHash } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { Cdp } from "../../src/core/browser/cdp";

/** A WebSocket server that sends a text to each client. */
async function serve(text: string): Promise<string> {
  const server = createServer();
  server.on("upgrade", ({ headers }, socket) => {
    const key = `${headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
    const accept = createHash("sha1").update(key).digest("base64");
    const head = ["HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", "Connection: Upgrade"];
    socket.write(`${head.join("\r\n")}\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`);
    socket.write(Buffer.from([0x81, text.length, ...Buffer.from(text)]));
    onTestFinished(() => void socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return `ws://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

test.each(["hello", "null", "7", '"text"', "{"])(
  "a message %s ends the connection, and the calls that wait",
  async (text) => {
    const cdp = await Cdp.connect(await serve(text));
    await expect(cdp.call("Browser.getVersion")).rejects.toThrow("the browser has closed the connection");
  },
);
