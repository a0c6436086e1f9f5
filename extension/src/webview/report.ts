// The line above the picture, where the live view reports to the user.
import { part } from "./part";

/** It is one line, so that the picture stays where it is. The tooltip has all of it. */
export function report(text: string): void {
  const note = part("note");
  note.textContent = note.title = text;
}
