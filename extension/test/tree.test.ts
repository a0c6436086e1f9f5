// What the editor is told to draw, in a played editor.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { RowView, row } from "../src/vscode/views/tree";

let description: string;
let drawn: (number | "all")[];
let view: RowView;

beforeEach(() => {
  vi.useFakeTimers();
  description = "…";
  drawn = [];
  view = new RowView("view", () => [row("Endpoint", { id: "endpoint", description })]);
  view.onDidChangeTreeData((rows) => drawn.push(rows?.length ?? "all"));
});

afterEach(() => {
  view.dispose();
  vi.useRealTimers();
});

function change(): void {
  description += ".";
  view.update();
}

test("what changes while the editor draws the rows for the first time is drawn again after that", () => {
  view.getChildren();
  change();
  vi.advanceTimersByTime(200);
  change();
  vi.advanceTimersByTime(5_000);
  expect(drawn).toEqual([1, 1, "all"]);
  expect(view.getChildren()[0]?.item.description).toBe("…..");
});

test("a later change redraws its row alone", () => {
  view.getChildren();
  vi.advanceTimersByTime(5_000);
  change();
  vi.advanceTimersByTime(5_000);
  expect(drawn).toEqual([1]);
});
