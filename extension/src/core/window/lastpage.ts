// The page in which an agent acted last, as the live view follows it.

/** A client, as a window or `coordinator show` lists it. Times are in milliseconds, or ISO 8601. */
interface Client {
  kind: string;
  /** That it works in. */
  page?: string;
  since: number | string;
  last?: { time: number | string } | null;
}

/** The page of the agent that did something last. One that has just begun has done nothing yet. */
export function lastPage(clients: readonly Client[]): string | undefined {
  const time = ({ last, since }: Client) => new Date(last?.time ?? since).getTime();
  const agents = clients.filter(({ kind, page }) => kind === "mcp" && page !== undefined);
  return agents.sort((one, other) => time(other) - time(one))[0]?.page;
}
