/** Sets up one installation on the real cluster, and the steps that its tests repeat. */
import { describe, expect } from 'vitest';
import { until } from '../../wait.ts';
import { type Cluster, startCluster } from './cluster.ts';
import { type Outside, startOutside } from './outside.ts';
import { installRelease, type Release, type ReleaseOptions, SERVICE } from './release.ts';
import { createResults, type Results } from './results.ts';
import type { WatchedStream } from './stream.ts';

/** Two cores that run a whole cluster beside other tests are slow at times. */
export const PATIENCE_MS = 150_000;
/** The table is held to 5 s; a machine that is busy with other tests may take three times as long. */
const MAX_GAP_MS = 15_000;
export const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;

export interface Scene {
  cluster: Cluster;
  outside: Outside;
  release: Release;
  results: Results;
  close(): Promise<void>;
}

/** `prepare` gets the cluster before the installation, and says what is installed. */
export async function openScene(
  prepare: (cluster: Cluster) => Promise<ReleaseOptions> = async () => ({}),
): Promise<Scene> {
  const results = createResults();
  const from = performance.now();
  const address = Promise.withResolvers<string>();
  const starting = address.promise.then(startOutside);
  starting.catch(() => undefined);
  let cluster: Cluster | undefined;
  let release: Release | undefined;
  const close = async () => {
    release?.close();
    await starting.then(
      (outside) => outside.close(),
      () => undefined,
    );
    await cluster?.stop();
  };
  try {
    cluster = await startCluster({
      audited: SERVICE,
      onProgress: (step) => process.stdout.write(`  … ${step}\n`),
      onAddress: address.resolve,
    });
    results.add('cluster up, the images built anew where something had changed', seconds(performance.now() - from), '');
    const outside = await starting;
    const before = performance.now();
    release = await installRelease(cluster, outside, await prepare(cluster));
    results.add('helm install until the API answers', seconds(performance.now() - before), '');
    results.add('image, unpacked', `${Math.round(cluster.imageBytes / 2 ** 20)} MiB`, '');
    results.add('image of Jobs, unpacked', `${Math.round(cluster.prepareImageBytes / 2 ** 20)} MiB`, '');
    return { cluster, outside, release, results, close };
  } catch (error) {
    // Without an address no part has started there.
    address.reject(error);
    await close();
    throw error;
  }
}

/** Creates a stream with a destination of its own through the API; media to `urls.watched` is measured. */
export async function createStream(
  { release }: Scene,
  rtmpKey: string,
  uploadID: string,
  rtmpUrl = release.urls.receiver,
): Promise<string> {
  const { call } = release;
  const target = { name: 'the receiver', rtmpUrl, rtmpKey };
  const { body } = await call<{ id: string }>('POST', '/destinations', target);
  const made = await call<{ id: string }>('POST', '/streams', {
    name: 'loop',
    quality: 'q_720p',
    framerate: 'f_30',
    destinationID: body.id,
    videoUploadObjectID: uploadID,
  });
  expect(made.status, JSON.stringify(made.body)).toBe(201);
  return made.body.id;
}

export const waitUntilReady = ({ release }: Scene, id: string): Promise<boolean> =>
  until(
    'nothing keeps the stream off air',
    async () => (await release.call<{ ready: boolean }>('GET', `/streams/${id}/readiness`)).body.ready,
    PATIENCE_MS,
  );

/** Runs tests in sequence, beside those of other groups of this kind. */
export const describeConcurrent = (name: string, tests: () => void) =>
  describe(name, { concurrent: true }, () => void describe('in turn', { concurrent: false }, tests));

/** Expects a fault to be invisible on air: the same pod, no restart, no gap. */
export async function expectInvisible(
  { results }: Scene,
  stream: WatchedStream,
  what: string,
  trouble: () => Promise<unknown>,
) {
  const before = await stream.pod();
  const gap = await stream.gap(trouble);
  const after = await stream.pod();
  expect(after.metadata.uid).toBe(before.metadata.uid);
  expect(after.status.containerStatuses[0]?.restartCount).toBe(before.status.containerStatuses[0]?.restartCount);
  results.add(what, seconds(gap), 'the same pod, not started anew');
  expect(gap).toBeLessThan(MAX_GAP_MS);
}

/** Expects a fault to replace the pod: another one is on air, and never two at once. */
export async function expectReplacement(
  { results }: Scene,
  stream: WatchedStream,
  what: string,
  trouble: () => Promise<unknown>,
) {
  const before = await stream.pod();
  const gap = await stream.gap(async () => {
    await trouble();
    await stream.gone(before.metadata.uid);
  });
  const after = await stream.pod();
  expect(after.metadata.uid).not.toBe(before.metadata.uid);
  const where = after.spec.nodeName === before.spec.nodeName ? 'the same' : 'the other';
  results.add(what, seconds(gap), `another pod, on ${where} node`);
  expect(gap).toBeLessThan(MAX_GAP_MS);
}
