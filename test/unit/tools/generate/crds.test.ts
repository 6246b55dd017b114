import { readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { customResourceDefinitions } from '../../../../src/core/resources/crd/crds.ts';
import { decorate, type Structural, toStructural } from '../../../../src/core/resources/crd/schema.ts';
import { crdFiles } from '../../../../tools/generate/crds.ts';

const CRDS = resolve(import.meta.dirname, '../../../../crds');

test('crds/ match the types (fix with `npm run generate`)', async () => {
  const files = crdFiles();
  expect(await readdir(CRDS).then((names) => names.sort())).toEqual([...files.keys()].sort());
  for (const [name, text] of files) expect(await readFile(join(CRDS, name), 'utf8'), name).toBe(text);
});

test('every field of every kind has a text for kubectl explain', () => {
  const silent: string[] = [];
  const walk = (schema: Structural, path: string) => {
    // Kubernetes describes metadata itself.
    if (path.endsWith('.metadata')) return;
    if (!schema.description) silent.push(path);
    for (const [name, child] of Object.entries(schema.properties ?? {})) walk(child, `${path}.${name}`);
    for (const [name, child] of Object.entries(schema.items?.properties ?? {})) walk(child, `${path}[].${name}`);
  };
  for (const crd of customResourceDefinitions()) {
    const [version] = crd.spec.versions;
    if (version) walk(version.schema.openAPIV3Schema, crd.spec.names.kind);
  }
  expect(silent).toEqual([]);
});

describe('a structural schema', () => {
  test('gives enums and literals their type, drops keywords of our own validator, and requires no field with a default', () => {
    const type = Type.Object(
      {
        word: Type.Enum(['a', 'b'], { default: 'a', description: 'A word.' }),
        number: Type.Optional(Type.Enum([24, 30])),
        only: Type.Literal('yes'),
        when: Type.Optional(Type.String({ format: 'date-time' })),
        list: Type.Array(Type.Number({ minimum: 0 }), { maxItems: 3 }),
      },
      { $id: 'Thing', title: 'Thing' },
    );
    expect(toStructural(type)).toEqual({
      type: 'object',
      required: ['only', 'list'],
      properties: {
        word: { type: 'string', enum: ['a', 'b'], default: 'a', description: 'A word.' },
        number: { type: 'integer', enum: [24, 30] },
        only: { type: 'string', enum: ['yes'] },
        when: { type: 'string', format: 'date-time' },
        list: { type: 'array', maxItems: 3, items: { type: 'number', minimum: 0 } },
      },
    });
  });

  test.each([
    ['a union', Type.Object({ a: Type.Union([Type.String(), Type.Integer()]) })],
    ['an enum of two types', Type.Object({ a: Type.Enum(['x', 1]) })],
    ['a keyword that Kubernetes does not know', Type.Object({ a: Type.Integer({ exclusiveMinimum: 1 }) })],
    ['a type that says nothing', Type.Object({ a: Type.Unknown() })],
  ])('refuses %s, and says where', (_, type) => {
    expect(() => toStructural(type, 'spec')).toThrow(/spec\.a/);
  });

  test('refuses an addition to a field that is not there', () => {
    expect(() => decorate(toStructural(Type.Object({ a: Type.String() })), { b: {} })).toThrow(/no b/);
  });
});
