// Serves an MCP server that speaks over its standard streams to clients that speak over HTTP: a process for each of
// their sessions, and every message passed on as it is.
import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import type { Run } from "./run";

interface Session {
  http: StreamableHTTPServerTransport;
  stdio: StdioClientTransport;
}

export class Bridge {
  private readonly sessions = new Map<string, Session>();
  private readonly server = createServer((request, response) => {
    this.answer(request, response).catch((error) => response.destroy(error as Error));
  });

  private constructor(
    private readonly run: Run,
    private readonly folder: string,
  ) {}

  static async open(run: Run, folder: string): Promise<Bridge> {
    const bridge = new Bridge(run, folder);
    await new Promise<void>((resolve) => bridge.server.listen(0, "127.0.0.1", resolve));
    return bridge;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/mcp`;
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const session = this.sessions.get(String(request.headers["mcp-session-id"])) ?? (await this.begin());
    await session.http.handleRequest(request, response);
  }

  private async begin(): Promise<Session> {
    const { coordinator, env } = this.run;
    const stdio = new StdioClientTransport({
      command: coordinator,
      args: ["mcp", "--no-launch"],
      cwd: this.folder,
      env,
    });
    const http = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void this.sessions.set(id, { http, stdio }),
    });
    http.onmessage = (message) => void stdio.send(message);
    stdio.onmessage = (message) => void http.send(message);
    await stdio.start();
    await http.start();
    return { http, stdio };
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await Promise.all([...this.sessions.values()].map(({ stdio }) => stdio.close()));
  }
}
