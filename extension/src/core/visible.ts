// Characters that one does not see can hide what a text says: they change the order in which it is read, part words
// that look alike, or carry a hidden text.

/** What is no trick: whole emoji, and the joiners of scripts that need them, such as Persian's and Hindi's. */
const afterLetter = String.raw`(?<=[\p{Lo}--[\p{DI}\p{Script=Latin}]][\p{M}--\p{DI}]*[\u200c\u200d])`;
const harmless = String.raw`\p{RGI_Emoji}|[\u200c\u200d]${afterLetter}|[\t\n]`;
const unseen = String.raw`[\p{Cc}\p{DI}\p{Zl}\p{Zp}\ufff9-\ufffb]`;
const pattern = new RegExp(`(${harmless})|${unseen}`, "gv");

/** Untrusted text with a mark in place of each character that one does not see, as the editor has it: [U+202E]. */
export function visible(text: string): string {
  return text.replace(pattern, (found, kept?: string) => kept ?? mark(found));
}

function mark(character: string): string {
  return `[U+${character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0")}]`;
}
