/** The operator on a real control plane; pods are driven by a test's hand in kubelet's place. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createKube } from '../../src/kube/client.ts';
import { applyCrds } from '../../src/kube/install.ts';
import {
  DESTINATIONS,
  EVENTS,
  JOBS,
  LOOPSTREAMS,
  type LoopStream,
  NAMESPACES,
  PLAYLISTS,
  PODS,
  type Pod,
  SECRETS,
  UPLOADS,
} from '../../src/kube/resources.ts';
import type { Kube, KubeObject, Resource } from '../../src/kube/types.ts';
import { Lifecycle } from '../../src/lifecycle.ts';
import { runOperator } from '../../src/operator/run.ts';
import { findCondition } from '../../src/streams/conditions.ts';
import { API_VERSION, FINALIZER, PROGRAM_ANNOTATION } from '../../src/streams/names.ts';
import type { LoopStreamSpec } from '../../src/streams/spec.ts';
import { silent } from '../support/kube.ts';
import { createKubelet, type Kubelet } from '../support/kubelet.ts';
import { startTestKubernetes, type TestKubernetes } from '../support/kubernetes.ts';
import { MEDIA, SETTINGS } from '../support/operator.ts';
import { until } from '../support/rtmp.ts';

const NS = 'tv';
const KEY = 'live_s3cr3t-k3y';
let cluster: TestKubernetes;
let kube: Kube;
let kubelet: Kubelet;
let operator: { lifecycle: Lifecycle; opsPort: number };

async function startOperator() {
  const lifecycle = new Lifecycle();
  const config = {
    ...SETTINGS,
    storageVolume: { emptyDir: {} },
    kubeconfig: cluster.kubeconfig,
    namespace: NS,
    workers: 4,
    opsHost: '127.0.0.1',
    opsPort: 0,
  };
  const { opsPort } = await runOperator(config, lifecycle, silent);
  return { lifecycle, opsPort };
}

beforeAll(async () => {
  cluster = await startTestKubernetes();
  kube = createKube({ kubeconfig: cluster.kubeconfig });
  await applyCrds(kube);
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
  await kube.create(NAMESPACES, '', { metadata: { name: NS, labels }, spec: {} });
  kubelet = await createKubelet(kube, NS);
});
afterAll(async () => {
  await kube?.close();
  await cluster?.stop();
});
beforeEach(async () => {
  operator = await startOperator();
});
afterEach(async () => {
  // Everything goes the way it goes in life: the operator takes the streams off air before it is stopped.
  for (const resource of [LOOPSTREAMS, UPLOADS, PLAYLISTS, DESTINATIONS, SECRETS, JOBS, EVENTS] as Resource[]) {
    for (const { metadata } of await kube.list(resource, { namespace: NS })) {
      await kube.delete(resource, NS, metadata.name, { propagationPolicy: 'Background' });
    }
  }
  await until('nothing is left', async () => {
    for (const { metadata } of await kube.list(PODS, { namespace: NS })) await kubelet.remove(metadata.name);
    const left = await Promise.all([LOOPSTREAMS, PODS].map((of) => kube.list(of as Resource, { namespace: NS })));
    return left.flat().length === 0;
  });
  await operator.lifecycle.stop();
});

const own = (kind: string, name: string, spec: unknown) => ({
  apiVersion: API_VERSION,
  kind,
  metadata: { name },
  spec,
});

const createSecret = (name: string, rtmpUrl = 'rtmp://127.0.0.1/live') =>
  kube.create(SECRETS, NS, { metadata: { name }, stringData: { rtmpUrl, rtmpKey: KEY } } as never);

async function createDestination(name = 'tv'): Promise<void> {
  await createSecret(`${name}-secret`);
  await kube.create(DESTINATIONS, NS, own('Destination', name, { secretName: `${name}-secret` }) as never);
}
const createUpload = (name = 'film') =>
  kube.create(
    UPLOADS,
    NS,
    own('Upload', name, { type: 'video', source: { url: 'https://media.example/film' } }) as never,
  );
const createStream = (spec: Partial<LoopStreamSpec> = {}, name = 'bunny') =>
  kube.create(
    LOOPSTREAMS,
    NS,
    own('LoopStream', name, { quality: '720p', uploadRef: 'film', destinationRefs: ['tv'], ...spec }) as never,
  );

const getStream = (name = 'bunny'): Promise<LoopStream> => kube.get(LOOPSTREAMS, NS, name);
const getPod = (name = 'bunny-onair') => kube.get(PODS, NS, name).catch(() => undefined) as Promise<Pod | undefined>;
const setSpec = (spec: Partial<LoopStreamSpec>, name = 'bunny') => kube.mergePatch(LOOPSTREAMS, NS, name, { spec });

const phase = (wanted: string, name = 'bunny') =>
  until(`${name} is ${wanted}`, async () => {
    const stream = await getStream(name);
    return stream.status?.phase === wanted && stream;
  });
const pod = (name = 'bunny-onair') => until(`the pod ${name}`, () => getPod(name));

async function jobPod(job: string): Promise<Pod> {
  return until(`a pod of ${job}`, async () => {
    const pods = await kube.list(PODS, { namespace: NS, labelSelector: `batch.kubernetes.io/job-name=${job}` });
    return pods.find((one) => !one.metadata.deletionTimestamp && one.status?.phase === 'Pending');
  });
}

/** Plays the Job: its pod runs and ends with this answer. */
async function answer(job: string, result: unknown): Promise<void> {
  const { name } = (await jobPod(job)).metadata;
  await kubelet.bind(name);
  await kubelet.end(name, 0, JSON.stringify(result));
}
const MADE = { action: 'rendition', rendition: { profile: '720p30', state: 'ready', durationSeconds: 10 } };

async function prepare(upload = 'film', profile = '720p30'): Promise<void> {
  await answer(`${upload}-import`, { action: 'import', media: MEDIA });
  await answer(`${upload}-${profile}`, { ...MADE, rendition: { ...MADE.rendition, profile } });
}

async function goLive(): Promise<LoopStream> {
  await createDestination();
  await createUpload();
  await createStream();
  await prepare();
  await pod();
  await kubelet.bind('bunny-onair');
  await kubelet.run('bunny-onair', true);
  return phase('live');
}

/** Resource versions of everything in the namespace: equal when nothing at all was written. */
async function versions(): Promise<Record<string, string>> {
  const all = [LOOPSTREAMS, UPLOADS, PLAYLISTS, DESTINATIONS, SECRETS, PODS, JOBS, EVENTS] as Resource[];
  const lists = await Promise.all(all.map((of) => kube.list<KubeObject>(of, { namespace: NS })));
  return Object.fromEntries(
    lists.flat().map(({ kind, metadata }) => [`${kind}/${metadata.name}`, metadata.resourceVersion]),
  );
}

async function reconciles(): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${operator.opsPort}/metrics`)).text();
  const counts = text.matchAll(/^loopstream_reconcile_total\{.*\} (\d+)$/gm);
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
}
const settled = async () => {
  let before = -1;
  await until('the operator has nothing to do', async () => {
    const text = await (await fetch(`http://127.0.0.1:${operator.opsPort}/metrics`)).text();
    const depth = [...text.matchAll(/^loopstream_queue_depth\{.*\} (\d+)$/gm)].reduce(
      (sum, [, n]) => sum + Number(n),
      0,
    );
    const now = await reconciles();
    const still = depth === 0 && now === before;
    before = now;
    return still;
  });
};

describe('a stream', () => {
  it('goes from created to live, is reconnected, stopped and started again', async () => {
    const live = await goLive();
    expect(live.status).toMatchObject({
      ready: true,
      replicas: 1,
      podName: 'bunny-onair',
      destinations: 'tv',
      observedGeneration: 1,
    });
    expect(live.status?.liveSince).toBeDefined();
    expect(live.metadata.finalizers).toContain(FINALIZER);
    const program = JSON.parse((await getPod())?.metadata.annotations?.[PROGRAM_ANNOTATION] ?? '');
    expect(program).toMatchObject({ epoch: live.status?.epoch, profile: '720p30', destinations: ['tv'] });

    await kubelet.run('bunny-onair', false, 1);
    const lost = await phase('reconnecting');
    expect(lost.status).toMatchObject({ restarts: 1, epoch: live.status?.epoch });
    expect(lost.status?.liveSince).toBeUndefined();
    await kubelet.run('bunny-onair', true, 1);
    await phase('live');

    await setSpec({ replicas: 0 });
    await phase('stopping');
    expect((await getPod())?.metadata.deletionTimestamp).toBeDefined();
    await kubelet.remove('bunny-onair');
    expect((await phase('stopped')).status).toMatchObject({ replicas: 0, ready: true });

    await setSpec({ replicas: 1 });
    const again = await pod();
    expect(again.metadata.uid).not.toBe(live.status?.podUID);
    await phase('starting');
    const events = await kube.list(EVENTS, { namespace: NS });
    const told = new Set(events.map((event) => `${event.involvedObject.name} ${event.reason}`));
    for (const reason of ['NotReady', 'Started', 'Live', 'Reconnecting', 'Stopping', 'Stopped']) {
      expect(told).toContain(`bunny ${reason}`);
    }
    for (const reason of ['MediaImported', 'MediaPrepared']) expect(told).toContain(`film ${reason}`);
    expect(told).toContain('tv Ready');
    expect(JSON.stringify(events)).not.toContain(KEY);
  });

  it('says what is missing, one thing after the other, also while it is stopped', async () => {
    await createStream({ replicas: 0 });
    const idle = await phase('idle');
    expect(idle.status?.ready).toBe(false);
    expect(findCondition(idle.status?.conditions, 'DestinationReady')).toMatchObject({
      status: 'False',
      reason: 'DestinationNotFound',
      message: 'Destination "tv" does not exist.',
      observedGeneration: 1,
    });
    expect(findCondition(idle.status?.conditions, 'MediaReady')?.reason).toBe('UploadNotFound');

    const reason = (type: string, wanted: string) =>
      until(
        `${type} is ${wanted}`,
        async () => findCondition((await getStream()).status?.conditions, type)?.reason === wanted,
      );
    await kube.create(DESTINATIONS, NS, own('Destination', 'tv', { secretName: 'tv-secret' }) as never);
    await reason('DestinationReady', 'DestinationSecretMissing');
    await createSecret('tv-secret', 'https://not.an/ingest');
    // What the API server does when it writes a Secret.
    await kube.mergePatch(DESTINATIONS, NS, 'tv', {
      metadata: { annotations: { 'loopstream.dev/secret-version': '1' } },
    });
    await reason('DestinationReady', 'DestinationInvalid');
    await kube.mergePatch(SECRETS, NS, 'tv-secret', { stringData: { rtmpUrl: 'rtmp://127.0.0.1/live' } });
    await kube.mergePatch(DESTINATIONS, NS, 'tv', {
      metadata: { annotations: { 'loopstream.dev/secret-version': '2' } },
    });
    await reason('DestinationReady', 'DestinationReady');
    expect((await kube.get(DESTINATIONS, NS, 'tv')).status).toMatchObject({
      rtmpUrl: 'rtmp://127.0.0.1/live',
      rtmpKeyHint: '-k3y',
    });

    await createUpload();
    await reason('MediaReady', 'MediaImporting');
    await answer('film-import', { action: 'import', media: MEDIA });
    await reason('MediaReady', 'MediaPreparing');
    await answer('film-720p30', MADE);
    await reason('MediaReady', 'MediaReady');
    expect(await phase('idle')).toMatchObject({ status: { ready: true } });
    expect(await getPod()).toBeUndefined();
  });

  it('takes up another upload without a restart, and another quality with one pod after the other', async () => {
    const live = await goLive();
    await createUpload('sequel');
    await setSpec({ uploadRef: 'sequel' });
    await prepare('sequel');
    await until('the program is another', async () =>
      (await getPod())?.metadata.annotations?.[PROGRAM_ANNOTATION]?.includes('"id":"sequel"'),
    );
    expect((await getPod())?.metadata.uid).toBe(live.status?.podUID);

    await setSpec({ framerate: 60 });
    await answer('sequel-720p60', { ...MADE, rendition: { ...MADE.rendition, profile: '720p60' } });
    await until('the old pod is going', async () => (await getPod())?.metadata.deletionTimestamp);
    expect((await phase('reconnecting')).status?.podUID).toBe(live.status?.podUID);
    await kubelet.remove('bunny-onair');
    const next = await until('the next pod', async () => {
      const found = await getPod();
      return found?.metadata.uid !== live.status?.podUID && found;
    });
    const program = JSON.parse(next.metadata.annotations?.[PROGRAM_ANNOTATION] ?? '');
    expect(program).toMatchObject({ profile: '720p60', epoch: live.status?.epoch });
  });

  it('is not gone before its pod is', async () => {
    await goLive();
    await kube.delete(LOOPSTREAMS, NS, 'bunny');
    await until('the pod is going', async () => (await getPod())?.metadata.deletionTimestamp);
    expect((await phase('stopping')).metadata.deletionTimestamp).toBeDefined();
    await settled();
    expect((await getStream()).metadata.finalizers).toContain(FINALIZER);
    await kubelet.remove('bunny-onair');
    await until('the stream is gone', async () => (await kube.list(LOOPSTREAMS, { namespace: NS })).length === 0);
  });

  it('never takes a pod of the same name for its own', async () => {
    await createDestination();
    await createUpload();
    const container = {
      name: 'x',
      image: 'x',
      securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
    };
    const securityContext = { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } };
    const foreign = await kube.create(PODS, NS, {
      metadata: { name: 'bunny-onair' },
      spec: { containers: [container], securityContext },
    });
    await createStream();
    await prepare();
    const failed = await phase('failed');
    expect(findCondition(failed.status?.conditions, 'Progressing')).toMatchObject({
      status: 'False',
      reason: 'PodNameTaken',
    });
    expect(failed.status).toMatchObject({ replicas: 0 });
    expect((await getPod())?.metadata.resourceVersion).toBeDefined();
    expect((await getPod())?.metadata.uid).toBe(foreign.metadata.uid);
    await kubelet.remove('bunny-onair');
    await setSpec({ displayName: 'look again' });
    await phase('starting');
  });

  it('that Kubernetes refuses a pod fails with its words, without trying again', async () => {
    await createDestination();
    await createUpload();
    const QUOTAS: Resource = {
      group: '',
      version: 'v1',
      kind: 'ResourceQuota',
      plural: 'resourcequotas',
      namespaced: true,
    };
    await createStream();
    await answer('film-import', { action: 'import', media: MEDIA });
    const { name } = (await jobPod('film-720p30')).metadata;
    await kube.create(QUOTAS, NS, { metadata: { name: 'none' }, spec: { hard: { 'requests.cpu': '1m' } } });
    await until('the quota counts', async () => (await kube.get(QUOTAS, NS, 'none')).status);
    await kubelet.bind(name);
    await kubelet.end(name, 0, JSON.stringify(MADE));
    const failed = await phase('failed');
    const progressing = findCondition(failed.status?.conditions, 'Progressing');
    expect(progressing).toMatchObject({ status: 'False', reason: 'PodRefused', observedGeneration: 1 });
    expect(progressing?.message).toContain('exceeded quota');
    await settled();
    await kube.delete(QUOTAS, NS, 'none');
    await setSpec({ displayName: 'try again' });
    await until('the pod', getPod);
  });

  it('whose pod was deleted by hand gets another when that is gone', async () => {
    const live = await goLive();
    await kube.delete(PODS, NS, 'bunny-onair');
    await phase('reconnecting');
    await kubelet.remove('bunny-onair');
    const next = await until('another pod', async () => {
      const found = await getPod();
      return found?.metadata.uid !== live.status?.podUID && found;
    });
    expect(JSON.parse(next.metadata.annotations?.[PROGRAM_ANNOTATION] ?? '').epoch).toBe(live.status?.epoch);
  });

  it('with a schedule goes on air and off air by itself', async () => {
    await createDestination();
    await createUpload();
    const at = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString();
    await createStream({ schedule: { startAt: at(3600) } });
    await prepare();
    const scheduled = await until('ready', async () => {
      const stream = await getStream();
      return stream.status?.ready && stream;
    });
    expect(scheduled.status?.phase).toBe('scheduled');
    expect(await getPod()).toBeUndefined();
    await setSpec({ schedule: { startAt: at(1), endAt: at(5) } });
    await pod();
    await until('its end', async () => !(await getPod()));
    await phase('ended');
  });
});

describe('an upload', () => {
  it('that cannot be read fails with its code, once, and the streams that play it say so', async () => {
    await createDestination();
    await createUpload();
    await createStream();
    await answer('film-import', { action: 'failed', error: { code: 'media_unreadable', message: 'Cut off.' } });
    const upload = await until('it failed', async () => {
      const found = await kube.get(UPLOADS, NS, 'film');
      return found.status?.state === 'failed' && found;
    });
    expect(upload.status?.error).toEqual({ code: 'media_unreadable', message: 'Cut off.' });
    const waiting = await until('the stream says so', async () => {
      const found = await phase('waiting');
      return findCondition(found.status?.conditions, 'MediaReady')?.reason === 'MediaFailed' && found;
    });
    expect(findCondition(waiting.status?.conditions, 'MediaReady')?.message).toBe('Upload "film" failed: Cut off.');
    await kube.delete(JOBS, NS, 'film-import', { propagationPolicy: 'Background' });
    await until('the Job is gone', async () => (await kube.list(JOBS, { namespace: NS })).length === 0);
    await settled();
    expect(await kube.list(JOBS, { namespace: NS })).toEqual([]);
  });

  it('is prepared for the profile of each stream that plays it, also through a playlist', async () => {
    await createUpload();
    await kube.create(PLAYLISTS, NS, own('Playlist', 'mix', { items: [{ uploadRef: 'film' }] }) as never);
    await createStream({ replicas: 0 });
    const { uploadRef: _, ...spec } = {
      quality: '1080p',
      playlistRefs: ['mix'],
      destinationRefs: ['tv'],
      replicas: 0,
      uploadRef: '',
    };
    await kube.create(LOOPSTREAMS, NS, own('LoopStream', 'mixed', spec) as never);
    await answer('film-import', { action: 'import', media: MEDIA });
    await answer('film-720p30', MADE);
    await answer('film-1080p30', { ...MADE, rendition: { ...MADE.rendition, profile: '1080p30' } });
    const ready = await until('it is ready', async () => {
      const found = await kube.get(UPLOADS, NS, 'film');
      return found.status?.state === 'ready' && found;
    });
    expect(ready.status?.renditions?.map(({ profile, state }) => `${profile} ${state}`)).toEqual([
      '1080p30 ready',
      '720p30 ready',
    ]);
    expect(ready.status?.conditions?.map(({ type, status }) => `${type} ${status}`)).toEqual([
      'Imported True',
      'Prepared True',
    ]);
  });
});

describe('the operator', () => {
  it('writes nothing when it is started again, and nothing while nothing changes', async () => {
    await goLive();
    await createStream({ replicas: 0 }, 'idle');
    await phase('idle', 'idle');
    // The Job controller has its own last words about the Jobs.
    await until('the Jobs are complete', async () =>
      (await kube.list(JOBS, { namespace: NS })).every(({ status }) => status?.succeeded === 1),
    );
    await settled();
    await operator.lifecycle.stop();
    const before = await versions();
    operator = await startOperator();
    await until('it has looked at everything', async () => (await reconciles()) >= 4);
    await settled();
    expect(await versions()).toEqual(before);
  });

  it('leaves the streams on air when it stops, and catches up with what it missed', async () => {
    await goLive();
    await operator.lifecycle.stop();
    expect((await getPod())?.metadata.deletionTimestamp).toBeUndefined();
    await kubelet.run('bunny-onair', false);
    operator = await startOperator();
    await phase('reconnecting');
  });

  it('is ready when it works, and shows what it does', async () => {
    const get = async (path: string) => fetch(`http://127.0.0.1:${operator.opsPort}${path}`);
    expect((await get('/healthz')).status).toBe(200);
    expect((await get('/readyz')).status).toBe(200);
    expect((await get('/else')).status).toBe(404);
    const metrics = await (await get('/metrics')).text();
    for (const name of ['reconcile_total', 'reconcile_errors_total', 'reconcile_duration_seconds', 'queue_depth']) {
      expect(metrics).toContain(`loopstream_${name}`);
    }
  });
});
