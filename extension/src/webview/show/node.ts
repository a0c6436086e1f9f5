// What the core takes from Node, for the pages of `coordinator show`: they run in a browser.

/** Whether two values of JSON have the same text. */
export function isDeepStrictEqual(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

export function randomUUID(): string {
  return crypto.randomUUID();
}

export const Buffer = {
  /** The bytes of base64, which is all that the core reads. */
  from(base64: string): Uint8Array {
    const text = atob(base64);
    const bytes = new Uint8Array(text.length);
    for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
    return bytes;
  },
};
