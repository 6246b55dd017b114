/**
 * Finds the regular expressions of a source file: literals, `new RegExp(…)`, and the `pattern` of schemas, as far as their text is constant.
 * A comment `// linear-time: reason` before an expression says why its text is harmless. Pure: no I/O, no clock.
 */
import ts from 'typescript';

export interface Expression {
  line: number;
  /** Undefined where it is not constant. */
  source: string | undefined;
  flags: string;
  /** Line of the comment that explains why its time does not matter; undefined without one. */
  reasonLine: number | undefined;
}

const REASON = /\/\/ linear-time: \S/;
/** A comment may stand above a statement that is broken into lines. */
const REASON_LINES = 3;

type Resolve = (name: string) => ts.Expression | undefined;

/** Returns the constant text of an expression; undefined where it depends on the run. */
function readText(node: ts.Node | undefined, resolve: Resolve): string | undefined {
  if (!node) return undefined;
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) return node.text;
  if (ts.isIdentifier(node)) return readText(resolve(node.text), resolve);
  if (ts.isParenthesizedExpression(node) || ts.isAsExpression(node)) return readText(node.expression, resolve);
  if (ts.isNumericLiteral(node)) return node.text;
  if (ts.isTaggedTemplateExpression(node))
    return node.tag.getText() === 'String.raw' ? readTemplate(node.template, resolve, true) : undefined;
  if (ts.isTemplateExpression(node)) return readTemplate(node, resolve, false);
  if (ts.isPropertyAccessExpression(node) && node.name.text === 'source') {
    const of = ts.isIdentifier(node.expression) ? resolve(node.expression.text) : node.expression;
    return of && readExpression(of, resolve)?.source;
  }
  return readJoined(node, resolve);
}

/** Reads `[a, b].join('|')`. */
function readJoined(node: ts.Node, resolve: Resolve): string | undefined {
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return undefined;
  const { name, expression: list } = node.expression;
  if (name.text !== 'join' || !ts.isArrayLiteralExpression(list)) return undefined;
  const parts = list.elements.map((element) => readText(element, resolve));
  const between = readText(node.arguments[0], resolve);
  return between !== undefined && parts.every((part) => part !== undefined) ? parts.join(between) : undefined;
}

function readTemplate(template: ts.TemplateLiteral, resolve: Resolve, isRaw: boolean): string | undefined {
  const textOf = (part: ts.TemplateLiteralLikeNode) => (isRaw ? (part.rawText ?? part.text) : part.text);
  if (ts.isNoSubstitutionTemplateLiteral(template)) return textOf(template);
  let text = textOf(template.head);
  for (const { expression, literal } of template.templateSpans) {
    const value = readText(expression, resolve);
    if (value === undefined) return undefined;
    text += value + textOf(literal);
  }
  return text;
}

/** Reads a literal or a `new RegExp(…)`; undefined for any other node. */
function readExpression(node: ts.Node, resolve: Resolve): Pick<Expression, 'source' | 'flags'> | undefined {
  if (node.kind === ts.SyntaxKind.RegularExpressionLiteral) {
    const { text } = node as ts.RegularExpressionLiteral;
    const end = text.lastIndexOf('/');
    return { source: text.slice(1, end), flags: text.slice(end + 1) };
  }
  const isMade = (ts.isNewExpression(node) || ts.isCallExpression(node)) && node.expression.getText() === 'RegExp';
  if (isMade)
    return {
      source: readText(node.arguments?.[0], resolve),
      flags: readText(node.arguments?.[1], resolve) ?? '',
    };
  if (!ts.isPropertyAssignment(node) || node.name.getText() !== 'pattern') return undefined;
  const source = readText(node.initializer, resolve);
  return source === undefined ? undefined : { source, flags: 'u' };
}

/** Lists the expressions of a file. `resolveImport` returns the constant of a name that the file imports. */
export function findExpressions(file: ts.SourceFile, resolveImport: Resolve = () => undefined): Expression[] {
  const lines = file.text.split('\n');
  const resolve: Resolve = (name) => findConstant(file, name) ?? resolveImport(name);
  const found: Expression[] = [];
  const visit = (node: ts.Node): void => {
    const expression = readExpression(node, resolve);
    if (expression) {
      const line = file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1;
      const above = Array.from({ length: REASON_LINES + 1 }, (_, back) => line - back);
      found.push({ line, ...expression, reasonLine: above.find((number) => REASON.test(lines[number - 1] ?? '')) });
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

/** Finds the value of a constant at the top of a file. */
export function findConstant(file: ts.SourceFile, name: string): ts.Expression | undefined {
  for (const statement of file.statements) {
    if (!ts.isVariableStatement(statement)) continue;
    for (const { name: declared, initializer } of statement.declarationList.declarations)
      if (ts.isIdentifier(declared) && declared.text === name) return initializer;
  }
  return undefined;
}

/** Lists the lines of comments that give a reason. */
export const listReasons = (text: string): number[] =>
  text.split('\n').flatMap((line, at) => (REASON.test(line) ? [at + 1] : []));
