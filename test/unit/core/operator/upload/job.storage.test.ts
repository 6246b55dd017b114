import { describe, expect, it, test } from 'vitest';
import type { PodSettings } from '../../../../../src/core/operator/pods/security.ts';
import { operatorConfig } from '../../../../../src/core/operator/runtime/settings.ts';
import { buildPod, hashTemplate } from '../../../../../src/core/operator/stream/pod.ts';
import { buildJob, wantImport } from '../../../../../src/core/operator/upload/job.ts';
import { prepareConfig, streamerConfig } from '../../../../../src/core/protocol/environment.ts';
import {
  destination,
  makeProgram,
  S3_SETTINGS,
  SETTINGS,
  stream,
  upload,
  world,
} from '../../../../kit/make/operator.ts';

interface Spec {
  volumes: ({ name: string } & Record<string, unknown>)[];
  containers: {
    env: { name: string; value?: string; valueFrom?: unknown }[];
    volumeMounts: { name: string; mountPath: string; readOnly?: boolean }[];
  }[];
}
const plain = (spec: unknown): Spec => JSON.parse(JSON.stringify(spec));

const loopStream = stream();
const objects = world({ destinations: [destination()] });
const buildPodSpec = (settings: PodSettings) =>
  plain(buildPod(loopStream, makeProgram(loopStream, objects, '2026-06-01T12:00:00Z'), settings).spec);
const buildJobSpec = (settings: PodSettings): Spec => {
  const { spec } = buildJob(upload('film', {}), wantImport(upload('film', {}), false), settings);
  return plain((spec as { template: { spec: unknown } }).template.spec);
};
const getEnv = ({ containers }: Spec) =>
  Object.fromEntries((containers[0]?.env ?? []).map(({ name, value }) => [name, value ?? '10.0.0.1']));
const names = (list: { name: string }[] = []) => list.map(({ name }) => name).sort();

describe.each([
  ['stream', buildPodSpec],
  ['Job', buildJobSpec],
])('the pod of a %s with media in S3', (_, build) => {
  const spec = build(S3_SETTINGS);

  it('gets the credentials as files for its group alone, and never as variables', () => {
    const items = ['accessKeyId', 'secretAccessKey'].map((key) => ({ key, path: key }));
    expect(spec.volumes).toContainEqual({
      name: 'storage-credentials',
      secret: { secretName: 's3-credentials', defaultMode: 0o440, items },
    });
    expect(spec.containers[0]?.volumeMounts).toContainEqual({
      name: 'storage-credentials',
      mountPath: '/etc/loopstream/storage',
      readOnly: true,
    });
    expect(JSON.stringify(spec.containers[0]?.env)).not.toMatch(/secretKeyRef|S3_|s3-credentials/);
  });

  it('mounts no media volume, and mounts every volume that it has', () => {
    expect(names(spec.volumes)).not.toContain('storage');
    expect([...new Set(names(spec.containers[0]?.volumeMounts))]).toEqual(names(spec.volumes));
  });

  it('asks for no credentials where the pod has an identity of its own', () => {
    const { volumes, containers } = build({ ...S3_SETTINGS, storageSecret: undefined });
    expect(names(volumes)).not.toContain('storage-credentials');
    expect(JSON.stringify(containers)).not.toContain('CREDENTIALS');
  });

  it('has nothing of it with media in a directory', () => {
    const { volumes } = build({ ...SETTINGS, storageSecret: 'left-over' });
    expect(names(volumes)).toContain('storage');
    expect(names(volumes)).not.toContain('storage-credentials');
    expect(names(volumes)).not.toContain('cache');
  });
});

test('a stream has a cache on disk, bounded twice: by itself, and a little above that by Kubernetes', () => {
  const spec = buildPodSpec(S3_SETTINGS);
  const config = streamerConfig(getEnv(spec));
  expect(config).toMatchObject({
    storageCredentials: { directory: '/etc/loopstream/storage' },
    cacheDir: '/var/cache/loopstream',
    cacheBytes: 2 ** 31,
  });
  const limit = 2 ** 31 + 2 ** 27;
  expect(spec.volumes).toContainEqual({ name: 'cache', emptyDir: { sizeLimit: String(limit) } });
  expect(spec.containers[0]?.volumeMounts).toContainEqual({ name: 'cache', mountPath: '/var/cache/loopstream' });
});

test('a Job has no cache, and room to work in', () => {
  const scratchVolume = { ephemeral: { volumeClaimTemplate: {} } };
  const spec = buildJobSpec({ ...S3_SETTINGS, scratchVolume });
  expect(prepareConfig(getEnv(spec)).storageCredentials).toEqual({ directory: '/etc/loopstream/storage' });
  expect(names(spec.volumes)).not.toContain('cache');
  expect(spec.volumes).toContainEqual({ name: 'tmp', ...scratchVolume });
  expect(getEnv(spec).TMPDIR).toBe('/tmp');
});

test('another Secret replaces the pod, another size of the cache does not', () => {
  const hash = hashTemplate(loopStream, S3_SETTINGS);
  expect(hashTemplate(loopStream, { ...S3_SETTINGS, storageSecret: 'other' })).not.toBe(hash);
  expect(hashTemplate(loopStream, { ...S3_SETTINGS, cacheBytes: 2 ** 32 })).toBe(hash);
  expect(hashTemplate(loopStream, { ...S3_SETTINGS, storageMountPath: '/else' })).toBe(hash);
});

describe('the settings of the operator', () => {
  const image = { LOOPSTREAM_IMAGE: 'loopstream:1' };

  it('ask for a volume only for media in a directory', () => {
    expect(() => operatorConfig(image)).toThrow('LOOPSTREAM_STORAGE_VOLUME is not set.');
    const s3 = { ...image, LOOPSTREAM_STORAGE_URL: 's3://media', LOOPSTREAM_STORAGE_SECRET: 'keys' };
    expect(operatorConfig(s3)).toMatchObject({ storageVolume: undefined, storageSecret: 'keys', cacheBytes: 2 ** 31 });
  });

  it('take a size of the cache in which a stream can play, and another volume to work in', () => {
    const s3 = { ...image, LOOPSTREAM_STORAGE_URL: 's3://media' };
    expect(() => operatorConfig({ ...s3, LOOPSTREAM_CACHE_BYTES: '1000' })).toThrow('LOOPSTREAM_CACHE_BYTES must be');
    expect(operatorConfig(s3).scratchVolume).toEqual({ emptyDir: { sizeLimit: '64Gi' } });
    const volume = { ...s3, LOOPSTREAM_SCRATCH_VOLUME: '{"emptyDir":{"sizeLimit":"9Gi"}}' };
    expect(operatorConfig(volume).scratchVolume).toEqual({ emptyDir: { sizeLimit: '9Gi' } });
  });
});
