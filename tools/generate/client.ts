/**
 * Writes what of the client follows from the declarations of operations: src/service/client/operations.ts with a method for each operation
 * whose answer is JSON, and src/service/client/types.ts with the types of these methods.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type OperationDeclaration, PAGED, readRoute } from '../../src/service/lib/operation.ts';
import { PERSON } from '../../src/service/lib/scopes.ts';
import { OPERATIONS } from '../../src/service/server/operations/list.ts';
import { PROJECT_ROOT } from '../process/root.ts';
import { findRecordTypes, printDoc, type Schema, TypePrinter } from './client-types.ts';
import { formatModule } from './format.ts';

const MADE = 'Made from the declarations of operations by `make generate`; a test fails when it is not current.';

const upperFirst = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);
const toPascalCase = (text: string): string => text.split(/[-_]/).map(upperFirst).join('');
const toSingular = (noun: string): string => noun.replace(/(?<!s)s$/, '');

/** Verbs that add nothing to a method that is called what it reads or writes. */
const PLAIN_VERBS = new Set(['get', 'list', 'create', 'update']);

/** A method of the client; without a noun, of the client itself. */
export interface MethodName {
  noun: string | undefined;
  method: string;
}

/** Returns the method of an operation, by the rule of ClientUse. */
export function nameMethod(operation: Pick<OperationDeclaration, 'id' | 'http' | 'output' | 'client'>): MethodName {
  const use = operation.client || {};
  const [first = '', ...rest] = readRoute(operation).path.split('/').slice(1);
  const isAlone = rest.length === 0 && operation.output.kind === 'record';
  const noun = use.noun ?? (isAlone ? undefined : lowerFirst(toPascalCase(first)));
  const [, verb = '', subject = ''] = /^([a-z]+)(.*)$/.exec(operation.id) ?? [];
  const added = noun ? subject.replace(new RegExp(`^${toSingular(upperFirst(noun))}s?(?=[A-Z]|$)`), '') : subject;
  const method = PLAIN_VERBS.has(verb) && added !== '' ? lowerFirst(added) : verb;
  return { noun, method: use.method ?? method };
}

/** Returns the schema of an operation's JSON, or of an item of its page: null for no body, undefined for a body that is no JSON. */
function readResult({ output }: OperationDeclaration): Schema | null | undefined {
  switch (output.kind) {
    case 'page':
      return output.item as Schema;
    case 'deleted':
      return null;
    case 'headers':
      return undefined;
    case 'content':
      return output.types['application/json'] as Schema | undefined;
    case 'record':
      // A document to keep, not to work with.
      return output.attachment === undefined ? (output.schema as Schema) : { type: 'object' };
    default:
      return output.schema as Schema;
  }
}

function describe({ summary, description, errors = [] }: OperationDeclaration): string {
  const problems = new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(
    errors.map((code) => `\`problems.${toPascalCase(code)}\``),
  );
  const rejects = problems && `It may reject with ${problems}.`;
  return [`${summary}.`, description.replace(PAGED, '').trim(), rejects].filter(Boolean).join(' ');
}

/** The source of one method: its signature in the interface, and its code. */
interface Method {
  signature: string;
  code: string;
}

/** Writes the method of an operation, whose JSON is `result`. */
function printMethod(operation: OperationDeclaration, result: Schema | null, types: TypePrinter): Method {
  const { noun = '', method } = nameMethod(operation);
  const { method: verb, path } = readRoute(operation);
  // `format` chooses among media types, and the client reads JSON.
  const { wait, dryRun, format: _format, ...query } = operation.query ?? {};
  const place = path.includes('{') ? `path\`${path.replaceAll('{', '${')}\`` : `'${path}'`;

  /** Types of the parameters, by name, and how the code receives and passes them on. */
  const parameters: string[] = [];
  const received: string[] = [];
  const options: string[] = [];
  const addParameter = (name: string, type: string, receivedAs = name): void => {
    parameters.push(`${name}: ${type}`);
    received.push(receivedAs);
  };
  const finish = (type: string, request: string): Method => ({
    signature: `${printDoc(describe(operation))}${method}: (${parameters.join(', ')}) => ${type};\n`,
    code: `${method}: (${received.join(', ')}) => ${request},\n`,
  });

  for (const [, name = ''] of path.matchAll(/\{(\w+)\}/g))
    addParameter(name, types.print((operation.path?.[name] as Schema | undefined) ?? { type: 'string' }));

  if (operation.output.kind === 'page') {
    const name = `${upperFirst(method === 'list' ? toSingular(noun) : method)}Query`;
    addParameter('query?', types.declare(name, 'ListQuery', query), 'query');
    addParameter('call?', 'CallOptions', 'call');
    return finish(`List<${types.print(result ?? {})}>`, `list(${place}, query, call)`);
  }

  if (operation.input) {
    const { required = [], minProperties = 0 } = operation.input as Schema;
    const type = types.print(operation.input as Schema);
    if (required.length > 0 || minProperties > 0) addParameter('body', type);
    else addParameter('body?', type, 'body = {}');
  }
  const names = Object.keys(query);
  if (wait) {
    const fields = ['wait', ...names].join(', ');
    const type = types.declare(`${upperFirst(method)}Options`, 'WaitOptions', query);
    addParameter('call?', type, `{ ${fields}, ...call } = {}`);
    options.push(`query: { ${fields} }`, 'extraSeconds: wait');
  } else if (dryRun) {
    if (names.length > 0) throw new Error(`${operation.id} has another parameter beside dryRun.`);
    addParameter('call?', 'TrialOptions', '{ dryRun, ...call } = {}');
    options.push('query: { dryRun }');
  } else {
    if (names.length > 0) {
      addParameter('query?', types.declare(`${upperFirst(method)}Query`, '', query), 'query');
      options.push('query');
    }
    addParameter('call?', 'CallOptions', 'call');
  }
  const { extraSeconds } = operation.client || {};
  if (extraSeconds !== undefined) options.push(`extraSeconds: ${extraSeconds}`);
  // The server keeps no answer to a person, so another try might do it twice.
  const defaults = verb === 'POST' && operation.scope === PERSON ? ['maxRetries: 0'] : [];

  const request = verb === 'DELETE' ? 'remove' : verb.toLowerCase();
  const all = [...defaults, '...call', ...options];
  const args = [place, all.length === 1 ? 'call' : `{ ${all.join(', ')} }`, ...(operation.input ? ['body'] : [])].join(
    ', ',
  );
  if (result === null) return finish('Promise<void>', `${request}(${args})`);
  const { data, ...others } = result.properties ?? {};
  if (!data || Object.keys(others).length > 0) return finish(`Promise<${types.print(result)}>`, `${request}(${args})`);
  // A list without pages is an array.
  const array = types.print(data);
  return finish(`Promise<${array}>`, `${request}<{ data: ${array} }>(${args}).then(({ data }) => data)`);
}

/** Throws when two operations have one name. */
function printMethods(
  operations: readonly OperationDeclaration[],
  types: TypePrinter,
): { signatures: string; code: string } {
  const nouns = new Map<string | undefined, Map<string, Method>>();
  for (const operation of operations) {
    const result = readResult(operation);
    if (result === undefined || operation.client === false) continue;
    const { noun, method } = nameMethod(operation);
    const methods = nouns.get(noun) ?? new Map<string, Method>();
    if (methods.has(method))
      throw new Error(`Two operations are ${noun}.${method} in the client: name ${operation.id}.`);
    nouns.set(noun, methods.set(method, printMethod(operation, result, types)));
  }
  const join = (part: keyof Method, end: string): string =>
    [...nouns]
      .map(([noun, methods]) => [noun, [...methods.values()].map((method) => method[part]).join('')])
      .map(([noun, text]) => (noun === undefined ? text : `${noun}: {\n${text}}${end}\n`))
      .join('');
  return { signatures: join('signature', ';'), code: join('code', ',') };
}

/** Path below the project → content. Throws when two operations have one name in the client. */
export async function clientFiles(
  operations: readonly OperationDeclaration[] = OPERATIONS,
): Promise<Map<string, string>> {
  const types = new TypePrinter(await findRecordTypes());
  const { signatures, code } = printMethods(operations, types);
  const sources = {
    'src/service/client/operations.ts': `/** Sends a request for each operation of the API. ${MADE} */
import type { List } from './list.ts';
import { type ListQuery, path, type Requests } from './requests.ts';
import type { CallOptions, TrialOptions, WaitOptions } from './send.ts';
import type { ${[...types.names].join(', ')} } from './types.ts';

export interface Operations {
${signatures}}

export const createOperations = ({ get, post, patch, delete: remove, list }: Requests): Operations => ({
${code}});
`,
    'src/service/client/types.ts': `/** Exports the types of operations. ${MADE} */
import type { ListQuery } from './requests.ts';
import type { WaitOptions } from './send.ts';

${types.printExports()}`,
  };
  return new Map(Object.entries(sources).map(([path, source]) => [path, formatModule(path, source)]));
}

/** Writes the files, and returns their paths. */
export async function generateClient(): Promise<string[]> {
  const files = [...(await clientFiles())].map(([path, text]) => [join(PROJECT_ROOT, path), text] as const);
  for (const [path, text] of files) await writeFile(path, text);
  return files.map(([path]) => path);
}
