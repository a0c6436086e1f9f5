// The text of reviews, in files, so that a reload of the window loses none: the editor brings a panel that was
// behind another back only when the user selects it.
import { mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { code, type Log, reason } from "../log";
import type { Client } from "../protocol/protocol.generated";
import type { Review } from "./answer";
import { storedReviews } from "./review";

const ending = ".json";

export class ReviewFiles {
  constructor(
    private readonly folder: string,
    private readonly log: Log,
  ) {}

  /** The newest first. */
  async all(): Promise<Review[]> {
    const read = (await this.#names()).map(async (name) => JSON.parse(await readFile(this.#path(name), "utf8")));
    const found = await Promise.allSettled(read); // another window may remove one meanwhile
    return found.flatMap((each) => (each.status === "fulfilled" && isReview(each.value) ? [each.value] : []));
  }

  /** A review that cannot be kept is shown all the same. */
  async keep(review: Review): Promise<void> {
    try {
      await mkdir(this.folder, { recursive: true, mode: 0o700 });
      await writeFile(this.#path(review.id + ending), JSON.stringify(review), { mode: 0o600 });
      for (const name of (await this.#names()).slice(storedReviews)) await rm(this.#path(name), { force: true });
    } catch (error) {
      this.log.warn(`the review "${review.title}" would not survive a reload: ${reason(error)}`);
    }
  }

  async forget({ id }: Review): Promise<void> {
    await rm(this.#path(id + ending), { force: true }).catch((error: unknown) => this.log.debug(reason(error)));
  }

  /** The newest first. */
  async #names(): Promise<string[]> {
    try {
      const names = (await readdir(this.folder)).filter((name) => name.endsWith(ending));
      const times = await Promise.allSettled(names.map(async (name) => (await stat(this.#path(name))).mtimeMs));
      const aged = times.flatMap((time, index) =>
        time.status === "fulfilled" ? [{ name: names[index] ?? "", time: time.value }] : [],
      );
      return aged.sort((one, other) => other.time - one.time).map(({ name }) => name);
    } catch (error) {
      if (code(error) !== "ENOENT") this.log.warn(`the kept reviews cannot be read: ${reason(error)}`);
      return [];
    }
  }

  #path(name: string): string {
    return join(this.folder, name);
  }
}

/** Whether it is what an editor or a file has kept of a review. */
export function isReview(value: unknown): value is Review {
  const { id, label, title, markdown, client } = (value ?? {}) as Partial<Record<keyof Review, unknown>>;
  const by = (client ?? {}) as Partial<Record<keyof Client, unknown>>;
  const texts = [label, title, markdown, by.id, by.name, by.version];
  return texts.every((text) => typeof text === "string") && typeof id === "string" && /^[\w-]+$/.test(id);
}
