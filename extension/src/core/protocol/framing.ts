// One JSON object on one line, in any number of pieces.
// Obeys specs/window-protocol/README.md section 3.

export const lineLimit = 8 * 1024 * 1024;
/** Of a state's event: a hello must hold more. */
export const stateLimit = 7 * 1024 * 1024;
/** The items of each list in a state. */
export const listLimit = 1_000;

/** A line, with its end, is over the limit. After a received one nothing can be read; none is ever sent. */
export class TooLarge extends Error {
  constructor() {
    super(`the line is longer than ${lineLimit} bytes`);
  }
}

const newline = 0x0a;
const carriageReturn = 0x0d;

/** Cuts chunks into lines; holds at most one unfinished line. */
export class LineReader {
  #pieces: Uint8Array[] = [];
  #pending = 0;

  /** The lines that chunk completes, without their ends. Empty ones are passed over. */
  *read(chunk: Uint8Array): Generator<Uint8Array> {
    let start = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      this.#keep(chunk.subarray(start, end), 1);
      start = end + 1;
      const line = trim(this.#take());
      if (line.length > 0) yield line;
    }
    this.#keep(chunk.subarray(start), 1); // with its end it would exceed the limit
  }

  #keep(piece: Uint8Array, end: number): void {
    if (this.#pending + piece.length + end > lineLimit) throw new TooLarge();
    if (piece.length === 0) return;
    this.#pieces.push(piece);
    this.#pending += piece.length;
  }

  #take(): Uint8Array {
    const line =
      this.#pieces.length === 1 ? (this.#pieces[0] as Uint8Array) : Buffer.concat(this.#pieces, this.#pending);
    this.#pieces = [];
    this.#pending = 0;
    return line;
  }
}

function trim(line: Uint8Array): Uint8Array {
  return line.at(-1) === carriageReturn ? line.subarray(0, -1) : line;
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The object on a line. Throws on anything else. */
export function parseLine(line: Uint8Array): Record<string, unknown> {
  const value: unknown = JSON.parse(utf8.decode(line));
  if (value === null || typeof value !== "object" || Array.isArray(value)) throw new Error("not an object");
  return value as Record<string, unknown>;
}

/** The message's line, with its end. Throws on what JSON cannot hold, and TooLarge. */
export function formatLine(message: object): string {
  const line = `${JSON.stringify(message)}\n`;
  if (Buffer.byteLength(line) > lineLimit) throw new TooLarge();
  return line;
}
