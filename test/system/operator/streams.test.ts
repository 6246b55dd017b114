/** Tests streams on a real control plane, from creation to deletion. */
import { describe, expect, it } from 'vitest';
import { EVENTS, NODES, PODS, SECRETS } from '../../../src/core/kube/core.ts';
import type { Resource } from '../../../src/core/kube/types.ts';
import { decodeSecret } from '../../../src/core/operator/stream/secret.ts';
import { findCondition } from '../../../src/core/resources/common/conditions.ts';
import { FINALIZER, PROGRAM_ANNOTATION, streamSecretName } from '../../../src/core/resources/common/names.ts';
import { DESTINATIONS } from '../../../src/core/resources/destination/resource.ts';
import { LOOPSTREAMS } from '../../../src/core/resources/stream/resource.ts';
import { MEDIA } from '../../kit/make/operator.ts';
import {
  aroundEachTest,
  buildObject,
  createDestination,
  createSecret,
  createStream,
  createUpload,
  finishJob,
  getPod,
  getStream,
  goLive,
  KEY,
  kube,
  kubelet,
  MADE,
  NS,
  prepareUpload,
  setSpec,
  waitForJobPod,
  waitForPhase,
  waitForPod,
  waitUntilIdle,
} from '../../kit/system/operator-system.ts';
import { until } from '../../kit/wait.ts';

aroundEachTest();

describe('a stream', () => {
  it('goes from created to live, is reconnected, stopped and started again', async () => {
    const live = await goLive();
    expect(live.status).toMatchObject({
      canStart: true,
      replicas: 1,
      podName: 'bunny-onair',
      destinationSummary: 'tv',
      observedGeneration: 1,
    });
    expect(live.status?.liveSince).toBeDefined();
    expect(live.metadata.finalizers).toContain(FINALIZER);
    const program = JSON.parse((await getPod())?.metadata.annotations?.[PROGRAM_ANNOTATION] ?? '');
    expect(program).toMatchObject({ epoch: live.status?.epoch, profile: '720p30', destinations: ['tv'] });

    await kubelet.run('bunny-onair', false, 1);
    const lost = await waitForPhase('reconnecting');
    expect(lost.status).toMatchObject({ restarts: 1, epoch: live.status?.epoch });
    expect(lost.status?.liveSince).toBeUndefined();
    await kubelet.run('bunny-onair', true, 1);
    await waitForPhase('live');

    await setSpec({ replicas: 0 });
    await waitForPhase('stopping');
    expect((await getPod())?.metadata.deletionTimestamp).toBeDefined();
    await kubelet.remove('bunny-onair');
    expect((await waitForPhase('stopped')).status).toMatchObject({ replicas: 0, canStart: true });

    await setSpec({ replicas: 1 });
    const again = await waitForPod();
    expect(again.metadata.uid).not.toBe(live.status?.podUID);
    await waitForPhase('starting');
    const ofStream = ['NotReady', 'Live', 'Reconnecting', 'Stopping', 'Stopped'].map((reason) => `bunny ${reason}`);
    const expected = [...ofStream, 'film MediaImported', 'film MediaPrepared', 'tv Ready'];
    const events = () => kube.list(EVENTS, { namespace: NS });
    // The recorder writes events beside the work, so the last one may come a moment later.
    await expect
      .poll(async () => (await events()).map((event) => `${event.involvedObject.name} ${event.reason}`))
      .toEqual(expect.arrayContaining(expected));
    expect(JSON.stringify(await events())).not.toContain(KEY);
  });

  it('reports its gaps, one after the other, also while it is stopped', async () => {
    await createStream({ replicas: 0 });
    const idle = await waitForPhase('idle');
    expect(idle.status?.canStart).toBe(false);
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
    await kube.create(DESTINATIONS, NS, buildObject('Destination', 'tv', { secretName: 'tv-secret' }) as never);
    await reason('DestinationReady', 'DestinationSecretMissing');
    await createSecret('tv-secret', 'https://not.an/ingest');
    // The API server does the same when it writes a Secret.
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
    await finishJob('film-import', { action: 'import', media: MEDIA });
    await reason('MediaReady', 'MediaPreparing');
    await finishJob('film-720p30', MADE);
    await reason('MediaReady', 'MediaReady');
    expect(await waitForPhase('idle')).toMatchObject({ status: { canStart: true } });
    expect(await getPod()).toBeUndefined();
  });

  it('takes up another upload, another quality, other destinations and other keys in the same pod', async () => {
    const live = await goLive();
    await createUpload('sequel');
    await setSpec({ uploadName: 'sequel' });
    await prepareUpload('sequel');
    await until('the program is another', async () =>
      (await getPod())?.metadata.annotations?.[PROGRAM_ANNOTATION]?.includes('"id":"sequel"'),
    );
    expect((await getPod())?.metadata.uid).toBe(live.status?.podUID);

    await setSpec({ framerate: 60 });
    await finishJob('sequel-720p60', { ...MADE, rendition: { ...MADE.rendition, profile: '720p60' } });
    const program = async () => JSON.parse((await getPod())?.metadata.annotations?.[PROGRAM_ANNOTATION] ?? '{}');
    const faster = await until('the program is faster', async () => {
      const now = await program();
      return now.profile === '720p60' && now;
    });
    expect(faster).toMatchObject({ epoch: live.status?.epoch });

    const readSecret = async () => decodeSecret(await kube.get(SECRETS, NS, streamSecretName(live.metadata.uid)));
    const before = await readSecret();
    await createDestination('more');
    await setSpec({ destinationNames: ['tv', 'more'] });
    const wider = await until('it is sent to both', async () => {
      const now = await program();
      return now.destinations?.length === 2 && now;
    });
    expect(wider.version).toBe(faster.version);
    const to = { rtmpUrl: 'rtmp://127.0.0.1/live', rtmpKey: KEY };
    expect(JSON.parse((await readSecret())['destinations.json'] ?? '')).toEqual({ tv: to, more: to });
    expect((await readSecret()).token).toBe(before.token);

    await kube.mergePatch(SECRETS, NS, 'more-secret', { stringData: { rtmpKey: 'renewed' } });
    await kube.mergePatch(DESTINATIONS, NS, 'more', {
      metadata: { annotations: { 'loopstream.dev/secret-version': '2' } },
    });
    await until('the key is renewed', async () => {
      const { more } = JSON.parse((await readSecret())['destinations.json'] ?? '');
      return more.rtmpKey === 'renewed' && (await program()).destinationsRevision !== wider.destinationsRevision;
    });
    const renewed = (await program()).destinationsRevision;
    await kube.mergePatch(DESTINATIONS, NS, 'more', { spec: { leastBitrateKbps: 3000 } });
    await until('the least bitrate is another', async () => {
      const { more } = JSON.parse((await readSecret())['destinations.json'] ?? '');
      return more.leastBitrateKbps === 3000 && (await program()).destinationsRevision !== renewed;
    });
    expect((await getPod())?.metadata.uid).toBe(live.status?.podUID);
    expect(JSON.stringify([await getPod(), await getStream()])).not.toContain('renewed');
  });

  it('is not gone before its pod is', async () => {
    await goLive();
    await kube.delete(LOOPSTREAMS, NS, 'bunny');
    await until('the pod is going', async () => (await getPod())?.metadata.deletionTimestamp);
    expect((await waitForPhase('stopping')).metadata.deletionTimestamp).toBeDefined();
    await waitUntilIdle();
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
    await prepareUpload();
    const failed = await waitForPhase('failed');
    expect(findCondition(failed.status?.conditions, 'Progressing')).toMatchObject({
      status: 'False',
      reason: 'PodNameTaken',
    });
    expect(failed.status).toMatchObject({ replicas: 0 });
    expect((await getPod())?.metadata.resourceVersion).toBeDefined();
    expect((await getPod())?.metadata.uid).toBe(foreign.metadata.uid);
    await kubelet.remove('bunny-onair');
    await setSpec({ displayName: 'look again' });
    await waitForPhase('starting');
  });

  it('that a quota refuses a pod waits with its words, and is tried again', async () => {
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
    await finishJob('film-import', { action: 'import', media: MEDIA });
    const { name } = (await waitForJobPod('film-720p30')).metadata;
    await kube.create(QUOTAS, NS, { metadata: { name: 'none' }, spec: { hard: { 'requests.cpu': '1m' } } });
    await until('the quota counts', async () => (await kube.get(QUOTAS, NS, 'none')).status);
    await kubelet.bind(name);
    await kubelet.end(name, 0, JSON.stringify(MADE));
    const refused = await until('the quota refuses it', async () => {
      const { status } = await getStream();
      return findCondition(status?.conditions, 'Progressing')?.reason === 'QuotaExceeded' && status;
    });
    expect(refused).toMatchObject({ phase: 'waiting', canStart: false });
    const progressing = findCondition(refused.conditions, 'Progressing');
    expect(progressing).toMatchObject({ status: 'False', observedGeneration: 1 });
    expect(progressing?.message).toContain('exceeded quota');
    await waitUntilIdle();
    await kube.delete(QUOTAS, NS, 'none');
    await setSpec({ displayName: 'look again' });
    await until('the pod', getPod);
  });

  it('whose pod was deleted by hand gets another, which publishes only when nothing is left of the first', async () => {
    const live = await goLive();
    const named = async () => decodeSecret(await kube.get(SECRETS, NS, streamSecretName(live.metadata.uid))).publisher;
    expect(await named()).toBe(live.status?.podUID);
    await kube.delete(PODS, NS, 'bunny-onair');
    const next = await waitForPod('bunny-onair-b');
    expect(JSON.parse(next.metadata.annotations?.[PROGRAM_ANNOTATION] ?? '').epoch).toBe(live.status?.epoch);
    await kubelet.bind('bunny-onair-b');
    await kubelet.run('bunny-onair-b', false, 0, '10.0.0.2');
    // A forced deletion only makes the API server forget the pod: it may still publish.
    await kube.delete(PODS, NS, 'bunny-onair', { gracePeriodSeconds: 0 });
    await waitUntilIdle();
    expect(await named()).toBe(live.status?.podUID);
    expect((await getStream()).status?.podUID).toBe(live.status?.podUID);
    await kubelet.remove('bunny-onair');
    await until('the other is named', async () => (await named()) === next.metadata.uid);
    await kubelet.run('bunny-onair-b', true, 0, '10.0.0.2');
    const after = await until('it is live', async () => {
      const stream = await getStream();
      return stream.status?.podUID === next.metadata.uid && stream.status?.phase === 'live' && stream;
    });
    expect(after.status).toMatchObject({ podName: 'bunny-onair-b', epoch: live.status?.epoch });
    await until('the first is gone', async () => !(await getPod()));
  });

  it('tells node autoscalers by its pod whether it may move, and at once when that is edited', async () => {
    await goLive();
    const SAFE = 'cluster-autoscaler.kubernetes.io/safe-to-evict';
    const FIXED = 'karpenter.sh/do-not-disrupt';
    const read = async () => {
      const { metadata } = (await getPod()) ?? {};
      return { uid: metadata?.uid, safe: metadata?.annotations?.[SAFE], fixed: metadata?.annotations?.[FIXED] };
    };
    const before = await read();
    expect(before).toMatchObject({ safe: 'true', fixed: undefined });
    for (const [disruptionPolicy, safe, fixed] of [
      ['Never', 'false', 'true'],
      ['Always', 'true', undefined],
    ] as const) {
      await setSpec({ disruptionPolicy });
      await until(`the pod says ${disruptionPolicy}`, async () => (await read()).safe === safe);
      expect(await read()).toEqual({ uid: before.uid, safe, fixed });
    }
  });

  it('on a spot node stays while it tolerates the taint of such nodes, and moves when the end of the node is announced', async () => {
    const spot = { key: 'example.com/spot', value: 'true', effect: 'NoSchedule' };
    const setTaints = (taints: object[]) => kube.mergePatch(NODES, '', 'test-node', { spec: { taints } });
    await setTaints([spot]);
    try {
      await createDestination();
      await createUpload();
      await createStream({ template: { tolerations: [{ key: spot.key, operator: 'Exists', effect: 'NoSchedule' }] } });
      await prepareUpload();
      await waitForPod();
      await kubelet.bind('bunny-onair');
      await kubelet.run('bunny-onair', true);
      const { status } = await waitForPhase('live');
      expect(findCondition(status?.conditions, 'Progressing')?.reason).toBe('Settled');
      expect(await getPod('bunny-onair-b')).toBeUndefined();
      await setTaints([spot, { key: 'example.com/ends', effect: 'NoSchedule' }]);
      await waitForPod('bunny-onair-b');
      expect((await getStream()).status?.phase).toBe('live');
    } finally {
      await setTaints([]);
    }
  });

  it('whose template is edited continues in another pod; an unneeded pod goes away', async () => {
    const live = await goLive();
    await setSpec({ template: { labels: { edition: '2' } } });
    await waitForPod('bunny-onair-b');
    await setSpec({ template: {} });
    await setSpec({ template: null as never });
    await kubelet.bind('bunny-onair-b');
    await until('it is going', async () => (await getPod('bunny-onair-b'))?.metadata.deletionTimestamp);
    await kubelet.remove('bunny-onair-b');
    await until('it is gone', async () => !(await getPod('bunny-onair-b')));
    expect(await getStream()).toMatchObject({ status: { phase: 'live', podUID: live.status?.podUID } });
  });

  it('with a schedule goes on air and off air by itself', async () => {
    await createDestination();
    await createUpload();
    const at = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString();
    await createStream({ schedule: { startAt: at(3600) } });
    await prepareUpload();
    const scheduled = await until('ready', async () => {
      const stream = await getStream();
      return stream.status?.canStart && stream;
    });
    expect(scheduled.status?.phase).toBe('scheduled');
    expect(await getPod()).toBeUndefined();
    // The pod's dependencies exist before it; its reads are protected.
    expect(scheduled.metadata.finalizers).toContain(FINALIZER);
    const readSecret = async () => decodeSecret(await kube.get(SECRETS, NS, streamSecretName(scheduled.metadata.uid)));
    expect(await readSecret()).toEqual({
      token: expect.any(String),
      viewToken: expect.any(String),
      'destinations.json': expect.stringContaining(KEY),
    });
    await setSpec({ schedule: { startAt: at(1), endAt: at(600) } });
    const { uid } = (await waitForPod()).metadata;
    await until('it may publish', async () => (await readSecret()).publisher === uid);
    await setSpec({ schedule: { endAt: at(1) } });
    await until('its end', async () => !(await getPod()));
    await waitForPhase('ended');
  });
});
