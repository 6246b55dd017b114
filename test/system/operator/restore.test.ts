/**
 * Tests a restore on a real control plane: every object is exported, deleted and made again with another UID, as a backup tool, GitOps
 * or `kubectl apply` does it. The channel is on air again by itself.
 */
import { describe, expect, it } from 'vitest';
import { JOBS, PODS, SECRETS } from '../../../src/core/kube/core.ts';
import type { KubeObject, Resource } from '../../../src/core/kube/types.ts';
import { decodeSecret } from '../../../src/core/operator/stream/secret.ts';
import {
  FINALIZER,
  PROGRAM_ANNOTATION,
  PUBLISHER_KEY,
  streamSecretName,
} from '../../../src/core/resources/common/names.ts';
import { DESTINATIONS } from '../../../src/core/resources/destination/resource.ts';
import { PLAYLISTS } from '../../../src/core/resources/playlist/resource.ts';
import { LOOPSTREAMS } from '../../../src/core/resources/stream/resource.ts';
import { UPLOADS } from '../../../src/core/resources/upload/resource.ts';
import {
  aroundEachTest,
  getPod,
  goLive,
  kube,
  kubelet,
  NS,
  waitForPhase,
  waitForPod,
  withoutOperator,
} from '../../kit/system/operator-system.ts';
import { until } from '../../kit/wait.ts';

aroundEachTest({ metered: true });

const KINDS = [SECRETS, DESTINATIONS, UPLOADS, PLAYLISTS, LOOPSTREAMS] as Resource[];
type Exported = { resource: Resource; object: KubeObject };

const listAll = async (): Promise<Exported[]> =>
  (
    await Promise.all(
      KINDS.map(async (resource) =>
        (await kube.list(resource, { namespace: NS })).map((object) => ({ resource, object })),
      ),
    )
  ).flat();

/** Loses everything at once, as a cluster is lost: nobody takes the stream off air before. */
async function loseAll(): Promise<void> {
  for (const { resource, object } of await listAll()) {
    const { name, finalizers = [] } = object.metadata;
    if (finalizers.length > 0) await kube.mergePatch(resource, NS, name, { metadata: { finalizers: [] } });
    await kube.delete(resource, NS, name, { propagationPolicy: 'Background' });
  }
  for (const { metadata } of await kube.list(JOBS, { namespace: NS })) {
    await kube.delete(JOBS, NS, metadata.name, { propagationPolicy: 'Background' });
  }
  await until('nothing is left', async () => {
    const pods = await kube.list(PODS, { namespace: NS });
    for (const { metadata } of pods) {
      await kube.mergePatch(PODS, NS, metadata.name, { metadata: { finalizers: [] } }).catch(() => undefined);
      await kubelet.remove(metadata.name);
    }
    return pods.length + (await listAll()).length === 0;
  });
}

/** Makes the objects again as a backup has them. */
async function restore(
  backup: readonly Exported[],
  { withStatus, asExported }: { withStatus: boolean; asExported: boolean },
) {
  for (const { resource, object } of backup) {
    const { uid: _, resourceVersion: __, generation: ___, creationTimestamp: ____, ...metadata } = object.metadata;
    const { ownerReferences, finalizers, ...bare } = metadata;
    const made = await kube.create(resource, NS, { ...object, metadata: asExported ? metadata : bare } as never);
    expect(made.metadata.uid).not.toBe(object.metadata.uid);
    // Uploads are judged by what the storage has of them.
    const hasStatus = 'status' in object && (withStatus || resource.kind === 'Upload');
    if (!hasStatus) continue;
    const { status } = object as KubeObject & { status: unknown };
    const { name, uid, resourceVersion } = made.metadata;
    await kube.replace(
      resource,
      NS,
      { ...made, metadata: { ...made.metadata, name, uid, resourceVersion }, status } as never,
      {
        subresource: 'status',
      } as never,
    );
  }
}

const readPublisher = async (uid: string) => {
  const secret = await kube.get(SECRETS, NS, streamSecretName(uid)).catch(() => undefined);
  return secret && decodeSecret(secret)[PUBLISHER_KEY];
};

describe('a stream that is restored', () => {
  it.each([
    ['without status', { withStatus: false, asExported: false }],
    ['with its status', { withStatus: true, asExported: false }],
    [
      'by kubectl apply of an export, with the owners and finalizers of before',
      { withStatus: false, asExported: true },
    ],
  ])('is on air again %s, and nothing of before is believed', async (_how, how) => {
    const before = await goLive();
    const program = JSON.parse((await getPod())?.metadata.annotations?.[PROGRAM_ANNOTATION] ?? '');
    const backup = await listAll();
    expect(before.status?.sessions).toHaveLength(1);
    await withoutOperator(async () => {
      await loseAll();
      await restore(backup, how);
    });

    const pod = await waitForPod();
    expect(pod.metadata.uid).not.toBe(before.status?.podUID);
    await kubelet.bind('bunny-onair');
    await kubelet.run('bunny-onair', true);
    const live = await until('the stream is live with its own pod', async () => {
      const stream = await waitForPhase('live');
      return stream.status?.podUID === pod.metadata.uid && stream;
    });
    expect(live.metadata.finalizers).toContain(FINALIZER);
    expect(live.metadata.uid).not.toBe(before.metadata.uid);
    expect(live.status).toMatchObject({ observedUID: live.metadata.uid, observedGeneration: 1 });
    expect(live.status?.sessions).toMatchObject([{ number: 1, podUID: pod.metadata.uid }]);
    expect(live.status?.acknowledgedSession).toBeUndefined();
    expect(await readPublisher(live.metadata.uid)).toBe(pod.metadata.uid);

    const after = JSON.parse((await getPod())?.metadata.annotations?.[PROGRAM_ANNOTATION] ?? '');
    if (how.withStatus) expect([after.epoch, after.seed]).toEqual([program.epoch, program.seed]);
  });
});
