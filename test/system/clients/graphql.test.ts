/** Tests GraphQL clients and tools of others against the HTTP server. */
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { buildASTSchema, Kind, lexicographicSortSchema, parse, printSchema, visit } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Principal } from '../../../src/service/lib/scopes.ts';
import { schemaDocument } from '../../../src/service/server/graphql/schema.ts';
import { buildTestServer, type TestServer } from '../../kit/system/server.ts';
import { installNpm, must } from './install.ts';

const OURS = join(import.meta.dirname, 'graphql');
const ADA: Principal = { accountId: 'ada', userId: 'ada', scopes: new Set(['read']), via: 'key' };

let server: TestServer;
let url: string;
let dir: string;

beforeAll(async () => {
  dir = await installNpm('graphql', OURS);
  // Node looks for packages beside a program.
  cpSync(join(OURS, 'apollo.mjs'), join(dir, 'apollo.mjs'));
  const me = () => ({ id: 'ada', email: 'ada@example.com' });
  server = await buildTestServer({ auth: { authenticate: async () => ADA }, me });
  url = `${(await server.listen()).url}/graphql`;
});
afterAll(() => server?.app.close());

interface Asked {
  data?: unknown;
  error?: string;
}
interface Answers extends Record<'persisted' | 'persisted by GET', { first: Asked; second: Asked; sent: unknown[] }> {
  batch: Asked[];
}

describe.each(['3', '4'])('Apollo Client %s', (version) => {
  let answers: Answers;
  beforeAll(async () => {
    answers = JSON.parse(await must(process.execPath, ['apollo.mjs', version, url, 'lsk_anything'], dir));
  });

  test.each([
    ['persisted', 'POST'],
    ['persisted by GET', 'GET'],
  ] as const)('with %s queries sends whole ones once the server says that it does not know hashes', (name, method) => {
    const { first, second, sent } = answers[name];
    expect(first).toMatchObject({ data: { me: { email: 'ada@example.com' } } });
    expect(second).toMatchObject({ data: { me: { id: 'ada' } } });
    const whole = { method: 'POST', whole: true };
    expect(sent).toEqual([{ method, whole: false }, whole, whole]);
  });

  test('with batching learns to send operations one by one', () => {
    for (const { error } of answers.batch) expect(error).toContain('one operation per request');
  });
});

test('get-graphql-schema reads the types of docs/schema.graphql', async () => {
  const program = join(dir, 'node_modules/get-graphql-schema/dist/index.js');
  const read = await must(process.execPath, [program, url, '-h', 'X-API-Key=lsk_anything']);
  // The tool's introspection query does not know where these directives are, and its printer splits long descriptions.
  const plain = (sdl: string) => {
    const asked = parse(sdl.replaceAll(/(?<!^directive) @(oneOf|specifiedBy\(url: "[^"]*"\))/gm, ''));
    const told = visit(asked, {
      enter: (node) => ('description' in node ? { ...node, description: undefined } : undefined),
    });
    const definitions = told.definitions.filter(({ kind }) => kind !== Kind.DIRECTIVE_DEFINITION);
    return printSchema(lexicographicSortSchema(buildASTSchema({ ...told, definitions })));
  };
  expect(plain(read)).toBe(plain(schemaDocument()));
});
