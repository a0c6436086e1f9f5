// A screen of its own, with the browser of a user who has switched remote debugging on there. Its question is
// answered by clicks. internal/desktoptest does the same for Go.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { expect } from "vitest";
import { untilPresent } from "./files";
import type { Run } from "./run";

const width = 1_000;
const height = 700;

/** The colour of the question's buttons. */
const face = [0xd3, 0xe3, 0xfd];

export class Desktop {
  private readonly children: ChildProcess[] = [];

  private constructor(
    /** For a program that is to show its windows there. */
    readonly env: NodeJS.ProcessEnv,
    server: ChildProcess,
  ) {
    this.children.push(server);
  }

  static async start(run: Run): Promise<Desktop> {
    const size = `${width}x${height}x24`;
    const server = spawn("Xvfb", ["-displayfd", "3", "-nolisten", "tcp", "-screen", "0", size], {
      env: run.env,
      stdio: ["ignore", "ignore", "ignore", "pipe"],
    });
    const [number] = await once(createInterface({ input: server.stdio[3] as Readable }), "line");
    return new Desktop({ ...run.env, DISPLAY: `:${number}` }, server);
  }

  /** Starts the browser, and returns when programs can connect to it. */
  async browser(run: Run, profile: string, ...pages: string[]): Promise<ChildProcess> {
    mkdirSync(profile, { recursive: true, mode: 0o700 });
    const state = { devtools: { remote_debugging: { "user-enabled": true } } };
    writeFileSync(join(profile, "Local State"), JSON.stringify(state), { mode: 0o600 });
    const flags = ["--no-first-run", "--no-default-browser-check", "--no-sandbox", "--disable-gpu", "--disable-sync"];
    flags.push("--disable-background-networking", "--disable-component-update", "--disable-quic");
    flags.push("--window-position=0,0", `--window-size=${width},${height}`, "--hide-crash-restore-bubble");
    const child = spawn(run.browser, [...flags, `--user-data-dir=${profile}`, ...pages], {
      env: this.env,
      stdio: "ignore",
    });
    this.children.push(child);
    await untilPresent(join(profile, "DevToolsActivePort"));
    return child;
  }

  /** Whether the browser asks its user. */
  get asks(): boolean {
    return this.buttons().length === 2;
  }

  /** Presses Allow until the work is done: at first the browser ignores that. */
  async allow(work: Promise<unknown>): Promise<void> {
    let done = false;
    const finished = work.finally(() => {
      done = true;
    });
    finished.catch(() => {}); // reported below
    const press = () => {
      const allow = this.buttons().sort(([a], [b]) => b - a);
      if (allow[0] && allow.length === 2) this.run("xdotool", "mousemove", ...allow[0].map(String), "click", "1");
      this.run("xdotool", "mousemove", "1", "1"); // a button below the pointer has another colour
      return done;
    };
    await expect.poll(press, { interval: 200 }).toBe(true);
    await finished;
  }

  /** What the screen shows now, from a row of pixels on. */
  pixels(from = 0): Buffer {
    return this.run("import", "-window", "root", "-depth", "8", "rgb:-").subarray(from * width * 3);
  }

  /** The same when it no longer changes. */
  async atRest(from = 0): Promise<Buffer> {
    let pixels: Buffer = Buffer.alloc(0);
    const rests = () => {
      const before = pixels;
      pixels = this.pixels(from);
      return before.equals(pixels);
    };
    await expect.poll(rests, { interval: 200 }).toBe(true);
    return pixels;
  }

  async close(): Promise<void> {
    for (const child of this.children.reverse()) {
      const ended = child.exitCode === null && child.signalCode === null ? once(child, "exit") : undefined;
      child.kill();
      await ended;
    }
  }

  /** The middles of the question's buttons. While the browser asks, all of its window but the question is dark. */
  private buttons(): [number, number][] {
    const shot = this.pixels();
    const at = (x: number, y: number) => [...shot.subarray((y * width + x) * 3, (y * width + x) * 3 + 3)];
    if ((at(width / 2, height - 20)[0] ?? 0) > 0xb0) return [];
    const boxes: { left: number; right: number; top: number; bottom: number }[] = [];
    for (let y = 0; y < height; y++) {
      for (let x = 0; x < width; x++) {
        if (at(x, y).some((part, index) => part !== face[index])) continue;
        const near = 4;
        const box = boxes.find(
          ({ left, right, top, bottom }) =>
            x >= left - near && x <= right + near && y >= top - near && y <= bottom + near,
        );
        if (!box) boxes.push({ left: x, right: x, top: y, bottom: y });
        else Object.assign(box, { left: Math.min(box.left, x), right: Math.max(box.right, x), bottom: y });
      }
    }
    return boxes
      .filter(({ left, right, top, bottom }) => right - left > 30 && bottom - top > 15)
      .map(({ left, right, top, bottom }) => [Math.round((left + right) / 2), Math.round((top + bottom) / 2)]);
  }

  private run(program: string, ...args: string[]): Buffer {
    return execFileSync(program, args, { env: this.env, maxBuffer: 1 << 24, stdio: ["ignore", "pipe", "ignore"] });
  }
}
