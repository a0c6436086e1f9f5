// What the user reads goes through l10n. That a translation reaches them is in extension.test.ts.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { expect, test } from "vitest";

const source = join(import.meta.dirname, "../src");

/** What only agents and programs read. */
const forAgents = /^core\/(protocol|debugger)\//;

/** Where the editor, or the page of a panel, shows a text. */
const shownMembers =
  /^(label|description|detail|tooltip|title|placeHolder|placeholder|prompt|spoken|short|long|summary|problem|textContent|ariaLabel)$/;
const shownCalls = /(^|\.)(show(Information|Warning|Error)Message|setStatusBarMessage|row)$/;
/** An error whose text the user gets. Others are for the log, or for agents. */
const shownErrors = /^(core\/(setup|address|files\/(home|lock)|review\/patch)|vscode\/(?!debugger|review))/;

/** Names are the same in all languages. */
const names = /^(Browser Coordinator(: +…( +\.)?)?)$/;

/** The text of a literal without icons and what is put into it. */
function textOf(node: ts.Node): string | undefined {
  if (ts.isStringLiteralLike(node)) return node.text.replace(/\$\([\w~-]+\)/g, "").trim();
  if (!ts.isTemplateExpression(node)) return undefined;
  const parts = [node.head, ...node.templateSpans.map(({ literal }) => literal)];
  return parts
    .map(({ text }) => text.replace(/\$\([\w~-]+\)/g, ""))
    .join(" … ")
    .trim();
}

function isShown(node: ts.Node, file: string): boolean {
  let child = node;
  for (let at = node.parent; at; child = at, at = at.parent) {
    if (ts.isConditionalExpression(at) && at.condition !== child) continue;
    if (ts.isParenthesizedExpression(at) || ts.isTemplateSpan(at) || ts.isTemplateExpression(at)) continue;
    if (ts.isBinaryExpression(at)) {
      if (/^(\?\?|\|\||\+)$/.test(at.operatorToken.getText())) continue;
      const { left } = at;
      return (
        at.operatorToken.getText() === "=" && ts.isPropertyAccessExpression(left) && shownMembers.test(left.name.text)
      );
    }
    if (ts.isPropertyAssignment(at)) return child === at.initializer && shownMembers.test(at.name.getText());
    if (ts.isCallExpression(at)) return child !== at.expression && shownCalls.test(at.expression.getText());
    if (ts.isNewExpression(at))
      return shownErrors.test(file) && /^(Error|Unreadable|NoCoordinator)$/.test(at.expression.getText());
    return false;
  }
  return false;
}

/** The texts of a file that the user reads as they are written. */
function untranslated(file: string): string[] {
  const text = readFileSync(join(source, file), "utf8");
  const tree = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node)) {
      const called = node.expression.getText();
      if (called === "l10n.t" || /\blog\.\w+$/.test(called)) return;
    }
    if (ts.isLiteralTypeNode(node) || ts.isImportDeclaration(node)) return;
    const words = textOf(node);
    if (words !== undefined && !names.test(words)) {
      const isSentence = /^[A-Z][a-z]+ [a-z]/.test(words);
      if (isSentence || (/[A-Za-z]{2}/.test(words) && isShown(node, file))) {
        const { line } = tree.getLineAndCharacterOfPosition(node.getStart());
        found.push(`${file}:${line + 1} ${words}`);
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return found;
}

test("no text for the user is without l10n", () => {
  const files = readdirSync(source, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));
  expect(files.length).toBeGreaterThan(80);
  expect(files.filter((file) => !forAgents.test(file)).flatMap(untranslated)).toEqual([]);
});
