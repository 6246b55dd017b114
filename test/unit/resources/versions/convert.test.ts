/** Tests that a conversion loses nothing and that its results are valid in the other version. */
import fc from 'fast-check';
import Schema from 'typebox/schema';
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../../src/kube/types.ts';
import { GROUP } from '../../../../src/resources/common/names.ts';
import type { Structural } from '../../../../src/resources/crd/schema.ts';
import { ConversionError, convertTo } from '../../../../src/resources/versions/convert.ts';
import { KINDS, NAMES, type NameNode, VERSIONS, type Version } from '../../../../src/resources/versions/names.ts';
import { findSchema, generateObjects } from '../../../kit/make/objects.ts';

const ALPHA = `${GROUP}/v1alpha1`;
const BETA = `${GROUP}/v1beta1`;

const other = (version: Version): Version => (version === 'v1beta1' ? 'v1alpha1' : 'v1beta1');

/** Paths of fields that a schema does not know; the API server drops them. */
function listUnknown(schema: Structural, value: unknown, path: string): string[] {
  if (Array.isArray(value)) return value.flatMap((entry) => listUnknown(schema.items ?? schema, entry, path));
  if (typeof value !== 'object' || value === null || !schema.properties) return [];
  return Object.entries(value).flatMap(([name, field]) => {
    const known = schema.properties?.[name];
    return known ? listUnknown(known, field, `${path}.${name}`) : [`${path}.${name}`];
  });
}

describe.each(KINDS)('%s', (kind) => {
  it.each(VERSIONS)('converts from %s and back without a difference, and is valid in both', (version) => {
    const target = `${GROUP}/${other(version)}`;
    const property = fc.property(generateObjects(kind, version), (object) => {
      const before = structuredClone(object);
      const converted = convertTo(target, object);
      expect(object).toEqual(before);
      expect(converted.apiVersion).toBe(target);
      expect(converted.metadata).toEqual(object.metadata);
      const { properties = {} } = findSchema(kind, other(version));
      for (const part of ['spec', 'status'] as const) {
        const schema = properties[part] ?? { type: 'object' };
        expect(Schema.Check(schema as never, converted[part]), JSON.stringify(converted[part])).toBe(true);
        expect(listUnknown(schema, converted[part], part)).toEqual([]);
      }
      expect(convertTo(`${GROUP}/${version}`, converted)).toEqual(object);
    });
    fc.assert(property);
  });

  it('keeps whatever else an object holds, and parts of objects', () => {
    const names = new Set(['spec', 'status', 'items', 'unplayable', 'field', '__proto__', 'metadata']);
    const collect = (node: NameNode) => {
      for (const name of [...node.toAlpha.keys(), ...node.toBeta.keys()]) names.add(name);
      for (const below of node.below.values()) collect(below);
    };
    collect(NAMES[kind]);
    const name = fc.constantFrom(...names);
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof({ maxDepth: 6, withCrossShrink: true }, tie('leaf'), tie('list'), tie('record')),
      leaf: fc.oneof(fc.jsonValue({ maxDepth: 1 }), name),
      list: fc.array(tie('value'), { maxLength: 3 }),
      record: fc.array(fc.tuple(name, tie('value')), { maxLength: 6 }).map((fields) => Object.fromEntries(fields)),
    }));
    const parts = fc.record({ metadata: value, spec: value, status: value }, { requiredKeys: [] });
    const property = fc.property(parts, (part) => {
      const object = { apiVersion: ALPHA, kind, ...part } as unknown as KubeObject;
      const converted = convertTo(BETA, object);
      expect(converted.metadata).toBe(object.metadata);
      expect(convertTo(ALPHA, converted)).toEqual(object);
    });
    fc.assert(property);
  });

  it.each([ALPHA, BETA])('returns an object of %s as it is if it is asked for in that version', (apiVersion) => {
    const object: KubeObject = { apiVersion, kind, metadata: { name: 'one' }, spec: { start: 1, startPolicy: 2 } };
    expect(convertTo(apiVersion, object)).toBe(object);
  });

  it('has every name of the table in the schema of its version, and not in that of the other', () => {
    const check = (node: NameNode, beta: Structural | undefined, alpha: Structural | undefined) => {
      for (const [now, before] of node.toAlpha) {
        expect(Object.keys(beta?.properties ?? {})).toContain(now);
        expect(Object.keys(beta?.properties ?? {})).not.toContain(before);
        expect(Object.keys(alpha?.properties ?? {})).toContain(before);
        expect(Object.keys(alpha?.properties ?? {})).not.toContain(now);
      }
      for (const field of node.values.keys()) expect(beta?.properties?.[field]?.enum).toBeDefined();
      for (const [field, below] of node.below) {
        const [inBeta, inAlpha] = [beta, alpha].map((schema) => schema?.properties?.[field]);
        check(below, inBeta?.items ?? inBeta, inAlpha?.items ?? inAlpha);
      }
    };
    check(NAMES[kind], findSchema(kind, 'v1beta1'), findSchema(kind, 'v1alpha1'));
  });
});

it('renames fields of the spec and the status, and names of fields among the values', () => {
  const item = { reason: 'MediaFailed', message: 'It failed.', since: '2027-01-01T00:00:00Z' };
  const object = {
    apiVersion: ALPHA,
    kind: 'LoopStream',
    metadata: { name: 'one', annotations: { 'example.com/start': 'ready' } },
    spec: { playlistRefs: ['p'], destinationRefs: ['d'], start: 'Prepared', template: { labels: { start: 'x' } } },
    status: {
      ready: true,
      destinations: 'D',
      unplayable: { total: 2, count: 1, items: [{ ...item, field: 'playlistRefs', playlist: 'p' }] },
    },
  };
  expect(convertTo(BETA, object)).toEqual({
    apiVersion: BETA,
    kind: 'LoopStream',
    metadata: { name: 'one', annotations: { 'example.com/start': 'ready' } },
    spec: {
      playlistNames: ['p'],
      destinationNames: ['d'],
      startPolicy: 'Prepared',
      template: { labels: { start: 'x' } },
    },
    status: {
      canStart: true,
      destinationSummary: 'D',
      unplayable: { total: 2, count: 1, items: [{ ...item, field: 'playlistNames', playlist: 'p' }] },
    },
  });
});

it.each<[string, string, Partial<KubeObject>, string]>([
  [
    'another kind',
    BETA,
    { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'one' } },
    'Pod "one" cannot be converted: loopstream has the kinds LoopStream, Playlist, Upload and Destination.',
  ],
  [
    'a version of later',
    `${GROUP}/v1`,
    { apiVersion: BETA, kind: 'Upload', metadata: { name: 'one' } },
    'Upload "one" cannot be converted: its kind has the versions loopstream.dev/v1beta1 and loopstream.dev/v1alpha1, not ' +
      '"loopstream.dev/v1". Use one of these, or upgrade the operator.',
  ],
  [
    'an object without a version',
    BETA,
    { kind: 'Upload' },
    'Upload cannot be converted: its kind has the versions loopstream.dev/v1beta1 and loopstream.dev/v1alpha1, not "". ' +
      'Use one of these, or upgrade the operator.',
  ],
  [
    'an object without a kind',
    BETA,
    { apiVersion: ALPHA },
    'An object without a kind cannot be converted: loopstream has the kinds LoopStream, Playlist, Upload and Destination.',
  ],
])('refuses %s with a sentence', (_what, apiVersion, object, message) => {
  expect(() => convertTo(apiVersion, object as KubeObject)).toThrow(new ConversionError(message));
});
