// An agent: somebody else's MCP client, with the coordinator as its only server.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import type { Run } from "./run";

export class Agent {
  private constructor(
    private readonly client: Client,
    /** Its coordinator's process. */
    readonly pid: number,
  ) {}

  /** Starts it in a folder, without any configuration but flags. */
  static async start(run: Run, folder: string, ...flags: string[]): Promise<Agent> {
    const client = new Client({ name: "e2e-agent", version: "1.0.0" });
    const transport = new StdioClientTransport({
      command: run.coordinator,
      args: ["mcp", ...flags],
      cwd: folder,
      env: run.env,
    });
    await client.connect(transport);
    return new Agent(client, transport.pid as number);
  }

  async tools(): Promise<string[]> {
    return (await this.client.listTools()).tools.map(({ name }) => name);
  }

  /** Calls a tool and answers its text; an error of the tool is thrown. */
  async use(tool: string, args: Record<string, unknown> = {}): Promise<string> {
    return (await this.see(tool, args)).text;
  }

  /** The same, with the pictures, in base64. */
  async see(tool: string, args: Record<string, unknown> = {}): Promise<{ text: string; pictures: string[] }> {
    const result = (await this.client.callTool({ name: tool, arguments: args })) as CallToolResult;
    const text = result.content.map((each) => (each.type === "text" ? each.text : `[${each.type}]`)).join("\n");
    if (result.isError) throw new Error(`${tool}: ${text}`);
    return { text, pictures: result.content.flatMap((each) => (each.type === "image" ? each.data : [])) };
  }

  close(): Promise<void> {
    return this.client.close();
  }
}
