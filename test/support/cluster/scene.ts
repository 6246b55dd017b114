/** One installation on the real cluster, and what its tests do with it again and again. */
import { expect } from 'vitest';
import { type Cluster, startCluster } from './cluster.ts';
import { type Outside, startOutside } from './outside.ts';
import { installRelease, NAMESPACE, type Release } from './release.ts';
import { createResults, type Results } from './results.ts';
import type { WatchedStream } from './stream.ts';

/** Two cores that run a whole cluster beside other tests are slow now and then. */
export const PATIENCE_MS = 150_000;
/** The bar of 5 s is held against the table; a machine that is busy with other tests may take three times as long. */
const MAX_GAP_MS = 15_000;
export const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;

export interface Scene {
  cluster: Cluster;
  outside: Outside;
  release: Release;
  results: Results;
  close(): Promise<void>;
}

export async function openScene(): Promise<Scene> {
  const results = createResults();
  const from = performance.now();
  const cluster = await startCluster(NAMESPACE, (step) => process.stdout.write(`  … ${step}\n`));
  let outside: Outside | undefined;
  let release: Release | undefined;
  const close = async () => {
    release?.close();
    await outside?.close();
    await cluster.stop();
  };
  try {
    results.add('cluster up, the image built anew where something had changed', seconds(performance.now() - from), '');
    outside = await startOutside(cluster.layout.gateway);
    const before = performance.now();
    release = await installRelease(cluster, outside);
    results.add('helm install until the API answers', seconds(performance.now() - before), '');
    results.add('image, unpacked', `${Math.round(cluster.images.imageBytes / 2 ** 20)} MiB`, '');
  } catch (error) {
    await close();
    throw error;
  }
  return { cluster, outside, release, results, close };
}

/** A stream with a destination of its own, made through the API. */
export async function createStream({ release }: Scene, rtmpKey: string, uploadID: string): Promise<string> {
  const { call, urls } = release;
  const target = { name: 'the receiver', rtmpUrl: urls.receiver, rtmpKey };
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

/** Asks now and then: whoever asks as fast as possible is refused by the API before long, for the rest of a minute. */
export const ready = ({ release }: Scene, id: string): Promise<void> =>
  expect
    .poll(async () => (await release.call<{ ready: boolean }>('GET', `/streams/${id}/readiness`)).body.ready, {
      interval: 250,
      timeout: PATIENCE_MS,
      message: 'nothing keeps the stream off air',
    })
    .toBe(true);

/** A trouble that must not be seen on air: the same pod, which nothing has started anew, and no gap. */
export async function unseen({ results }: Scene, stream: WatchedStream, what: string, trouble: () => Promise<unknown>) {
  const before = await stream.pod();
  const gap = await stream.gap(trouble);
  const after = await stream.pod();
  expect(after.metadata.uid).toBe(before.metadata.uid);
  expect(after.status.containerStatuses[0]?.restartCount).toBe(before.status.containerStatuses[0]?.restartCount);
  results.add(what, seconds(gap), 'the same pod, not started anew');
  expect(gap).toBeLessThan(MAX_GAP_MS);
}

/** A trouble that takes the pod away: another one is on air, and there never were two. */
export async function replaced(
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
