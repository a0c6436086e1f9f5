// node-http-proxy in front of a browser, for the benchmark: prints its address.
import { createServer } from "node:http";
import httpProxy from "http-proxy";

const proxy = httpProxy.createProxyServer({ target: `http://${process.argv[2]}` });
proxy.on("error", (_error, _request, response) => response.destroy());
const server = createServer((request, response) => proxy.web(request, response));
server.on("upgrade", (request, socket, head) => proxy.ws(request, socket, head));
server.listen(0, "127.0.0.1", () => console.log(`127.0.0.1:${server.address().port}`));
