import { expect, test } from 'vitest';
import type { Kube, ListOptions, Resource } from '../../../../../src/core/kube/types.ts';
import { collectBundle } from '../../../../../src/core/kubectl/bundle/collect.ts';

test('a bundle asks for each kind of objects once, and for the operators beside the pods', async () => {
  const asked: string[] = [];
  const kube = {
    list: async ({ plural }: Resource, { labelSelector = '' }: ListOptions) => {
      asked.push(`${plural} ${labelSelector}`.trim());
      return [];
    },
    raw: async (method: string, path: string) => {
      asked.push(`${method} ${path}`);
      return { status: 200, text: '{"gitVersion":"v1.37.1"}' };
    },
  } as unknown as Kube;
  const files = await collectBundle({ kube, namespace: 'tv', allNamespaces: false, now: new Date(0) });
  expect(asked.sort()).toEqual([
    'GET /version',
    'destinations',
    'events',
    'jobs app.kubernetes.io/managed-by=loopstream',
    'loopstreams',
    'playlists',
    'pods app.kubernetes.io/component=operator',
    'pods app.kubernetes.io/managed-by=loopstream',
    'scenes',
    'uploads',
  ]);
  const read = (path: string) => String(files.find((file) => file.path === path)?.content);
  expect(read('summary.txt')).toContain('Kubernetes v1.37.1; operator not visible.');
  expect(read('versions.yaml')).toContain('kubernetes: v1.37.1');
});
