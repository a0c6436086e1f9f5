// The lines of a code block: what each is, and where it is in the file that a diff changes.

export interface CodeLine {
  text: string;
  kind?: "added" | "removed" | "place";
  /** What the user sees before the line; undefined for a line that tells only where the others are. */
  number?: number;
  /** Of a diff that names its files. A removed line is a line of the file before. */
  file?: string;
}

export function codeLines(language: string, content: string): CodeLine[] {
  const texts = content.replace(/\n$/, "").split("\n");
  if (language === "diff" || language === "patch") return diffLines(texts);
  return texts.map((text, index) => ({ text, number: index + 1 }));
}

const kinds: Record<string, CodeLine["kind"]> = { "+": "added", "-": "removed", "@": "place" };

/** Lines of a file before and after a change, with what is around them. */
export interface Hunk {
  before: string[];
  after: string[];
  /** The number of the first line after the change, by the diff. */
  start: number;
}

/** The hunks of a diff that names its files. */
export function hunks(lines: readonly CodeLine[]): CodeLine[][] {
  const all: CodeLine[][] = [];
  let open = false;
  for (const line of lines) {
    if (line.file === undefined) open = line.kind === "place" && line.text.startsWith("\\") && open;
    else if (open) all.at(-1)?.push(line);
    else {
      all.push([line]);
      open = true;
    }
  }
  return all;
}

export function hunkOf(lines: readonly CodeLine[]): Hunk {
  const side = (without: CodeLine["kind"]) => lines.filter(({ kind }) => kind !== without);
  const texts = (of: CodeLine[]) => of.map(({ text }) => text.slice(1).replace(/\r$/, ""));
  const [before, after] = [side("added"), side("removed")];
  return { before: texts(before), after: texts(after), start: after[0]?.number ?? 1 };
}

/** At which index of a file's lines some lines are: at the expected one, or else at the only one. */
export function indexOfLines(file: readonly string[], lines: readonly string[], expected: number): number | undefined {
  const fits = (at: number) => lines.every((line, index) => file[at + index] === line);
  if (fits(expected)) return expected;
  const all = file.flatMap((_, at) => (fits(at) ? [at] : []));
  return all.length === 1 ? all[0] : undefined;
}

/** A removed line may look like a header (`--- x`), so the counts of the hunks decide. */
function diffLines(texts: readonly string[]): CodeLine[] {
  let before = "";
  let file: string | undefined;
  let [old, now, oldLeft, nowLeft] = [0, 0, 0, 0];
  return texts.map((text, index): CodeLine => {
    const kind = kinds[text.charAt(0)];
    if (oldLeft > 0 || nowLeft > 0) {
      if (text.startsWith("\\")) return { text, kind: "place" }; // no newline at the end of the file
      if (kind !== "added") oldLeft -= 1;
      if (kind !== "removed") nowLeft -= 1;
      const number = kind === "removed" ? old : now;
      if (kind !== "added") old += 1;
      if (kind !== "removed") now += 1;
      return { text, number, ...(kind && { kind }), ...(file !== undefined && { file }) };
    }
    const hunk = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(text);
    if (hunk) {
      const [from, oldCount, to, nowCount] = hunk.slice(1).map((count) => Number(count ?? 1));
      [old, oldLeft, now, nowLeft] = [from ?? 0, oldCount ?? 0, to ?? 0, nowCount ?? 0];
      return { text, kind: "place" };
    }
    const header = /^(---|\+\+\+) ([^\t]+)/.exec(text);
    if (header) {
      const [, side, name = ""] = header;
      if (side === "---") before = name;
      else file = changedFile(before, name);
      return { text, kind: "place" };
    }
    if (/^(diff|index|new file|deleted file|similarity|rename|old mode|new mode) /.test(text))
      return { text, kind: "place" };
    return kind === "place" ? { text, kind } : { text, number: index + 1, ...(kind && { kind }) };
  });
}

/** The name of the file by the two names in a diff's header: git puts a/ and b/ before them. */
export function changedFile(before: string, after: string): string {
  const name = after === "/dev/null" ? before : after;
  const marked = [before, after].every((each) => each === "/dev/null" || /^[ab]\//.test(each));
  return marked ? name.slice(2) : name;
}
