/** Tests which versions the definitions have, and that each is whole: its rules, lists and columns name its own fields. */
import { describe, expect, test } from 'vitest';
import { type CrdOptions, customResourceDefinitions } from '../../../../src/resources/crd/crds.ts';
import type { Structural } from '../../../../src/resources/crd/schema.ts';
import { KINDS, type Kind, NAMES, type NameNode } from '../../../../src/resources/versions/names.ts';

const clientConfig = { service: { namespace: 'loopstream', name: 'conversion', path: '/convert', port: 443 } };

const readSpec = (kind: Kind, options?: CrdOptions) => {
  const crd = customResourceDefinitions(options).find(({ spec }) => spec.names.kind === kind);
  if (!crd) throw new Error(`There is no definition of ${kind}.`);
  return crd.spec;
};

const listNodes = (node: NameNode): NameNode[] => [node, ...[...node.below.values()].flatMap(listNodes)];

const listSchemas = (schema: Structural): Structural[] => [
  schema,
  ...Object.values(schema.properties ?? {}).flatMap(listSchemas),
  ...(schema.items ? listSchemas(schema.items) : []),
];

/** Follows a path of fields; undefined where one is missing. The rest of a path with a filter is not followed. */
function findField(schema: Structural, path: string): Structural | undefined {
  let node: Structural | undefined = schema;
  for (const step of path.split('.').slice(1)) {
    const [name = ''] = step.split('[');
    node = node?.properties?.[name];
    if (step.includes('[')) return node;
  }
  return node;
}

describe.each(KINDS)('%s', (kind) => {
  test('has one version and no conversion unless a webhook is given', () => {
    const { versions, conversion } = readSpec(kind);
    expect(versions).toHaveLength(1);
    expect(versions[0]).toMatchObject({ served: true, storage: true });
    expect(versions[0]?.deprecated).toBeUndefined();
    expect(conversion).toBeUndefined();
  });

  test('has v1alpha1 too, with a warning, where a webhook converts', () => {
    const { versions, conversion } = readSpec(kind, { storage: 'v1beta1', alpha: { clientConfig } });
    expect(versions.map(({ name, served, storage, deprecated }) => ({ name, served, storage, deprecated }))).toEqual([
      { name: 'v1beta1', served: true, storage: true, deprecated: undefined },
      { name: 'v1alpha1', served: true, storage: false, deprecated: true },
    ]);
    expect(conversion).toEqual({ strategy: 'Webhook', webhook: { clientConfig, conversionReviewVersions: ['v1'] } });
    // Kubernetes refuses a longer one, and one with other characters.
    expect(versions[1]?.deprecationWarning).toMatch(/^[ -~]{1,256}$/);
    expect(versions[1]?.deprecationWarning).toContain('write loopstream.dev/v1beta1');
  });

  test('stores v1alpha1 if it is told to, which needs a webhook', () => {
    const { versions } = readSpec(kind, { storage: 'v1alpha1', alpha: { clientConfig } });
    expect(versions.map(({ name, storage }) => [name, storage])).toEqual([
      ['v1beta1', false],
      ['v1alpha1', true],
    ]);
    expect(() => readSpec(kind, { storage: 'v1alpha1' })).toThrow(/unless a webhook converts/);
  });

  const nodes = listNodes(NAMES[kind]);
  test.each([
    ['v1beta1', nodes.flatMap(({ toBeta }) => [...toBeta.keys()])],
    ['v1alpha1', nodes.flatMap(({ toAlpha }) => [...toAlpha.keys()])],
  ])('has in %s only rules, required fields, columns and selectors of fields that are there', (name, foreign) => {
    const version = readSpec(kind, { alpha: { clientConfig } }).versions.find((one) => one.name === name);
    if (!version) throw new Error(`There is no ${name}.`);
    const root = version.schema.openAPIV3Schema;
    for (const { properties = {}, required = [], 'x-kubernetes-validations': rules = [] } of listSchemas(root)) {
      expect(Object.keys(properties)).toEqual(expect.arrayContaining(required));
      for (const { rule, fieldPath = '' } of rules)
        for (const field of foreign) expect(`${rule} ${fieldPath}`).not.toMatch(new RegExp(`\\.${field}\\b`));
    }
    const paths = [...version.selectableFields, ...version.additionalPrinterColumns].map(({ jsonPath }) => jsonPath);
    for (const path of paths.filter((one) => !one.startsWith('.metadata')))
      expect(findField(root, path), path).toBeDefined();
  });
});
