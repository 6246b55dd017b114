/** Tests streams whose windows begin in the same second. */
import { expect, test } from 'vitest';
import type { Pod } from '../../../../../src/core/kube/core.ts';
import { createQueue } from '../../../../../src/core/kube/queue.ts';
import { type Kube, KubeError, type Resource } from '../../../../../src/core/kube/types.ts';
import type { StreamControllerDeps } from '../../../../../src/core/operator/stream/controller-deps.ts';
import { reconcileStream } from '../../../../../src/core/operator/stream/reconcile.ts';
import { createViewKeys } from '../../../../../src/core/operator/stream/view-keys.ts';
import { FINALIZER, VIEW_KEY_SECRET } from '../../../../../src/core/resources/common/names.ts';
import type { LoopStream } from '../../../../../src/core/resources/stream/resource.ts';
import { at, destination, NAMESPACE, SETTINGS, stream, upload } from '../../../../kit/make/operator.ts';
import { silent } from '../../../../kit/real/kube.ts';

type Named = { metadata: { name: string; uid: string; finalizers?: string[] } };

/** Scheduled streams and their dependencies; `writes` lists the written kinds in order. */
function stage(count: number) {
  const objects = new Map<string, unknown>([
    ['uploads/film', upload()],
    ['destinations/tv', destination()],
  ]);
  const writes: string[] = [];
  const names = Array.from({ length: count }, (_, n) => `stream-${n}`);
  for (const name of names) {
    const loopStream = stream({ schedule: { startAt: at(60).toISOString() } });
    objects.set(`loopstreams/${name}`, {
      ...loopStream,
      metadata: { ...loopStream.metadata, name, uid: `uid-of-${name}` },
    });
  }
  // The operator makes it with the first stream.
  objects.set(`secrets/${VIEW_KEY_SECRET}`, { metadata: { name: VIEW_KEY_SECRET }, data: { key: btoa('k') } });
  const cache = (plural: string) => ({
    get: (_: string, name: string) => objects.get(`${plural}/${name}`),
    byIndex: () => [],
    upsert: () => undefined,
  });
  const put = (plural: string, what: string, object: Named) => {
    writes.push(what);
    objects.set(`${plural}/${object.metadata.name}`, object);
    return Promise.resolve(object);
  };
  const kube = {
    get: async ({ plural }: Resource, _: string, name: string) => {
      const found = objects.get(`${plural}/${name}`);
      if (!found) throw new KubeError(404, 'NotFound', 'NotFound');
      return found;
    },
    create: ({ plural }: Resource, _: string, { metadata, ...rest }: Named) => {
      const made = { ...metadata, uid: `uid-of-${metadata.name}`, creationTimestamp: at(60).toISOString() };
      return put(plural, plural, { ...rest, metadata: made });
    },
    replace: (
      { plural }: Resource,
      _: string,
      object: Named & { status?: object },
      { subresource }: { subresource?: string } = {},
    ) => {
      if (!subresource) return put(plural, plural, object);
      const before = objects.get(`${plural}/${object.metadata.name}`) as Named;
      return put(plural, subresource, { ...before, status: object.status } as Named);
    },
    mergePatch: ({ plural }: Resource, _: string, name: string, patch: Named) => {
      const before = objects.get(`${plural}/${name}`) as Named;
      return put(plural, 'finalizer', { ...before, metadata: { ...before.metadata, ...patch.metadata } });
    },
  };
  let now = at(0);
  const reflectors = { streams: 'loopstreams', playlists: 'playlists', uploads: 'uploads', pods: 'pods' };
  const caches = Object.fromEntries(
    Object.entries({ ...reflectors, destinations: 'destinations' }).map(([k, v]) => [k, cache(v)]),
  );
  const tools = {
    kube,
    viewKeys: createViewKeys(kube as unknown as Kube),
    caches,
    settings: SETTINGS,
    events: { event: () => undefined },
    streamers: { report: () => undefined },
  };
  const reconcile = reconcileStream({
    ...tools,
    clock: { now: () => now },
    isMetered: () => false,
  } as unknown as StreamControllerDeps);
  const queue = createQueue({
    workers: 3,
    process: async (key) => void (later(await reconcile(key)) && queue.add(key)),
    log: silent,
  });
  const later = (result: { requeueAfterMs?: number } | undefined) => result?.requeueAfterMs === 0;
  const look = async (seconds: number) => {
    now = at(seconds);
    for (const name of names) queue.add(`${NAMESPACE}/${name}`);
    await expect.poll(() => queue.depth + queue.running).toBe(0);
    return writes.splice(0);
  };
  return { objects, look };
}

test('have their pods’ dependencies before their time, and all have pods before any has another step', async () => {
  const { objects, look } = stage(20);
  const ahead = await look(0);
  for (const what of ['secrets', 'finalizer', 'status']) expect(ahead.filter((name) => name === what)).toHaveLength(20);
  expect(ahead).toHaveLength(60);
  expect((objects.get('loopstreams/stream-7') as LoopStream).metadata.finalizers).toEqual([FINALIZER]);
  const begin = await look(60);
  expect(begin.slice(0, 20)).toEqual(Array(20).fill('pods'));
  expect(begin.slice(20).sort()).toEqual([...Array(20).fill('secrets'), ...Array(20).fill('status')]);
  const { status } = objects.get('loopstreams/stream-7') as LoopStream;
  expect(status).toMatchObject({
    phase: 'starting',
    podUID: (objects.get('pods/stream-7-onair') as Pod).metadata.uid,
    lastScheduleTime: at(60).toISOString(),
  });
});
