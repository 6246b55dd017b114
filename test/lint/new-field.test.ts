/**
 * Tests that a new field of a stream is two files by hand: the resource, and the table of fields. The operator or the pod that obeys it,
 * its page in docs/ and the test of its behaviour are three more.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { buildSchema, type GraphQLInputObjectType, type GraphQLObjectType, printType } from 'graphql';
import { beforeAll, describe, expect, test } from 'vitest';
import { LoopStreamSpec } from '../../src/core/resources/stream/spec.ts';
import { STREAM_FIELDS } from '../../src/service/domain/streams/fields.ts';
import type { FieldTable } from '../../src/service/lib/fields.ts';
import { run } from '../kit/run.ts';
import { tempDir } from '../kit/temp-dir.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const TIMEOUT_MS = 300_000;

/** File → what is added before a line of it. */
const BY_HAND = {
  'src/core/resources/stream/spec.ts': {
    before: '  schedule: Type.Optional(Schedule),',
    added: `  seamPolicy: Type.Optional(
    Type.Enum(['Cut', 'Fade'], { title: 'StreamSeam', default: 'Cut', description: 'How items follow each other.' }),
  ),
`,
  },
  'src/service/domain/streams/fields.ts': {
    before: '  scheduleStartAt: inSchedule(',
    added: `  onSeam: inSpec('seamPolicy', { in: OPTIONAL, label: 'Between items', choices: { Cut: 'Cut', Fade: 'Fade' } }),
`,
  },
};

/** Runs in the copy: what REST, MCP and the page do with the field. */
const USE = `
import { StreamCreate, StreamUpdate } from './src/service/domain/streams/record.ts';
import { STREAM_FIELDS } from './src/service/domain/streams/fields.ts';
import { exampleStream } from './src/service/domain/streams/examples.ts';
import { toStream } from './src/service/domain/streams/view.ts';
import { createSpec, writeFields } from './src/service/lib/fields.ts';
import { describedTools } from './src/service/server/mcp/tools.ts';
import { buildBody } from './src/dashboard/features/create/steps.ts';
import { EMPTY_DRAFT } from './src/dashboard/features/create/draft.ts';
import { findChanges, toEditValues } from './src/dashboard/features/streams/editValues.ts';

const stored = { metadata: { name: 's' }, spec: { seamPolicy: 'Fade', destinationNames: [], quality: '720p', framerate: 30 } };
const before = toEditValues(exampleStream);
const tools = describedTools();
console.log(JSON.stringify({
  bodies: [StreamCreate, StreamUpdate].map(({ properties, required }) => [properties.onSeam, required?.includes('onSeam') ?? false]),
  created: createSpec(writeFields(STREAM_FIELDS, 'create', { onSeam: 'Fade' })),
  patched: writeFields(STREAM_FIELDS, 'update', { onSeam: 'Fade' }),
  read: [exampleStream.onSeam, toStream(stored, new Date(0)).onSeam],
  page: [buildBody(EMPTY_DRAFT).onSeam, findChanges(before, { ...before, onSeam: 'Fade' })],
  tools: ['create_stream', 'update_stream'].map((name) => tools.get(name).listed.inputSchema.properties.onSeam),
}));
`;

/** Files that `make generate` writes. */
const GENERATED = /^(docs\/(openapi\.json|schema\.graphql)|src\/dashboard\/.*\/fields\.ts|(charts\/.*\/)?crds\/.*)$/;

const copy = tempDir();

function listFiles(): string[] {
  const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], { cwd: ROOT, encoding: 'utf8' });
  return listed.split('\0').filter((path) => path !== '' && existsSync(join(ROOT, path)));
}

const inCopy = (path: string): string => readFileSync(join(copy, path), 'utf8');
const node = (...args: string[]) => run(process.execPath, args, { cwd: copy });

beforeAll(async () => {
  for (const file of listFiles().filter((path) => !path.startsWith('test/')))
    cpSync(join(ROOT, file), join(copy, file));
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  for (const [path, { before, added }] of Object.entries(BY_HAND)) {
    const text = inCopy(path);
    expect(text.split(before)).toHaveLength(2);
    writeFileSync(
      join(copy, path),
      text.replace(before, () => added + before),
    );
  }
  await node('tools/generate/main.ts');
}, TIMEOUT_MS);

test('it takes at most five files by hand, those of its behaviour included', () => {
  const ofBehaviour = ['operator or pod', 'page in docs/', 'test'];
  expect(Object.keys(BY_HAND).length + ofBehaviour.length).toBeLessThanOrEqual(5);
});

test(
  'REST takes and shows it, MCP offers it, and the page asks for it and sends it',
  async () => {
    writeFileSync(join(copy, 'use.ts'), USE);
    const { stdout } = await node('use.ts');
    const schema = { title: 'StreamSeam', enum: ['Cut', 'Fade'], description: 'How items follow each other.' };
    const { title: _, ...tool } = schema;
    expect(JSON.parse(stdout)).toEqual({
      bodies: [
        [schema, false],
        [schema, false],
      ],
      created: { seamPolicy: 'Fade' },
      patched: { seamPolicy: 'Fade' },
      read: ['Cut', 'Fade'],
      page: ['Cut', { onSeam: 'Fade' }],
      tools: [
        { type: 'string', ...tool },
        { type: 'string', ...tool },
      ],
    });
    expect(inCopy('src/dashboard/features/streams/fields.ts')).toContain("onSeam: 'Between items'");
  },
  TIMEOUT_MS,
);

test('GraphQL has it in the type, the inputs and the filter', () => {
  const types = buildSchema(inCopy('docs/schema.graphql')).getTypeMap();
  const find = (type: string) => (types[type] as GraphQLObjectType | GraphQLInputObjectType).getFields().onSeam;
  expect(String(find('Stream')?.type)).toBe('StreamOnSeam!');
  expect(['StreamCreateInput', 'StreamUpdateInput'].map((type) => String(find(type)?.type))).toEqual([
    ...['StreamOnSeam', 'StreamOnSeam'],
  ]);
  expect(String(find('StreamWhereInput')?.type)).toBe('StreamOnSeamFilter');
  expect(types.StreamOnSeam && printType(types.StreamOnSeam)).toContain('How items follow each other.');
});

test('the documents and the definition describe it', () => {
  const { schemas } = JSON.parse(inCopy('docs/openapi.json')).components;
  for (const name of ['Stream', 'StreamCreate', 'StreamUpdate'])
    expect(schemas[name].properties.onSeam.description).toBe('How items follow each other.');
  expect(inCopy('crds/loopstreams.yaml')).toMatch(
    /seamPolicy:\n\s+type: string\n\s+description: How items follow each other\./,
  );
});

describe('no other file that is written by hand names all fields, so that each new one would have to be added', () => {
  const table: FieldTable = STREAM_FIELDS;
  const bodies = ['create', 'update'].map((body): [string, string[]] => [
    `of the body ${body}`,
    Object.keys(table).filter((name) => table[name]?.in[body]),
  ]);
  const texts = listFiles()
    .filter((path) => /^(src|tools|docs|charts|test|scripts)\//.test(path))
    .map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }));

  test.each([
    ['of the record', Object.keys(table)],
    ...bodies,
    ['of the resource', Object.keys(LoopStreamSpec.properties)],
  ])('%s', (_, names) => {
    const patterns = names.map((name) => new RegExp(`\\b${name}\\b`));
    const naming = texts.filter(({ text }) => patterns.every((pattern) => pattern.test(text)));
    const byHand = naming.map(({ path }) => path).filter((path) => !(path in BY_HAND) && !GENERATED.test(path));
    expect(byHand).toEqual([]);
    expect(naming.length).toBeGreaterThan(0);
  });
});
