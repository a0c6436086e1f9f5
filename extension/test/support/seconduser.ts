// Other users of this machine, for tests. Only root can run a process as another user.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";

/** Why there can be no other user here; undefined where there can. */
export const noSecondUser: string | undefined =
  process.platform !== "linux"
    ? "the test makes an account by useradd, on Linux"
    : process.getuid?.() !== 0
      ? "only root can make an account and run a process as another user"
      : undefined;

export class SecondUser {
  readonly #running = new Set<ChildProcess>();

  private constructor(
    readonly uid: number,
    /** Empty without an account. */
    readonly name: string,
  ) {}

  /** A new account with a shell. Its id is none that other tests take. */
  static make(): SecondUser {
    const uid = randomInt(30_000, 40_000);
    const name = `bc-test-${uid}`;
    const options = ["--no-create-home", "--home-dir", "/nonexistent", "--shell", "/bin/sh", "--uid", `${uid}`];
    execFileSync("useradd", [...options, name], { stdio: ["ignore", "ignore", "inherit"] });
    return new SecondUser(uid, name);
  }

  /** A user by the id alone. */
  static ofId(uid: number): SecondUser {
    return new SecondUser(uid, "");
  }

  /** Starts a program as this user. It runs when this settles. */
  async run(program: string, args: string[]): Promise<ChildProcess & { pid: number }> {
    const { uid } = this;
    const child = spawn(program, args, { uid, gid: uid, cwd: "/", env: { PATH: process.env.PATH }, stdio: "pipe" });
    this.#running.add(child);
    await once(child, "spawn");
    return child as ChildProcess & { pid: number };
  }

  /** Runs a JavaScript program as this user to its end, and returns what it writes. */
  async node(script: string): Promise<string> {
    const child = await this.run(process.execPath, ["--experimental-websocket", "-"]);
    let [out, errors] = ["", ""];
    child.stdout?.on("data", (data) => (out += data));
    child.stderr?.on("data", (data) => (errors += data));
    child.stdin?.end(script);
    const [status] = await once(child, "close");
    this.#running.delete(child);
    if (status !== 0) throw new Error(`the program of uid ${this.uid} failed: ${errors}`);
    return out;
  }

  /** Ends what was started as this user. */
  async leave(): Promise<void> {
    for (const child of this.#running) {
      this.#running.delete(child);
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const gone = once(child, "exit");
      child.kill("SIGKILL");
      await gone;
    }
  }

  /** Ends what was started as this user, and the account. */
  async remove(): Promise<void> {
    await this.leave();
    if (this.name) execFileSync("userdel", [this.name], { stdio: "ignore" });
  }
}
