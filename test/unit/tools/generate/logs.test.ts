/** Tests that log lines have the keys of docs/logs.md and no others: it reads every call of a logger in the sources. */
import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { LOG_KEYS, logsDocument } from '../../../../tools/generate/logs.ts';

const ROOT = resolve(import.meta.dirname, '../../../..');
/** `log`, `this.#log`, `request.log`, `tools.log`. */
const LOGGER = /(^|[.#])log$/;
const METHODS = new Set(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'child']);
/** Keys of the logger of a request, which are set in one place (server/http/). */
const OF_REQUESTS = ['requestID', 'trace_id', 'span_id'];

interface Use {
  key: string;
  place: string;
}

/** Lists the keys that the calls of loggers in a file give. A key that cannot be read from the text is shown as its expression. */
function listUses(file: string): Use[] {
  const source = ts.createSourceFile(file, readFileSync(join(ROOT, file), 'utf8'), ts.ScriptTarget.Latest, true);
  const uses: Use[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node)) uses.push(...readCall(node).map((key) => ({ key, place: file })));
    ts.forEachChild(node, visit);
  };
  visit(source);
  return uses;
}

function readCall({ expression, arguments: [first] }: ts.CallExpression): string[] {
  const isProperty = ts.isPropertyAccessExpression(expression);
  if (!isProperty && !ts.isElementAccessExpression(expression)) return [];
  if (!LOGGER.test(expression.expression.getText())) return [];
  // A level that is computed: log[isUsual ? 'debug' : 'warn'](…).
  if (isProperty && !METHODS.has(expression.name.text)) return [];
  if (!first || ts.isStringLiteralLike(first) || ts.isTemplateExpression(first)) return [];
  if (!ts.isObjectLiteralExpression(first)) return [first.getText()];
  return first.properties.map((property) => property.name?.getText() ?? property.getText());
}

const uses = globSync('src/**/*.ts', { cwd: ROOT, exclude: ['src/dashboard/**'] }).flatMap(listUses);

test('every key of a log line is in the list', () => {
  expect(uses.length).toBeGreaterThan(150);
  expect(uses.filter(({ key }) => !Object.hasOwn(LOG_KEYS, key))).toEqual([]);
});

test('every key of the list is in a log line', () => {
  const used = new Set([...uses.map(({ key }) => key), ...OF_REQUESTS]);
  expect(Object.keys(LOG_KEYS).filter((key) => !used.has(key))).toEqual([]);
});

test('docs/logs.md shows the list', () => {
  expect(readFileSync(join(ROOT, 'docs/logs.md'), 'utf8')).toBe(logsDocument());
});
