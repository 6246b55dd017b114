/** Makes the objects of the API's benchmark: accounts with few and with many streams, as the API itself would make them. */

import type { Kube, Resource } from '../../../src/core/kube/types.ts';
import { ACCOUNT_LABEL, API_VERSION, LABEL_PREFIX } from '../../../src/core/resources/common/names.ts';
import { DESTINATIONS } from '../../../src/core/resources/destination/resource.ts';
import { LOOPSTREAMS } from '../../../src/core/resources/stream/resource.ts';
import { UPLOADS } from '../../../src/core/resources/upload/resource.ts';
import { newId } from '../../../src/service/domain/limits/owned-resources.ts';
import { NAMESPACE } from '../../../tools/local/rights.ts';
import { inParallel } from '../operator/objects.ts';

export interface Media {
  destinationID: string;
  videoUploadObjectID: string;
}

/** Builds an object of ours, as the API writes it. */
export const buildObject = ({ kind }: Resource, accountId: string, name: string, spec: unknown, labels = {}) => ({
  apiVersion: API_VERSION,
  kind,
  metadata: { name, namespace: NAMESPACE, labels: { ...labels, [ACCOUNT_LABEL]: accountId } },
  spec,
});

/** Builds the spec that POST /v1/streams makes of `wish`. */
export const streamSpec = ({ destinationID, videoUploadObjectID }: Media, displayName: string) => ({
  displayName,
  replicas: 0,
  quality: '1080p',
  framerate: 30,
  destinationNames: [destinationID],
  uploadName: videoUploadObjectID,
});

/** Makes a destination and an upload that streams can refer to. */
export async function makeMedia(kube: Kube, accountId: string): Promise<Media> {
  const [destinationID, videoUploadObjectID] = [newId('dst'), newId('upl')];
  const destination = { displayName: 'Home', secretName: destinationID };
  const upload = { displayName: 'Film', type: 'video', source: { url: 'https://media.example/film.mp4' } };
  await kube.create(DESTINATIONS, NAMESPACE, buildObject(DESTINATIONS, accountId, destinationID, destination) as never);
  await kube.create(UPLOADS, NAMESPACE, buildObject(UPLOADS, accountId, videoUploadObjectID, upload) as never);
  return { destinationID, videoUploadObjectID };
}

/** Makes streams; returns their ids. */
export async function makeStreams(kube: Kube, accountId: string, media: Media, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, () => newId('str'));
  await inParallel(count, (n) => {
    const labels = { [`${LABEL_PREFIX}team`]: n % 2 === 0 ? 'news' : 'sport' };
    const stream = buildObject(LOOPSTREAMS, accountId, ids[n] ?? '', streamSpec(media, `Channel ${n}`), labels);
    return kube.create(LOOPSTREAMS, NAMESPACE, stream as never);
  });
  return ids;
}

/** Writes the operator's status of a stream that could start. */
export async function observe(kube: Kube, id: string, since: Date): Promise<void> {
  const lastTransitionTime = since.toISOString().replace(/\.\d+Z$/, 'Z');
  const conditions = ['DestinationReady', 'MediaReady', 'ScheduleValid'].map((type) => ({
    type,
    status: 'True',
    reason: type,
    message: 'Fine.',
    observedGeneration: 1,
    lastTransitionTime,
  }));
  const status = { phase: 'idle', canStart: true, observedGeneration: 1, conditions };
  await kube.mergePatch(LOOPSTREAMS, NAMESPACE, id, { status }, { subresource: 'status' });
}
