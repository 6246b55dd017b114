import { describe, expect, it, test } from 'vitest';
import { parseBytes } from '../../../../../src/core/kube/quantity.ts';
import { buildTestPod } from '../../../../../src/core/operator/destination/test-pod.ts';
import type { PodSettings } from '../../../../../src/core/operator/pods/security.ts';
import { operatorConfig } from '../../../../../src/core/operator/runtime/settings.ts';
import { buildPod } from '../../../../../src/core/operator/stream/pod.ts';
import {
  buildHelpersJob,
  buildJob,
  buildSweepJob,
  wantImport,
  wantRendition,
} from '../../../../../src/core/operator/upload/job.ts';
import {
  destination,
  MEDIA,
  makeProgram,
  S3_SETTINGS,
  SETTINGS,
  stream,
  upload,
  wantHelpers,
  world,
} from '../../../../kit/make/operator.ts';

interface Container {
  name: string;
  image: string;
  volumeMounts?: { name: string; mountPath: string; subPath?: string; readOnly?: boolean }[];
  resources: { requests: Record<string, string>; limits: Record<string, string> };
}
interface Spec {
  containers: Container[];
  initContainers?: Container[];
  volumes: { name: string; emptyDir?: { sizeLimit?: string }; secret?: { secretName: string } }[];
}
const plain = (spec: unknown): Spec & Record<string, unknown> => JSON.parse(JSON.stringify(spec));
const buildTemplate = ({ spec }: { spec: unknown }) => (spec as { template: { spec: unknown } }).template.spec;

const loopStream = stream();
const objects = world({ destinations: [destination()] });
const film = upload('film', {});
const PODS: Record<string, (settings: PodSettings) => Spec & Record<string, unknown>> = {
  stream: (settings) =>
    plain(buildPod(loopStream, makeProgram(loopStream, objects, '2026-06-01T12:00:00Z'), settings).spec),
  test: (settings) => plain(buildTestPod(destination(), '1', settings).spec),
  import: (settings) => plain(buildTemplate(buildJob(film, wantImport(film), settings))),
  rendition: (settings) => plain(buildTemplate(buildJob(film, wantRendition(film, MEDIA, '720p30'), settings))),
  range: (settings) => plain(buildTemplate(buildHelpersJob(film, wantHelpers(film, MEDIA, '720p30'), 3, settings))),
  sweep: (settings) => {
    const task = { action: 'sweep', keep: '', shard: 0, shards: 1, graceSeconds: 1 } as const;
    return plain(buildTemplate(buildSweepJob(task, settings)));
  },
};
const KINDS = Object.entries(PODS);
const SETTINGS_OF = { 'a directory': SETTINGS, S3: S3_SETTINGS };

describe.each(Object.entries(SETTINGS_OF))('with media in %s', (_, settings) => {
  it.each(KINDS)('each container of the pod of a %s has limits of memory, processor and disk', (_kind, build) => {
    const { containers, initContainers = [] } = build(settings);
    for (const { name, resources } of [...containers, ...initContainers]) {
      for (const limit of ['cpu', 'memory', 'ephemeral-storage'])
        expect(resources.limits[limit], `${name}: ${limit}`).toBeDefined();
      // Without a request of its own, the limit would be the node's required free space.
      expect(resources.requests['ephemeral-storage'], name).toBe('0');
    }
  });

  it.each(KINDS)(
    'each emptyDir of the pod of a %s has a limit, and all fit into the limit of the pod',
    (_kind, build) => {
      const { containers, initContainers = [], volumes } = build(settings);
      const sizes = volumes.flatMap(({ emptyDir }) => (emptyDir ? [parseBytes(emptyDir.sizeLimit)] : []));
      expect(sizes).not.toContain(undefined);
      const limits = [...containers, ...initContainers].map(({ resources }) =>
        Number(parseBytes(resources.limits['ephemeral-storage'])),
      );
      const sum = (numbers: (number | undefined)[]) => numbers.reduce<number>((total, size) => total + (size ?? 0), 0);
      expect(sum(limits)).toBeGreaterThan(sum(sizes));
    },
  );
});

const PLACEMENT = {
  runtimeClassName: 'gvisor',
  nodeSelector: { pool: 'untrusted' },
  tolerations: [{ key: 'untrusted', operator: 'Exists' as const }],
};

test.each(['test', 'import', 'rendition', 'range', 'sweep'])('the pod of a %s runs where the settings say', (kind) => {
  expect(PODS[kind]?.({ ...SETTINGS, jobPlacement: PLACEMENT })).toMatchObject(PLACEMENT);
  expect(Object.keys(PODS[kind]?.(SETTINGS) ?? {})).not.toContain('runtimeClassName');
});

test.each(KINDS)('every container of the pod of a %s has the image of its role', (kind, build) => {
  const { containers, initContainers = [] } = build({ ...SETTINGS, image: 'serves:1', prepareImage: 'prepares:1' });
  const images = new Set([...containers, ...initContainers].map(({ image }) => image));
  expect([...images]).toEqual([kind === 'stream' || kind === 'test' ? 'serves:1' : 'prepares:1']);
});

test('the settings take a placement as a stream’s template has it, and refuse anything else in one sentence', () => {
  const env = { LOOPSTREAM_IMAGE: 'x', LOOPSTREAM_STORAGE_URL: 's3://media' };
  const at = (value: unknown) => operatorConfig({ ...env, LOOPSTREAM_JOB_PLACEMENT: JSON.stringify(value) });
  expect(operatorConfig(env).jobPlacement).toEqual({});
  expect(at(PLACEMENT).jobPlacement).toEqual(PLACEMENT);
  for (const wrong of [[], 'gvisor', { runtimeClass: 'gvisor' }, { nodeSelector: 'x' }])
    expect(() => at(wrong)).toThrow(/^LOOPSTREAM_JOB_PLACEMENT must be a JSON object with nodeSelector, tolerations, /);
});

test('a scratch volume of the operator of the service has a limit too', () => {
  const env = { LOOPSTREAM_IMAGE: 'x', LOOPSTREAM_STORAGE_URL: 's3://media' };
  const at = (volume: object) => operatorConfig({ ...env, LOOPSTREAM_SCRATCH_VOLUME: JSON.stringify(volume) });
  expect(at({ emptyDir: {} }).scratchVolume).toEqual({ emptyDir: { sizeLimit: '64Gi' } });
  expect(at({ emptyDir: { medium: 'Memory', sizeLimit: '1Gi' } }).scratchVolume).toMatchObject({
    emptyDir: { sizeLimit: '1Gi' },
  });
  expect(at({ ephemeral: {} }).scratchVolume).toEqual({ ephemeral: {} });
});

describe('a streamer', () => {
  it('sees its own files of the media directory, read-only, and no others', () => {
    const storage = { storageUrl: 'file:///media/tv', storageMountPath: '/media' };
    const mounts = (settings: PodSettings) =>
      PODS.stream?.(settings).containers[0]?.volumeMounts?.filter(({ name }) => name === 'storage');
    const expected = { name: 'storage', mountPath: '/media/renditions', subPath: 'renditions', readOnly: true };
    expect(mounts(SETTINGS)).toEqual([expected]);
    expect(mounts({ ...SETTINGS, ...storage })).toEqual([
      { ...expected, mountPath: '/media/tv/renditions', subPath: 'tv/renditions' },
    ]);
  });

  it('has keys for S3 that can only read, where there are some; Jobs have the others', () => {
    const listSecrets = (kind: string, settings: PodSettings) =>
      PODS[kind]?.(settings).volumes.flatMap(({ name, secret }) =>
        name === 'storage-credentials' ? [secret?.secretName] : [],
      );
    const both = { ...S3_SETTINGS, storageReadSecret: 's3-read' };
    expect(listSecrets('stream', both)).toEqual(['s3-read']);
    expect(listSecrets('stream', S3_SETTINGS)).toEqual(['s3-credentials']);
    for (const kind of ['import', 'rendition', 'range', 'sweep'])
      expect(listSecrets(kind, both)).toEqual(['s3-credentials']);
    expect(listSecrets('test', both)).toEqual([]);
  });
});

test.each([
  ['64Gi', 64 * 2 ** 30],
  ['1.5G', 1.5e9],
  ['1e3', 1000],
  [4096, 4096],
  ['128Mi', 2 ** 27],
  ['x', undefined],
  ['', undefined],
])('%s is a quantity of %s bytes', (text, bytes) => expect(parseBytes(text)).toBe(bytes));
