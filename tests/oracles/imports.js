const ts = require(process.argv[2]);
const fs = require("fs");
const text = (node) => node.text;
function pattern(name) {
  if (ts.isIdentifier(name)) return [["*", name.text]];
  if (!ts.isObjectBindingPattern(name)) return null;
  return name.elements.map((e) => [e.propertyName ? e.propertyName.text ?? e.propertyName.getText() : e.name.getText(), e.name.getText()]);
}
function clause(found, c) {
  if (!c) return;
  if (c.name) found.push(["default", text(c.name)]);
  const b = c.namedBindings;
  if (b && ts.isNamespaceImport(b)) found.push(["*", text(b.name)]);
  else if (b) for (const e of b.elements) found.push([text(e.propertyName ?? e.name), text(e.name)]);
}
function visit(source, node, out) {
  const line = (n) => source.getLineAndCharacterOfPosition(n.getStart(source)).line;
  const lit = (n) => n && ts.isStringLiteral(n);
  if (ts.isImportDeclaration(node) && lit(node.moduleSpecifier)) {
    const names = []; clause(names, node.importClause);
    out.push([text(node.moduleSpecifier), names, line(node)]);
  } else if (ts.isExportDeclaration(node) && lit(node.moduleSpecifier)) {
    const c = node.exportClause;
    const names = !c ? [["*", "*"]] : ts.isNamespaceExport(c) ? [["*", text(c.name)]]
      : c.elements.map((e) => [text(e.propertyName ?? e.name), text(e.name)]);
    out.push([text(node.moduleSpecifier), names, line(node)]);
  } else if (ts.isImportEqualsDeclaration(node) && ts.isExternalModuleReference(node.moduleReference)) {
    if (lit(node.moduleReference.expression)) out.push([text(node.moduleReference.expression), [["default", text(node.name)]], line(node)]);
  } else if (ts.isCallExpression(node) && lit(node.arguments[0]) &&
    (node.expression.kind === ts.SyntaxKind.ImportKeyword || (ts.isIdentifier(node.expression) && node.expression.text === "require"))) {
    let holder = node.parent;
    if (ts.isAwaitExpression(holder)) holder = holder.parent;
    const names = ts.isVariableDeclaration(holder) ? pattern(holder.name) ?? [] : [];
    out.push([text(node.arguments[0]), names, line(node)]);
  }
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) out.push([text(node.argument.literal), [], line(node) ]);
  ts.forEachChild(node, (child) => visit(source, child, out));
}
for (const path of fs.readFileSync(0, "utf8").split("\n").filter(Boolean)) {
  const source = ts.createSourceFile(path, fs.readFileSync(path, "utf8"), ts.ScriptTarget.Latest, true);
  const out = [];
  visit(source, source, out);
  console.log(JSON.stringify([path, source.parseDiagnostics.length, out]));
}
