/** Tests that the generated parts of the chart are current, and cover every value. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import type { Setting } from '../../../../../src/core/settings/table-types.ts';
import { SETTINGS, type SettingName } from '../../../../../src/service/settings/table.ts';
import { chartFiles } from '../../../../../tools/generate/chart/files.ts';
import { CHART, sources } from '../../../../../tools/generate/chart/generate.ts';
import { getDefault, leaves, type Value } from '../../../../../tools/generate/chart/schema.ts';
import { valueFor } from '../../../../../tools/generate/chart/settings.ts';
import { UNREAD, VALUES } from '../../../../../tools/generate/chart/values.ts';
import { settingsDocument } from '../../../../../tools/generate/settings.ts';

const CHART_ROLES: readonly string[] = ['operator', 'api', 'billing', 'platform'];

const read = (path: string) => readFileSync(join(CHART, path), 'utf8');

test('values, schema, README, definitions and rules are current (fix with `npm run generate`)', () => {
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

test('Artifact Hub is told of the definitions, the image and the icon as they are', () => {
  const { annotations, icon, version } = parse(read('Chart.yaml'));
  const list = (name: string) => parse(annotations[`artifacthub.io/${name}`]) as Record<string, string>[];
  const definitions = readdirSync(join(CHART, '../../crds')).map((file) =>
    parse(readFileSync(join(CHART, '../../crds', file), 'utf8')),
  );
  const byName = (a: { name?: unknown }, b: { name?: unknown }) => String(a.name).localeCompare(String(b.name));
  expect(
    list('crds')
      .map(({ kind, version: served, name }) => ({ kind, version: served, name }))
      .sort(byName),
  ).toEqual(
    definitions
      .map(({ metadata, spec }) => ({ kind: spec.names.kind, version: spec.versions[0].name, name: metadata.name }))
      .sort(byName),
  );
  expect(list('images')).toMatchObject([
    { image: `loopstream:${version}` },
    { image: `loopstream-prepare:${version}` },
  ]);
  for (const { kind, description } of list('changes')) {
    expect(['added', 'changed', 'deprecated', 'removed', 'fixed', 'security']).toContain(kind);
    expect(description).toMatch(/\.$/);
  }
  const favicon = readFileSync(join(CHART, '../../src/dashboard/public/favicon.svg')).toString('base64');
  expect(icon).toBe(`data:image/svg+xml;base64,${favicon}`);
});

test('values.yaml has the defaults, the schema refuses other keys, and every value has its sentence', () => {
  expect(parse(read('values.yaml'))).toEqual(getDefault(VALUES));
  const strict = (value: Value): boolean =>
    !value.properties || (value.additionalProperties === false && Object.values(value.properties).every(strict));
  expect(strict(VALUES)).toBe(true);
  for (const { path, value } of leaves(VALUES)) expect(value.description, path).toMatch(/^\S.*\.$/s);
});

test('a value that sets a setting has its sentence, default and bounds', () => {
  const values = new Map(leaves(VALUES).map(({ path, value }) => [path, value]));
  for (const [name, setting] of Object.entries(SETTINGS) as [SettingName, Setting][]) {
    if (setting.chart === undefined) continue;
    const value = values.get(setting.chart);
    const expected = setting.type === 'list' ? { description: setting.description } : valueFor(name);
    expect(value, `${name} at ${setting.chart}`).toMatchObject(expected);
  }
});

test('docs/settings.md matches the table of settings (fix with `make generate`)', () => {
  expect(readFileSync(join(CHART, '../../docs/settings.md'), 'utf8')).toBe(settingsDocument());
});

test('every value is used', () => {
  const templates = readdirSync(join(CHART, 'templates')).map((name) => read(`templates/${name}`));
  const text = templates.join('\n');
  const unused = leaves(VALUES).filter(({ path }) => !new RegExp(`\\.${path.split('.').at(-1)}\\b`).test(text));
  expect(unused.map(({ path }) => path)).toEqual([]);
});

test('the schema admits values that are constants now, so that they stop no upgrade', () => {
  type Node = { properties?: Record<string, Node> };
  const schema = JSON.parse(read('values.schema.json')) as Node;
  const find = (path: string) => path.split('.').reduce<Node | undefined>((at, key) => at?.properties?.[key], schema);
  for (const path of UNREAD) expect(find(path), path).toBeDefined();
});

/** Settings that the chart leaves to `extraEnv`: few installations change them. */
const LEFT_TO_EXTRA_ENV = [
  ...['STRIPE_URL', 'YOUTUBE_API_URL', 'GOOGLE_TOKEN_URL', 'TWITCH_API_URL', 'TWITCH_TOKEN_URL'],
  ...['REQUEST', 'KEEP_ALIVE'].map((name) => `${name}_TIMEOUT_SECONDS`),
];
/** Settings of the chart itself: probes and Services name the ports, credentials are files, and the images contain the page and ffmpeg. */
const FIXED = [
  ...['HOST', 'PORT', 'OPS_HOST', 'OPS_PORT', 'DASHBOARD_DIR', 'FFMPEG'],
  ...['REPORTS_HOST', 'REPORTS_PORT'],
  ...['S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY'],
];

test('every setting of the operator, the API server and billing is set, or left to extraEnv', () => {
  const text = readdirSync(join(CHART, 'templates'))
    .map((name) => read(`templates/${name}`))
    .join('\n');
  const missing = (Object.entries(SETTINGS) as [SettingName, Setting][])
    .filter(([, { roles, section }]) => section !== 'pods' && roles.some((role) => CHART_ROLES.includes(role)))
    .map(([name]) => name)
    .filter((name) => !new RegExp(`LOOPSTREAM_${name}(?![A-Z_])`).test(text));
  expect(missing.filter((name) => !FIXED.includes(name)).sort()).toEqual([...LEFT_TO_EXTRA_ENV].sort());
});
