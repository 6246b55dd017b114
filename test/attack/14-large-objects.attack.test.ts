/**
 * Attacks the memory of the operator, of the API server and of billing with kubectl in one namespace: each of them keeps every object of our
 * kinds. The real API server says how large these may be.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createKube } from '../../src/core/kube/client.ts';
import { NAMESPACES } from '../../src/core/kube/core.ts';
import { collectionPath } from '../../src/core/kube/paths.ts';
import type { Kube, KubeObject, Resource } from '../../src/core/kube/types.ts';
import { API_VERSION } from '../../src/core/resources/common/names.ts';
import { applyCrds } from '../../src/core/resources/crd/install.ts';
import { LOOPSTREAMS } from '../../src/core/resources/stream/resource.ts';
import { shareTestKubernetes, type TestKubernetes } from '../kit/real/kubernetes.ts';

const NAMESPACE = 'large-objects';
const KIB = 1024;

let kubernetes: TestKubernetes;
let kube: Kube;

beforeAll(async () => {
  kubernetes = await shareTestKubernetes();
  kube = createKube({ kubeconfig: kubernetes.kubeconfig });
  await applyCrds(kube);
  await kube.create(NAMESPACES, '', { metadata: { name: NAMESPACE }, spec: {} });
});
afterAll(async () => {
  await kube?.delete(NAMESPACES, '', NAMESPACE);
  await kube?.close();
  await kubernetes?.stop();
});

const fill = <T>(count: number, make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));
/** A map of distinct keys. */
const entries = (count: number, key: string, value: string) =>
  Object.fromEntries(fill(count, (i) => [`${key}-${i}`, value]));
const names = (count: number) => fill(count, (i) => `${i}`.padStart(253, 'n'));
const DISPLAY_NAME = '字'.repeat(200);

type AnyResource = Resource<KubeObject>;
const build = ({ kind }: AnyResource, spec: object) => ({
  apiVersion: API_VERSION,
  kind,
  metadata: { name: 'large' },
  spec,
});
const stream = (template: object) => ({
  displayName: DISPLAY_NAME,
  playlistNames: names(20),
  audioPlaylistNames: names(20),
  destinationNames: names(5),
  template,
});

async function apply(resource: AnyResource, object: object, query = ''): Promise<{ status: number; message: string }> {
  const { status, text } = await kube.raw('POST', `${collectionPath(resource, NAMESPACE)}${query}`, object);
  return { status, message: (JSON.parse(text) as { message?: string }).message ?? '' };
}

describe('a template of a stream with more than 64 KiB in all is refused with its field and the bound, though each part is within its own:', () => {
  const values = fill(64, () => 'v'.repeat(63));
  const expressions = (count: number) => fill(count, (i) => ({ key: `k${i}`, operator: 'In', values }));
  const term = (count: number) => ({
    topologyKey: 'kubernetes.io/hostname',
    labelSelector: { matchExpressions: expressions(count) },
  });
  const nodes = (count: number) => ({ nodeSelectorTerms: fill(16, () => ({ matchExpressions: expressions(count) })) });
  const long = 'k'.repeat(600 * KIB);

  test.each<[string, object]>([
    [
      'nodes of the affinity',
      { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: nodes(2) } } },
    ],
    [
      'a megabyte of other pods in the affinity',
      { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: fill(16, () => term(16)) } } },
    ],
    ['annotations', { annotations: entries(64, 'example.com/note', 'v'.repeat(4096)) }],
    ['the key of an annotation', { annotations: { [long]: '' } }],
    ['the key of a label', { labels: { [long]: '' } }],
    ['the key of a label of nodes', { nodeSelector: { [long]: '' } }],
    ['the name of a resource', { resources: { requests: { [long]: '1' } } }],
    [
      'the key of a label in the affinity',
      {
        affinity: {
          podAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: [
              { topologyKey: 'a', namespaceSelector: { matchLabels: { [long]: '' } } },
            ],
          },
        },
      },
    ],
  ])('%s', async (_, template) => {
    const answer = await apply(LOOPSTREAMS as never, build(LOOPSTREAMS as never, stream(template)), '?dryRun=All');
    expect(answer).toMatchObject({
      status: 422,
      message: expect.stringContaining('spec.template: Invalid value: must have at most 65536 characters'),
    });
  });
});
