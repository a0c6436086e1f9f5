// Reads the argument of a command, member by member: what does not fit is refused, with its place.
//
//     const arg = Argument.parse(value);
//     const path = arg.text("path");
//     const line = arg.optional("line", () => arg.whole("line", 1));
import type { Client } from "./protocol.generated";
import { bad, type Members, member, readList, readObject, readText, readWhole } from "./request";

export class Argument {
  private constructor(
    private readonly members: Members,
    private readonly path: string,
  ) {}

  /** A call without an argument has an empty one. */
  static parse(value: unknown): Argument {
    return new Argument(readObject(value === undefined ? {} : value, "/payload/arg"), "/payload/arg");
  }

  has(name: string): boolean {
    return member(this.members, name) !== undefined;
  }

  /** What read gives, or undefined where the member is not there. */
  optional<T>(name: string, read: () => T): T | undefined {
    return this.has(name) ? read() : undefined;
  }

  text(name: string, shortest = 1): string {
    return readText(member(this.members, name), this.pathOf(name), shortest);
  }

  whole(name: string, least: number): number {
    return readWhole(member(this.members, name), this.pathOf(name), least);
  }

  /** A number above zero. */
  positive(name: string): number {
    const value = member(this.members, name);
    if (typeof value !== "number" || !Number.isFinite(value) || value <= 0) throw this.bad(name, "must be above zero");
    return value;
  }

  flag(name: string): boolean {
    const value = member(this.members, name);
    if (typeof value !== "boolean") throw this.bad(name, "must be true or false");
    return value;
  }

  choice<T extends string>(name: string, choices: readonly T[]): T {
    const value = member(this.members, name);
    const found = choices.find((choice) => choice === value);
    if (found === undefined) throw this.bad(name, `must be one of ${choices.join(", ")}`);
    return found;
  }

  object(name: string): Argument {
    return new Argument(readObject(member(this.members, name), this.pathOf(name)), this.pathOf(name));
  }

  /** The objects of a list, which may be empty. */
  objects(name: string): Argument[] {
    const value = member(this.members, name);
    if (Array.isArray(value) && value.length === 0) return [];
    return readList(value, this.pathOf(name), (item, path) => new Argument(readObject(item, path), path));
  }

  client(name = "client"): Client {
    const client = this.object(name);
    return { id: client.text("id"), name: client.text("name"), version: client.text("version", 0) };
  }

  /** The refusal of a member, for a rule that only the command knows. */
  bad(name: string, what: string): Error {
    return bad(this.pathOf(name), what);
  }

  private pathOf(name: string): string {
    return `${this.path}/${name}`;
  }
}
