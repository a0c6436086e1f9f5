// The user's own browser, through a coordinator that keeps the connection to it and serves a part of it: the tabs
// of agents and clients, and those that the user hands over. It ends with this process, since its input does.
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import * as l10n from "@vscode/l10n";
import { plain } from "../plaintext";
import type { Browser } from "../protocol/protocol.generated";
import type { Tab } from "./usertabs";

interface Response {
  tabs?: Tab[];
  error?: string;
}

export class OwnBrowser {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #waiting: ((line: string) => void)[] = [];
  /** What the coordinator has written for people, the last line. */
  #report = "";
  #ending = false;
  /** Settles when the connection has ended: with the reason, or with nothing where it was ended here. */
  readonly ended: Promise<string | undefined>;

  /** Connects. The browser asks its user; what the coordinator writes meanwhile is reported. */
  static async connect(
    program: string,
    which: string,
    report: (line: string) => void,
    signal: AbortSignal,
  ): Promise<{ own: OwnBrowser; browser: Browser }> {
    const args = ["attach", "--json", ...(which === "" ? [] : [which])];
    const own = new OwnBrowser(spawn(program, args, { windowsHide: true }), report);
    const cancel = () => own.#child.kill();
    signal.addEventListener("abort", cancel);
    try {
      const first = own.#line();
      const why = await Promise.race([first.then(() => undefined), own.ended.then((reason) => ({ reason }))]);
      signal.throwIfAborted();
      if (why) throw new Error(why.reason);
      own.#report = ""; // that the browser asks is no reason for a later end
      return { own, browser: parseBrowser(program, await first) };
    } catch (error) {
      own.#child.kill();
      throw error;
    } finally {
      signal.removeEventListener("abort", cancel);
    }
  }

  private constructor(child: ChildProcessWithoutNullStreams, report: (line: string) => void) {
    this.#child = child;
    createInterface({ input: child.stdout }).on("line", (line) => this.#waiting.shift()?.(line));
    createInterface({ input: child.stderr }).on("line", (line) => {
      this.#report = line.replace(/^coordinator: /, "");
      report(this.#report);
    });
    child.stdin.on("error", () => {}); // it has ended
    this.ended = new Promise((resolve) => {
      child.once("error", (error) => resolve(error.message));
      child.once("close", () => resolve(this.#ending ? undefined : this.#report || endedText()));
    });
  }

  /** The user's tabs: those that agents may use first, then those of a running server of this machine. */
  async tabs(): Promise<Tab[]> {
    return (await this.#request("tabs")).tabs ?? [];
  }

  /** Lets agents use a tab. */
  async handOver({ id }: Tab): Promise<void> {
    await this.#request(`hand-over ${id}`);
  }

  /** Ends a hand-over. */
  async takeBack({ id }: Tab): Promise<void> {
    await this.#request(`take-back ${id}`);
  }

  /** Leaves the browser, which lives on. */
  end(): void {
    this.#ending = true;
    this.#child.stdin.end();
  }

  async #request(text: string): Promise<Response> {
    const line = this.#line();
    this.#child.stdin.write(`${text}\n`);
    const ended = this.ended.then((reason = endedText()) => JSON.stringify({ error: reason }));
    const response = JSON.parse(await Promise.race([line, ended])) as Response;
    if (response.error !== undefined) throw new Error(response.error);
    return response;
  }

  #line(): Promise<string> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}

/** What the program reports when it has connected. */
function parseBrowser(program: string, line: string): Browser {
  try {
    const { url, product } = JSON.parse(line) as { url: string; product: string };
    return { url, product, via: "personal" };
  } catch {
    const setting = "browserCoordinator.coordinatorPath";
    throw new Error(
      l10n.t("{0} reported “{1}”, not a browser. Check the setting {2}", program, plain(line, 100), setting),
    );
  }
}

function endedText(): string {
  return l10n.t("the program that connected has ended");
}
