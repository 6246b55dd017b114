/** Tests the client, the reflector and the recorder with the real API server, and with one that fails in every known way. */
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { createKube } from '../../../src/core/kube/client.ts';
import { EVENTS, NAMESPACES } from '../../../src/core/kube/core.ts';
import { createEventRecorder } from '../../../src/core/kube/events.ts';
import { createReflector, type Reflector } from '../../../src/core/kube/reflector.ts';
import { type Kube, KubeError, type KubeObject } from '../../../src/core/kube/types.ts';
import { sleep } from '../../../src/core/lib/clock.ts';
import { applyCrds } from '../../../src/core/resources/crd/install.ts';
import { LOOPSTREAMS } from '../../../src/core/resources/stream/resource.ts';
import type { LoopStreamSpec, LoopStreamStatus } from '../../../src/core/resources/stream/spec.ts';
import { type Fault, startFaultyProxy } from '../../kit/fake/kubeproxy.ts';
import { silent, writeKubeconfig } from '../../kit/real/kube.ts';
import { shareTestKubernetes, type TestKubernetes } from '../../kit/real/kubernetes.ts';
import { createEtcdReader, createRestarts } from '../../kit/real/restarts.ts';
import { tempDir } from '../../kit/temp-dir.ts';

type Stream = KubeObject<LoopStreamSpec, never>;

let kubernetes: TestKubernetes;
let direct: Kube;
let proxy: Awaited<ReturnType<typeof startFaultyProxy>>;
let kube: Kube;
const folder = tempDir();
let namespace = '';
let number = 0;
let countWrites: ReturnType<typeof createEtcdReader>;
const stops: (() => void)[] = [];

beforeAll(async () => {
  kubernetes = await shareTestKubernetes();
  direct = createKube({ kubeconfig: kubernetes.kubeconfig });
  await applyCrds(direct);
  countWrites = createEtcdReader(kubernetes);
  proxy = await startFaultyProxy(kubernetes);
  kube = createKube({ kubeconfig: await writeKubeconfig(join(folder, 'kubeconfig'), proxy.url, {}) });
});
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
  proxy.set('none');
});
afterAll(async () => {
  await kube?.close();
  await direct?.close();
  await proxy?.close();
  await kubernetes?.stop();
});

const newNamespace = async () => {
  namespace = `reflected-${++number}`;
  await direct.create(NAMESPACES, '', { metadata: { name: namespace }, spec: {} });
};
const create = (name: string, spec: Partial<LoopStreamSpec> = {}) =>
  direct.create(LOOPSTREAMS as never, namespace, {
    apiVersion: 'loopstream.dev/v1beta1',
    kind: 'LoopStream',
    metadata: { name },
    spec: { uploadName: 'u', destinationNames: ['d'], ...spec } as LoopStreamSpec,
  } as Stream);
const rename = (name: string, displayName: string) =>
  direct.mergePatch(LOOPSTREAMS, namespace, name, { spec: { displayName } });
const remove = (name: string) => direct.delete(LOOPSTREAMS as never, namespace, name);

const reflect = (over: Kube) => {
  const reflector = createReflector(over, LOOPSTREAMS, {
    namespace,
    indexes: { upload: (o) => [o.spec.uploadName ?? ''] },
    log: silent,
  });
  const abort = new AbortController();
  stops.push(() => abort.abort());
  const changes: string[] = [];
  reflector.onChange((key, current, previous) => {
    changes.push(`${key.split('/')[1]} ${previous ? (current ? '~' : '-') : '+'}`);
  });
  reflector.start(abort.signal);
  return { reflector, changes, abort };
};

const snapshot = (objects: { metadata: { name: string; uid: string; resourceVersion: string } }[]) =>
  objects.map(({ metadata: m }) => `${m.name} ${m.uid} ${m.resourceVersion}`).sort();
/** Waits until the cache equals the server. */
const caughtUp = (reflector: Pick<Reflector<KubeObject<LoopStreamSpec, LoopStreamStatus>>, 'list'>, timeout = 10_000) =>
  vi.waitFor(
    async () => expect(snapshot(reflector.list())).toEqual(snapshot(await direct.list(LOOPSTREAMS, { namespace }))),
    { timeout, interval: 50 },
  );

describe('the client', () => {
  beforeAll(newNamespace);

  test('reads long collections in pages, writes, patches and deletes, with Kubernetes’ own reasons for failures', async () => {
    await Promise.all(Array.from({ length: 12 }, (_, i) => create(`s${i}`)));
    const first = await direct.page(LOOPSTREAMS, { namespace, limit: 5 });
    expect([first.items.length, typeof first.continue]).toEqual([5, 'string']);
    const rest = await direct.page(LOOPSTREAMS, { namespace, limit: 50, continue: first.continue });
    expect([rest.items.length, rest.continue, rest.resourceVersion]).toEqual([7, undefined, first.resourceVersion]);
    const one = await direct.get(LOOPSTREAMS, namespace, 's0');
    expect(one.metadata).not.toHaveProperty('managedFields');
    await direct.replace(LOOPSTREAMS, namespace, { ...one, spec: { ...one.spec, replicas: 0 } });
    const failure = (call: Promise<unknown>) => call.then(String, (e: KubeError) => `${e.status} ${e.reason}`);
    expect(await failure(direct.replace(LOOPSTREAMS, namespace, one))).toBe('409 Conflict');
    expect(await failure(create('s0'))).toBe('409 AlreadyExists');
    expect(await failure(direct.get(LOOPSTREAMS, namespace, 'none'))).toBe('404 NotFound');
    expect(await failure(create('bad', { destinationNames: [] }))).toBe('422 Invalid');
    expect(await direct.delete(LOOPSTREAMS as never, namespace, 's0', { uid: 'another' })).toBe(false);
    expect(await direct.delete(LOOPSTREAMS as never, namespace, 's0', { uid: one.metadata.uid })).toBe(true);
    expect(await remove('s0')).toBe(false);
    const namespaces = await direct.list(NAMESPACES);
    expect(namespaces.map((o) => `${o.apiVersion} ${o.kind}`)).toContain('v1 Namespace');
  });

  test('learns from the server that a version is too old', async () => {
    const watching = async () => {
      for await (const event of direct.watch(LOOPSTREAMS, { namespace, resourceVersion: '1' })) return event.type;
    };
    await expect(watching()).rejects.toMatchObject({ status: 410, reason: 'Expired' });
  });
});

test('a reflector reports each change once, reads our own writes at once, and finds by index', async () => {
  await newNamespace();
  await create('before');
  const { reflector, changes } = reflect(direct);
  await reflector.synced;
  expect(changes).toEqual(['before +']);
  const written = await create('a');
  reflector.upsert(written as never);
  expect(reflector.get(namespace, 'a')?.metadata.uid).toBe(written.metadata.uid);
  expect(reflector.byIndex('upload', 'u')).toHaveLength(2);
  await rename('a', 'Another');
  await vi.waitFor(() => expect(reflector.get(namespace, 'a')?.spec.displayName).toBe('Another'), 60_000);
  await remove('a');
  await vi.waitFor(() => expect(reflector.get(namespace, 'a')).toBeUndefined(), 60_000);
  reflector.upsert(written as never);
  expect(reflector.get(namespace, 'a')).toBeUndefined();
  expect(changes).toEqual(['before +', 'a +', 'a ~', 'a -']);
});

test('a handler that throws stops neither the others nor the reflector', async () => {
  await newNamespace();
  const { reflector, changes } = reflect(direct);
  reflector.onChange(() => {
    throw new Error('a mistake');
  });
  await create('a');
  await create('b');
  await caughtUp(reflector);
  expect(changes).toEqual(['a +', 'b +']);
});

test('a reflector that is stopped before its first list rejects its waiters', async () => {
  await newNamespace();
  proxy.set('internal error');
  const { reflector, abort } = reflect(kube);
  abort.abort(new Error('stopped'));
  await expect(reflector.synced).rejects.toThrow('stopped');
});

/**
 * Writes as the operator does: a creation under a fixed name, for which AlreadyExists is success, and a status by server-side apply. Each
 * is retried until it is done. Returns the number of tries.
 */
async function writeThrough(over: Kube, name: string, onFailure = (): void => undefined): Promise<number> {
  const identity = { apiVersion: 'loopstream.dev/v1beta1', kind: 'LoopStream' };
  const spec = { uploadName: 'u', destinationNames: ['d'] } as LoopStreamSpec;
  const steps = [
    () => over.create(LOOPSTREAMS as never, namespace, { ...identity, metadata: { name }, spec } as Stream),
    () =>
      over.apply(
        LOOPSTREAMS,
        namespace,
        { ...identity, metadata: { name, namespace }, status: { phase: 'idle' } },
        { fieldManager: 'writer', subresource: 'status' },
      ),
  ];
  let tries = 0;
  for (const step of steps) {
    for (let done = false; !done; ) {
      tries++;
      try {
        await step();
        done = true;
      } catch (error) {
        if (!(error instanceof KubeError)) throw error;
        onFailure();
        done = error.reason === 'AlreadyExists';
        if (!done) await sleep(100);
      }
    }
  }
  return tries;
}
/** Expects one creation and one write of the status, as etcd counts them, whatever the number of tries. */
const writtenOnce = async (name: string) =>
  expect(await countWrites(`/registry/loopstream.dev/loopstreams/${namespace}/${name}`)).toBe(2);

describe('after a fault the cache equals the server within 10 s, and nothing was written twice', () => {
  const faults: Record<Exclude<Fault, 'none'>, { seen: boolean; written: boolean }> = {
    reset: { seen: true, written: true },
    throttled: { seen: true, written: true },
    'internal error': { seen: true, written: true },
    cut: { seen: true, written: true },
    expired: { seen: true, written: false },
    'half-open': { seen: true, written: false },
    silent: { seen: true, written: false },
    slow: { seen: false, written: false },
    repeated: { seen: false, written: false },
    'answer lost': { seen: true, written: true },
    late: { seen: false, written: false },
  };
  test.each(Object.entries(faults))('%s', async (name, { seen, written }) => {
    const fault = name as Fault;
    await newNamespace();
    await create('stays');
    await create('goes');
    const first = await create('returns');
    const { reflector, changes } = reflect(kube);
    await reflector.synced;
    await vi.waitFor(() => expect(proxy.openWatches()).toBe(1), 60_000);
    const before = { ...reflector.stats(), requests: proxy.requests() };
    proxy.set(fault);
    // A silent request is given up after half a minute, which the test does not wait for.
    let failures = 0;
    const onFailure = () => {
      failures++;
    };
    const writing = fault === 'silent' ? undefined : writeThrough(kube, 'written', onFailure);
    // A repetition needs an event of the watch first.
    if (fault === 'repeated')
      await vi.waitFor(() => expect(reflector.stats().watches).toBeGreaterThan(before.watches), 60_000);
    await rename('stays', 'Another');
    await remove('goes');
    await create('comes');
    await remove('returns');
    const second = await create('returns');
    // The fault lasts until the reflector has met it (a silent watch ends only with the reflector's patience).
    const { watches, errors } = before;
    const met = () => (seen ? reflector.stats().errors > errors : reflector.stats().watches > watches);
    if (fault === 'silent') await vi.waitFor(() => expect(proxy.requests()).toBeGreaterThan(before.requests), 60_000);
    else if (fault !== 'half-open') await vi.waitFor(() => expect(met()).toBe(true), { timeout: 60_000 });
    // And until the writer has met it, too.
    if (written) await vi.waitFor(() => expect(failures).toBeGreaterThan(0), { timeout: 60_000 });
    proxy.set('none');
    await caughtUp(reflector);
    const tries = await writing;
    if (tries !== undefined) {
      if (written) expect(tries).toBeGreaterThan(2);
      await writtenOnce('written');
      await caughtUp(reflector);
    }
    expect(reflector.get(namespace, 'returns')?.metadata.uid).toBe(second.metadata.uid);
    expect(first.metadata.uid).not.toBe(second.metadata.uid);
    if (seen) expect(reflector.stats().errors).toBeGreaterThan(0);
    // The result is the same by watch or by list: the old object went and a new one came.
    expect(changes.filter((c) => c.startsWith('returns'))).toEqual(['returns +', 'returns -', 'returns +']);
    await rename('comes', 'And on it goes');
    await caughtUp(reflector);
  });
});

test('a collection in which nothing happens is listed once, however often it is watched', async () => {
  await newNamespace();
  await create('a');
  const { reflector } = reflect(direct);
  await reflector.synced;
  await vi.waitFor(() => expect(reflector.stats().watches).toBeGreaterThanOrEqual(3), { timeout: 60_000 });
  expect(reflector.stats()).toMatchObject({ lists: 1, errors: 0 });
});

test('after a restart of etcd and of kube-apiserver the cache equals the server within 10 s', async () => {
  await newNamespace();
  await create('a');
  const { reflector } = reflect(direct);
  await reflector.synced;
  const ready = () =>
    vi.waitFor(async () => expect((await direct.raw('GET', '/readyz').catch(() => ({ status: 0 }))).status).toBe(200), {
      timeout: 60_000,
      interval: 100,
    });
  const restarts = createRestarts(kubernetes);
  try {
    for (const part of ['etcd', 'kube-apiserver'] as const) {
      const writing = [writeThrough(direct, `before-${part}`), writeThrough(direct, `while-${part}`)];
      await writing[0];
      await restarts.kill(part);
      const meanwhile = writeThrough(direct, `after-${part}`);
      await restarts.start(part);
      await ready();
      await rename('a', part);
      await caughtUp(reflector);
      await Promise.all([...writing, meanwhile]);
      for (const name of ['before', 'while', 'after']) await writtenOnce(`${name}-${part}`);
      await caughtUp(reflector);
    }
    await create('b');
    const { lists } = reflector.stats();
    await rename('b', 'Another');
    await caughtUp(reflector);
    // The watch reported it, and not one list after the other.
    expect(reflector.stats().lists).toBe(lists);

    await recordsEvents();
  } finally {
    await restarts.end();
  }
});

async function recordsEvents() {
  const recorder = createEventRecorder(direct, { component: 'loopstream-operator', log: silent });
  const stream = await direct.get(LOOPSTREAMS, namespace, 'b');
  const event = {
    type: 'Warning',
    reason: 'MediaFailed',
    message: 'The upload cannot be read.',
    action: 'Prepare',
  } as const;
  recorder.event(stream, event);
  recorder.event(stream, event);
  await recorder.flush();
  recorder.event(stream, event);
  recorder.event(stream, { ...event, message: 'Something else.' });
  await recorder.flush();
  // A later start of the operator continues the count.
  const later = createEventRecorder(direct, { component: 'loopstream-operator', log: silent });
  later.event(stream, event);
  for (let i = 0; i < 100; i++) later.event(stream, { ...event, message: `Flapping ${i}.` });
  await later.flush();
  const events = await direct.list(EVENTS, { namespace, fieldSelector: 'involvedObject.name=b' });
  expect(events.find((e) => e.message === event.message)).toMatchObject({
    count: 4,
    type: 'Warning',
    action: 'Prepare',
  });
  expect(events.length).toBeLessThanOrEqual(2 + 25);
  expect(later.dropped).toBeGreaterThanOrEqual(75);
}
