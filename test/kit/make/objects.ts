/** Generates random valid objects of our kinds, in either API version, from the schemas and rules of their definitions. */
import fc from 'fast-check';
import type { KubeObject } from '../../../src/kube/types.ts';
import { GROUP } from '../../../src/resources/common/names.ts';
import { customResourceDefinitions } from '../../../src/resources/crd/crds.ts';
import type { Structural } from '../../../src/resources/crd/schema.ts';
import type { Kind, Version } from '../../../src/resources/versions/names.ts';

const DEFINITIONS = customResourceDefinitions({ alpha: { clientConfig: { url: 'https://localhost' } } });

/** The schema of a kind, from the root of its objects. */
export function findSchema(kind: Kind, version: Version): Structural {
  const crd = DEFINITIONS.find(({ spec }) => spec.names.kind === kind);
  const found = crd?.spec.versions.find(({ name }) => name === version);
  if (!found) throw new Error(`${kind} has no ${version}.`);
  return found.schema.openAPIV3Schema;
}

type Fields = Record<string, unknown>;

/** Rules between fields, which no schema says; by path, in the names of both versions. */
const RULES: Record<string, (value: Fields) => boolean> = {
  'LoopStream.spec': (spec) => {
    const playlists = (spec.playlistNames ?? spec.playlistRefs ?? []) as unknown[];
    return ('uploadName' in spec || 'uploadRef' in spec) !== playlists.length > 0;
  },
  'LoopStream.spec.schedule': ({ startAt, endAt }) =>
    startAt === undefined || endAt === undefined || String(endAt) > String(startAt),
  'Upload.spec.tracks': ({ audio, audioRight }) =>
    audioRight === undefined || (audio !== undefined && audio !== audioRight),
  'Upload.spec.source': (source) => 'url' in source !== 'sent' in source,
  'Upload.spec.source.sent': ({ sizeBytes, receivedBytes = 0 }) =>
    sizeBytes === undefined || Number(receivedBytes) <= Number(sizeBytes),
};

/** Its pattern makes texts that are far too long. */
const CRONS = fc.constantFrom('0 18 * * 5', '*/5 8-18 ? * MON-FRI');

const MATCHES = /^(!?)self\.matches\(r'(.*)'\)$/s;

function generateText(schema: Structural): fc.Arbitrary<string> {
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY, format, pattern } = schema;
  if (format === 'date-time')
    return fc
      .integer({ min: 1_700_000_000, max: 4_000_000_000 })
      .map((seconds) => new Date(seconds * 1000).toISOString().replace('.000Z', 'Z'));
  const rules = (schema['x-kubernetes-validations'] ?? []).flatMap(({ rule }) => {
    const [, not, source] = MATCHES.exec(rule) ?? [];
    return source === undefined ? [] : [{ isMatch: not === '', regex: new RegExp(source) }];
  });
  const shape = pattern === undefined ? rules.find(({ isMatch }) => isMatch)?.regex : new RegExp(pattern);
  const length = { minLength, maxLength: Math.min(maxLength, minLength + 40) };
  const texts = shape ? fc.stringMatching(shape) : fc.string(length);
  return texts.filter(
    (text) =>
      text.length >= minLength &&
      text.length <= maxLength &&
      rules.every(({ isMatch, regex }) => regex.test(text) === isMatch),
  );
}

function generateNumber({ type, minimum = 0, maximum = minimum + 1e9 }: Structural): fc.Arbitrary<number> {
  if (type === 'integer') return fc.integer({ min: minimum, max: maximum });
  return fc.integer({ min: 0, max: 64 }).map((part) => minimum + ((maximum - minimum) * part) / 64);
}

function generateList(schema: Structural, items: Structural, path: string): fc.Arbitrary<unknown[]> {
  const keys = schema['x-kubernetes-list-map-keys'];
  const identify = (entry: unknown) => JSON.stringify(keys ? keys.map((key) => (entry as Fields)[key]) : entry);
  const minLength = schema.minItems ?? 0;
  const length = { minLength, maxLength: Math.min(schema.maxItems ?? 4, minLength + 3) };
  return fc.uniqueArray(generateValue(items, `${path}[]`), { ...length, selector: identify });
}

/** Maps whose values are quantities above 0. */
const QUANTITIES = /\.resources\.(limits|requests)$/;

const WORD = fc.stringMatching(/^[a-z][a-z0-9]{0,8}$/);

function generateRecord(schema: Structural, path: string): fc.Arbitrary<Fields> {
  // Maps, whose keys and values are texts; and what is kept as it is, where names of our fields mean nothing.
  if (QUANTITIES.test(path)) return fc.dictionary(WORD, fc.constantFrom('500m', '2Gi', '1'), { maxKeys: 3 });
  if (schema.additionalProperties) return fc.dictionary(WORD, WORD, { maxKeys: 3 });
  if (!schema.properties) return fc.dictionary(fc.constantFrom('uploadRef', 'uploadName', 'start', 'other'), WORD);
  const fields = Object.entries(schema.properties).map(([name, field]) => [
    name,
    generateValue(field, `${path}.${name}`),
  ]);
  const records = fc.record(Object.fromEntries(fields) as Record<string, fc.Arbitrary<unknown>>, {
    requiredKeys: schema.required ?? [],
  });
  return records.filter(RULES[path] ?? (() => true));
}

function generateValue(schema: Structural, path: string): fc.Arbitrary<unknown> {
  if (schema.enum) return fc.constantFrom(...schema.enum);
  if (schema.type === 'object') return generateRecord(schema, path);
  if (schema.type === 'array' && schema.items) return generateList(schema, schema.items, path);
  if (schema.type === 'boolean') return fc.boolean();
  if (path.endsWith('.cron')) return CRONS;
  if (schema.type === 'string') return generateText(schema);
  return generateNumber(schema);
}

const generatePart = (kind: Kind, version: Version, part: 'spec' | 'status'): fc.Arbitrary<Fields> =>
  generateRecord(findSchema(kind, version).properties?.[part] ?? { type: 'object' }, `${kind}.${part}`);

/** Objects named `name` with labels, a spec and a status; every rule of the definitions holds. */
export const generateObjects = (kind: Kind, version: Version, name = 'one'): fc.Arbitrary<KubeObject<Fields, Fields>> =>
  fc.record({
    apiVersion: fc.constant(`${GROUP}/${version}`),
    kind: fc.constant(kind),
    metadata: fc.record({ name: fc.constant(name), labels: fc.dictionary(WORD, WORD, { maxKeys: 2 }) }),
    spec: generatePart(kind, version, 'spec'),
    status: generatePart(kind, version, 'status'),
  });
