/** Tests that the generated files of the chart are current, and describe every value. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { chartFiles } from '../../tools/generate/chart/files.ts';
import { CHART, sources } from '../../tools/generate/chart/generate.ts';
import { getDefault, leaves, type Value } from '../../tools/generate/chart/schema.ts';
import { VALUES } from '../../tools/generate/chart/values.ts';

const read = (path: string) => readFileSync(join(CHART, path), 'utf8');

test('values, schema, README, definitions and rules are what they are made of (mend with `npm run generate`)', () => {
  const files = chartFiles(sources());
  for (const [path, text] of files) expect(read(path), path).toBe(text);
  const made = readdirSync(join(CHART, 'files'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(CHART.length + 1));
  expect(made.filter((path) => !files.has(path))).toEqual([]);
});

test('the chart has the version of the package', () => {
  const { version } = parse(readFileSync(join(CHART, '../../package.json'), 'utf8'));
  expect(parse(read('Chart.yaml'))).toMatchObject({ version, appVersion: version });
});

test('values.yaml says the defaults, the schema refuses what it does not name, and every value has its sentence', () => {
  expect(parse(read('values.yaml'))).toEqual(getDefault(VALUES));
  const strict = (value: Value): boolean =>
    !value.properties || (value.additionalProperties === false && Object.values(value.properties).every(strict));
  expect(strict(VALUES)).toBe(true);
  for (const { path, value } of leaves(VALUES)) expect(value.description, path).toMatch(/^\S.*\.$/s);
});

test('every value is used', () => {
  const templates = readdirSync(join(CHART, 'templates')).map((name) => read(`templates/${name}`));
  const text = templates.join('\n');
  const unused = leaves(VALUES).filter(({ path }) => !new RegExp(`\\.${path.split('.').at(-1)}\\b`).test(text));
  expect(unused.map(({ path }) => path)).toEqual([]);
});

test('every setting of the operator and the API server that a cluster can set is set, or left to extraEnv', () => {
  const section = (folder: string, from: string, to: string) => {
    const source = readFileSync(join(CHART, `../../src/${folder}/settings.ts`), 'utf8');
    return source.slice(source.indexOf(from), source.indexOf(to));
  };
  const namesIn = (source: string) => [...source.matchAll(/(?:text|integer|flag|optional|volume|json)\('([A-Z_]+)'/g)];
  const wanted = [
    section('operator', 'export const operatorConfig', 'export type OperatorConfig'),
    section('db', 'export const databaseConfig', 'export type DatabaseConfig'),
    section('server', 'const uploadLimits', 'export type ApiConfig'),
  ].flatMap((source) => namesIn(source).map((match) => `LOOPSTREAM_${match[1]}`));
  // The chart alone decides where the servers listen: probes and Services name those ports. The image holds the page.
  const fixed = ['HOST', 'PORT', 'OPS_HOST', 'OPS_PORT', 'DASHBOARD_DIR'].map((name) => `LOOPSTREAM_${name}`);
  const text = readdirSync(join(CHART, 'templates'))
    .map((name) => read(`templates/${name}`))
    .join('\n');
  expect(wanted.length).toBeGreaterThan(15);
  expect([...new Set(wanted)].filter((name) => !fixed.includes(name) && !text.includes(name))).toEqual([]);
});
