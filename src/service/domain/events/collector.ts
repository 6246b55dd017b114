/**
 * Records in the outbox what happens to streams, uploads and playlists, by the API or by kubectl: one server at a time, for all accounts. The
 * resources keep what happened while no server looked (resources/stream/transitions.ts).
 */
import type { Pod } from '../../../core/kube/core.ts';
import { createQueue, type RunOutcome } from '../../../core/kube/queue.ts';
import type { Reflector } from '../../../core/kube/reflector.ts';
import type { KubeObject, Stored } from '../../../core/kube/types.ts';
import { type Clock, sleep, systemClock } from '../../../core/lib/clock.ts';
import type { Lifecycle } from '../../../core/lib/lifecycle.ts';
import type { Logger } from '../../../core/lib/log.ts';
import { ACCOUNT_LABEL } from '../../../core/resources/common/names.ts';
import type { DestinationSpec, DestinationStatus } from '../../../core/resources/destination/spec.ts';
import type { PlaylistSpec, PlaylistStatus } from '../../../core/resources/playlist/spec.ts';
import type { LoopStream } from '../../../core/resources/stream/resource.ts';
import type { LoopStreamSpec, LoopStreamStatus } from '../../../core/resources/stream/spec.ts';
import type { Upload } from '../../../core/resources/upload/resource.ts';
import type { UploadSpec, UploadStatus } from '../../../core/resources/upload/spec.ts';
import { type Leases, takeForWork } from '../../db/leases.ts';
import type { Db } from '../../db/pool.ts';
import { type Recorder, startRecorder } from '../as-run/recorder.ts';
import { forgetFacts } from '../as-run/store.ts';
import { listAirChanges } from '../uptime/changes.ts';
import { forgetAirChanges, readKnownStreams, recordAirChanges } from '../uptime/store.ts';
import { type Findings, findPlaylistNews, findStreamNews, findUploadNews } from './news.ts';
import type { EventObject, Snapshot } from './record.ts';
import { forgetObjects, type News, readMarks, rebaseEvents, type Subject, tell, writeMarks } from './store.ts';

const WORKERS = 8;
const BACKOFF = { baseMs: 250, maxMs: 30_000 };
const RETRY_MS = 2_000;

/** The caches of all accounts' objects. */
export interface WatchedObjects {
  streams: Reflector<KubeObject<LoopStreamSpec, LoopStreamStatus>>;
  uploads: Reflector<KubeObject<UploadSpec, UploadStatus>>;
  playlists: Reflector<KubeObject<PlaylistSpec, PlaylistStatus>>;
  destinations: Reflector<KubeObject<DestinationSpec, DestinationStatus>>;
  pods: Reflector<KubeObject<Pod['spec'], Pod['status']>>;
}

export interface CollectorDeps {
  db: Db;
  leases: Leases;
  caches: WatchedObjects;
  /** Returns an object as clients read it. It may throw for one that is gone, or cannot be read. */
  snapshot: (object: EventObject, accountId: string, objectId: string) => Snapshot | undefined;
  /** Resolves when the caches are filled. */
  ready: Promise<unknown>;
  log: Logger;
  clock?: Clock;
  /** Work of the server that is elected, until the signal aborts. Throws nothing. */
  alongside?: (signal: AbortSignal) => Promise<void>;
}

/** The cache of one kind of objects, and the functions that find its news. */
interface Source {
  object: EventObject;
  cache: Reflector<KubeObject>;
  find: (object: Stored<KubeObject>, mark: string, now: Date) => Findings;
  /** Writes what is kept for longer than events, in the transaction of the events. */
  record?: (trx: Db, subject: Subject, object: Stored<KubeObject>) => Promise<void>;
  /** Records what is no event. */
  follow?: (subject: Subject, object: Stored<KubeObject>) => Promise<void>;
}

const recordAir = (trx: Db, { accountId, objectId, uid }: Subject, stream: LoopStream): Promise<void> =>
  recordAirChanges(trx, { accountId, streamId: objectId, streamUid: uid }, listAirChanges(stream));

const listSources = ({ streams, uploads, playlists }: WatchedObjects, recorder: Recorder): Source[] =>
  [
    {
      ...{ object: 'stream', cache: streams, find: findStreamNews, record: recordAir },
      follow: ({ accountId }: Subject, stream: Stored<LoopStream>) => recorder.followStream(accountId, stream),
    },
    {
      ...{ object: 'upload', cache: uploads, find: findUploadNews },
      follow: ({ accountId }: Subject, upload: Upload) => recorder.followUpload(accountId, upload),
    },
    { object: 'playlist', cache: playlists, find: findPlaylistNews },
  ] as unknown as Source[];

/** Undefined for what belongs to no account. */
function findSubject({ metadata }: Stored<KubeObject>, object: EventObject): Subject | undefined {
  const accountId = metadata.labels?.[ACCOUNT_LABEL];
  return accountId ? { accountId, object, objectId: metadata.name, uid: metadata.uid } : undefined;
}

/** Begins when the caches are filled and no other server does it, until the process stops. */
export function startCollector(deps: CollectorDeps, lifecycle: Lifecycle): void {
  const { leases, ready, log } = deps;
  const run = async () => {
    await ready;
    while (!lifecycle.signal.aborted) {
      try {
        await collectWhileElected(deps, leases, lifecycle.signal);
      } catch (err) {
        if (lifecycle.signal.aborted) return;
        log.warn({ err }, 'events could not be collected; it is retried');
        await sleep(RETRY_MS, lifecycle.signal).catch(() => undefined);
      }
    }
  };
  const running = run().catch(() => undefined);
  lifecycle.defer('events', () => running);
}

async function collectWhileElected(deps: CollectorDeps, leases: Leases, stopping: AbortSignal): Promise<void> {
  const { lease, signal } = await takeForWork(leases, 'events', stopping);
  try {
    await collect(deps, signal);
  } finally {
    await lease.release();
  }
}

/** Until the signal aborts. */
async function collect(deps: CollectorDeps, signal: AbortSignal): Promise<void> {
  const { db, caches, log, clock = systemClock } = deps;
  const recorder = await startRecorder({ db, ...caches, now: () => clock.now() });
  const sources = listSources(caches, recorder);
  await rebaseEvents(db);
  const marks = await readMarks(db);
  if (marks.size === 0) await begin(db, sources, marks, clock.now());
  const uids = listUids([...sources.map(({ cache }) => cache), caches.destinations]);
  await forgetObjects(db, [...sources.map(({ object }) => object), 'destination'], uids);
  await forgetAirChanges(db, uids);
  await forgetFacts(db, uids);
  await recordUnknown(db, caches.streams);
  const tellObject = async (source: Source, key: string): Promise<RunOutcome | undefined> => {
    const [namespace = '', name = ''] = key.split('/');
    const object = source.cache.get(namespace, name);
    const subject = object && findSubject(object, source.object);
    if (!subject) return undefined;
    const now = clock.now();
    const { mark, lookAt } = source.find(object, marks.get(subject.uid) ?? '', now);
    if (marks.get(subject.uid) !== mark) {
      await db.transaction().execute(async (trx) => {
        await tell(trx, subject, (told) => {
          const found = source.find(object, told.mark, now);
          return { ...found, news: found.news.map((one) => complete(deps, subject, one, namespace)) };
        });
        await source.record?.(trx, subject, object);
      });
      marks.set(subject.uid, mark);
    }
    await source.follow?.(subject, object);
    return lookAt && { requeueAfterMs: Math.max(0, lookAt.getTime() - now.getTime()) };
  };
  const stops = sources.map((source) => {
    const process = (key: string) => tellObject(source, key);
    const queue = createQueue({ workers: WORKERS, process, backoff: BACKOFF, log: log.child({ job: 'events' }) });
    const unfollow = source.cache.onChange((key, object) => object && queue.add(key), { replay: true });
    return async () => {
      unfollow();
      await queue.stop();
    };
  });
  const work = deps.alongside?.(signal);
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  signal.addEventListener('abort', () => end(), { once: true });
  if (signal.aborted) end();
  await ended;
  recorder.stop();
  await Promise.all([work, ...stops.map((stop) => stop())]);
}

/** Adds what the caches know of the object of an event. */
function complete(deps: CollectorDeps, subject: Subject, news: News, namespace: string): News {
  const found = news.about && deps.caches.destinations.get(namespace, news.about.objectId);
  const { object, objectId } = news.about ?? subject;
  return {
    ...news,
    ...(found && {
      about: { object, objectId, uid: found.metadata.uid },
      data: { ...news.data, name: found.spec.displayName ?? found.metadata.name },
    }),
    snapshot: readSnapshot(deps, object, subject.accountId, objectId),
  };
}

function readSnapshot({ snapshot }: CollectorDeps, ...of: Parameters<CollectorDeps['snapshot']>): Snapshot | undefined {
  try {
    return snapshot(...of);
  } catch {
    return undefined;
  }
}

/** A mark of the outbox itself: that it has begun. */
const OUTBOX: Subject = { accountId: '', object: 'stream', objectId: '', uid: 'outbox' };

const listUids = (caches: readonly Pick<Reflector<KubeObject>, 'list'>[]): string[] => [
  OUTBOX.uid,
  ...caches.flatMap((cache) => cache.list().map(({ metadata }) => metadata.uid)),
];

/** The outbox is new: what was there before is no news. */
async function begin(db: Db, sources: readonly Source[], marks: Map<string, string>, now: Date): Promise<void> {
  const known = sources.flatMap(({ object, cache, find }) =>
    cache.list().flatMap((one) => {
      const subject = findSubject(one, object);
      return subject ? [{ ...subject, mark: find(one, '', now).mark }] : [];
    }),
  );
  await writeMarks(db, [{ ...OUTBOX, mark: '' }, ...known]);
  for (const { uid, mark } of known) marks.set(uid, mark);
}

/** Records what the resources still know of streams of which nothing is recorded, as those of an earlier release. */
async function recordUnknown(db: Db, streams: WatchedObjects['streams']): Promise<void> {
  const all = streams.list();
  const known = await readKnownStreams(
    db,
    all.map(({ metadata }) => metadata.uid),
  );
  for (const stream of all) {
    const subject = findSubject(stream, 'stream');
    if (subject && !known.has(subject.uid)) await recordAir(db, subject, stream);
  }
}
