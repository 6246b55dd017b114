/**
 * Checks that every regular expression of `src/` takes linear time on any text (ambiguity.ts). An expression that reads
 * no stranger's text, or a short one, has a comment before it: `// linear-time: a name has at most 200 characters.`
 * Arguments are files; without any, all of `src/`.
 */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import ts from 'typescript';
import { PROJECT_ROOT } from '../process/root.ts';
import { findAmbiguity } from './ambiguity.ts';
import { findConstant, findExpressions, listReasons } from './find.ts';

const parsed = new Map<string, ts.SourceFile>();
function parse(path: string): ts.SourceFile {
  const file = parsed.get(path) ?? ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true);
  parsed.set(path, file);
  return file;
}

/** Finds a constant that a file imports from another one of ours. */
function resolveImport(file: ts.SourceFile, name: string): ts.Expression | undefined {
  for (const statement of file.statements) {
    if (!ts.isImportDeclaration(statement) || !ts.isStringLiteral(statement.moduleSpecifier)) continue;
    const { text: from } = statement.moduleSpecifier;
    const bindings = statement.importClause?.namedBindings;
    if (!from.startsWith('.') || !bindings || !ts.isNamedImports(bindings)) continue;
    const imported = bindings.elements.find((element) => element.name.text === name);
    if (imported)
      return findConstant(parse(resolve(dirname(file.fileName), from)), (imported.propertyName ?? imported.name).text);
  }
  return undefined;
}

/** Returns the complaints about a file. */
function check(path: string): string[] {
  const file = parse(path);
  const used = new Set<number>();
  const complaints: string[] = [];
  const complain = (line: number, what: string) => complaints.push(`${relative(PROJECT_ROOT, path)}:${line}: ${what}`);
  for (const { line, source, flags, reasonLine } of findExpressions(file, (name) => resolveImport(file, name))) {
    const ambiguity = source === undefined ? 'unknown' : findAmbiguity(source, flags);
    if (ambiguity === undefined) continue;
    if (reasonLine !== undefined) used.add(reasonLine);
    else if (source === undefined)
      complain(line, 'The expression is not constant. Say before it why its time is linear.');
    else complain(line, `/${source}/${flags} takes ${ambiguity} time on some texts.`);
  }
  for (const line of listReasons(file.text))
    if (!used.has(line)) complain(line, 'The comment explains no expression that needs it.');
  return complaints;
}

const given = process.argv.slice(2).map((path) => resolve(path));
const paths =
  given.length > 0
    ? given
    : globSync('src/**/*.{ts,tsx}', { cwd: PROJECT_ROOT }).map((path) => join(PROJECT_ROOT, path));
const complaints = paths.sort().flatMap(check);
for (const complaint of complaints) process.stderr.write(`${complaint}\n`);
if (complaints.length > 0)
  process.stderr.write(
    '\nA text of a stranger can hold a process for hours. Divide the text by indexOf, let no two loops beside each other read the same signs, or, ' +
      'where the text is short or our own, write "// linear-time: reason" before the expression.\n',
  );
process.exit(complaints.length > 0 ? 1 : 0);
