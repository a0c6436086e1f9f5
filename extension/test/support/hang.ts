/** After this many milliseconds something hangs, also on a busy machine. */
export const hang = 60_000;
