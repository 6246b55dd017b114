/** Situations of objects, with the status that kstatus, and every tool that agrees with it, gives each. */
import { createServer, type Server } from 'node:http';
import type { KubeObject, Resource } from '../../../src/core/kube/types.ts';
import { STREAMER_PORT } from '../../../src/core/resources/common/names.ts';
import { DESTINATIONS } from '../../../src/core/resources/destination/resource.ts';
import { PLAYLISTS } from '../../../src/core/resources/playlist/resource.ts';
import { LOOPSTREAMS } from '../../../src/core/resources/stream/resource.ts';
import type { LoopStreamSpec } from '../../../src/core/resources/stream/spec.ts';
import { UPLOADS } from '../../../src/core/resources/upload/resource.ts';
import { MEDIA } from '../../kit/make/operator.ts';
import type { KStatus } from '../../kit/real/judge.ts';
import {
  buildObject,
  createDestination,
  createSecret,
  createStream,
  createUpload,
  finishJob,
  kube,
  kubelet,
  NS,
  prepareUpload,
  waitForPhase,
  waitForPod,
} from '../../kit/system/operator-system.ts';

export interface Situation {
  what: string;
  resource: Resource;
  name: string;
  kstatus: KStatus;
}

const situation = (what: string, resource: unknown, name: string, kstatus: KStatus): Situation => ({
  what,
  resource: resource as Resource,
  name,
  kstatus,
});

/** Situations of objects that the operator has seen. `makeSituations` makes their objects. */
export const SITUATIONS: readonly Situation[] = [
  situation('a stream that is live', LOOPSTREAMS, 'live', 'Current'),
  situation('a stream that is stopped, whose media is missing', LOOPSTREAMS, 'stopped', 'Current'),
  situation('a stream that waits for its schedule', LOOPSTREAMS, 'scheduled', 'Current'),
  situation('a stream whose schedule is over', LOOPSTREAMS, 'ended', 'Current'),
  situation('a stream whose media is being prepared', LOOPSTREAMS, 'preparing', 'InProgress'),
  situation('a stream whose pod starts', LOOPSTREAMS, 'starting', 'InProgress'),
  situation('a stream whose media is missing', LOOPSTREAMS, 'media-missing', 'Failed'),
  situation('a stream whose destination is missing', LOOPSTREAMS, 'destination-missing', 'Failed'),
  situation('a stream whose destination has no usable address', LOOPSTREAMS, 'destination-refused', 'Failed'),
  situation('a stream whose key the destination refuses', LOOPSTREAMS, 'key-refused', 'Failed'),
  situation('a stream whose schedule makes no sense', LOOPSTREAMS, 'schedule-invalid', 'Failed'),
  situation('a stream that is being deleted', LOOPSTREAMS, 'deleted', 'Terminating'),
  situation('an upload that is prepared', UPLOADS, 'film', 'Current'),
  situation('an upload that is being prepared', UPLOADS, 'slow', 'InProgress'),
  situation('an upload that failed', UPLOADS, 'broken', 'Failed'),
  situation('a playlist with an item that can be played', PLAYLISTS, 'mix', 'Current'),
  situation('a playlist whose item is being imported', PLAYLISTS, 'coming', 'InProgress'),
  situation('a playlist without an item that can be played', PLAYLISTS, 'unplayable', 'Failed'),
  situation('a destination that can be used', DESTINATIONS, 'tv', 'Current'),
  situation('a destination without its Secret', DESTINATIONS, 'secretless', 'Failed'),
  situation('a destination with no usable address', DESTINATIONS, 'web', 'Failed'),
];

/** Situations of objects that no operator has seen yet. `makeFresh` makes their objects. */
export const FRESH: readonly Situation[] = [
  situation('a new stream', LOOPSTREAMS, 'fresh', 'InProgress'),
  situation('a new upload', UPLOADS, 'fresh', 'InProgress'),
  situation('a new playlist', PLAYLISTS, 'fresh', 'InProgress'),
  situation('a new destination', DESTINATIONS, 'fresh', 'InProgress'),
];

const create = (resource: unknown, name: string, spec: unknown) =>
  kube.create(resource as Resource<KubeObject>, NS, buildObject((resource as Resource).kind, name, spec) as never);
const createPlaylist = (name: string, ...items: string[]) =>
  create(PLAYLISTS, name, { items: items.map((uploadName) => ({ uploadName })) });

async function goOnAir(name: string, ready: boolean, podIP?: string): Promise<void> {
  await createStream({}, name);
  await waitForPod(`${name}-onair`);
  await kubelet.bind(`${name}-onair`);
  await kubelet.run(`${name}-onair`, ready, 0, podIP);
}

const REFUSED_AT = '127.77.0.1';

/** Answers the operator as a streamer whose destination refuses its key. */
async function refuseKey(): Promise<Server> {
  const lastError = { code: 'publish_rejected', message: 'The destination rejected the stream: the key may be wrong.' };
  const stats = JSON.stringify({ playable: true, destinations: [{ name: 'tv', connected: false, lastError }] });
  const server = createServer((_request, response) => void response.end(stats));
  await new Promise<void>((resolve) => server.listen(STREAMER_PORT, REFUSED_AT, resolve));
  return server;
}

const hour = (hours: number): string => new Date(Date.now() + hours * 3_600_000).toISOString();

/** Streams for which nothing has to be done, by name. */
const STREAMS: Record<string, Partial<LoopStreamSpec>> = {
  stopped: { replicas: 0, uploadName: 'none' },
  scheduled: { schedule: { startAt: hour(1) } },
  ended: { schedule: { startAt: hour(-2), endAt: hour(-1) } },
  preparing: { uploadName: 'slow' },
  'media-missing': { uploadName: 'none' },
  'destination-missing': { destinationNames: ['none'] },
  'destination-refused': { destinationNames: ['web'] },
  'schedule-invalid': { schedule: { recurrence: { cron: '0 18 * * 5', timeZone: 'Mars/Base', durationSeconds: 60 } } },
};

/** Makes the objects of SITUATIONS; returns what ends the helpers of the situations. */
export async function makeSituations(): Promise<() => void> {
  await createDestination('tv');
  await create(DESTINATIONS, 'secretless', { secretName: 'none' });
  await createSecret('web-secret', 'https://127.0.0.1/live');
  await create(DESTINATIONS, 'web', { secretName: 'web-secret' });
  for (const name of ['film', 'slow', 'broken', 'late']) await createUpload(name);
  await createPlaylist('mix', 'broken', 'film');
  await createPlaylist('coming', 'late', 'broken');
  await createPlaylist('unplayable', 'broken', 'none');
  for (const [name, spec] of Object.entries(STREAMS)) await createStream(spec, name);
  await finishJob('slow-import', { action: 'import', media: { ...MEDIA, sha256: 'b'.repeat(64) } });
  const error = { code: 'media_unreadable', message: 'The file cannot be read.' };
  await finishJob('broken-import', { action: 'failed', error });
  await prepareUpload('film');
  const server = await refuseKey();
  await goOnAir('live', true);
  await goOnAir('starting', false);
  await goOnAir('key-refused', false, REFUSED_AT);
  await goOnAir('deleted', true);
  await waitForPhase('live', 'deleted');
  await kube.delete(LOOPSTREAMS, NS, 'deleted');
  return () => void server.close();
}

/** Makes the objects of FRESH, while no operator runs. */
export async function makeFresh(): Promise<void> {
  await createDestination('fresh');
  await createUpload('fresh');
  await createPlaylist('fresh', 'fresh');
  await createStream({ uploadName: 'fresh', destinationNames: ['fresh'] }, 'fresh');
}
