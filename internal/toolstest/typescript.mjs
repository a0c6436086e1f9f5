// Parses an exported test from standard input with TypeScript, and writes what is in it.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";

const ts = createRequire(process.argv[1])("typescript");
const source = readFileSync(0, "utf8");
const { diagnostics } = ts.transpileModule(source, {
  reportDiagnostics: true,
  compilerOptions: { target: ts.ScriptTarget.ESNext },
});
const errors = diagnostics.map((each) => ts.flattenDiagnosticMessageText(each.messageText, "\n"));

const file = ts.createSourceFile("session.spec.ts", source, ts.ScriptTarget.ESNext, true);
const texts = [];
const empty = (context) => {
  const visit = (node) => {
    if (ts.isStringLiteral(node) && !ts.isImportDeclaration(node.parent)) {
      texts.push(node.text);
      return ts.factory.createStringLiteral("", true);
    }
    return ts.visitEachChild(node, visit, context);
  };
  return (root) => ts.visitNode(root, visit);
};
const transformed = ts.transform(file, [empty]).transformed[0];
const shape = ts.createPrinter({ removeComments: true }).printFile(transformed);

const comments = [];
const scanner = ts.createScanner(ts.ScriptTarget.ESNext, false, ts.LanguageVariant.Standard, source);
for (let kind = scanner.scan(); kind !== ts.SyntaxKind.EndOfFileToken; kind = scanner.scan()) {
  if (kind === ts.SyntaxKind.SingleLineCommentTrivia || kind === ts.SyntaxKind.MultiLineCommentTrivia)
    comments.push(scanner.getTokenText());
}
console.log(JSON.stringify({ errors, shape, texts, comments }));
