/**
 * Sends `item.started` to the webhooks that name it. The starts are those of the timeline while the stream is on air, and nobody records
 * them: an event for each item of each stream would be thousands of writes a second. Where no webhook wants them, they cost one query in a while.
 */
import { isDeepStrictEqual } from 'node:util';
import { getKey } from '../../../../core/kube/paths.ts';
import { createQueue, type RunOutcome } from '../../../../core/kube/queue.ts';
import { type Clock, sleep, systemClock } from '../../../../core/lib/clock.ts';
import type { Logger } from '../../../../core/lib/log.ts';
import { PROGRAMME_TRACKS } from '../../../../core/programme/tracks.ts';
import { ACCOUNT_LABEL } from '../../../../core/resources/common/names.ts';
import type { LoopStream } from '../../../../core/resources/stream/resource.ts';
import type { Upload } from '../../../../core/resources/upload/resource.ts';
import { findTags } from '../../../../core/resources/upload/tags.ts';
import type { Db } from '../../../db/pool.ts';
import type { WatchedObjects } from '../../events/collector.ts';
import { type AccountEvent, buildEventId, NO_DATA, type StartedItem } from '../../events/record.ts';
import type { OwnedResources } from '../../limits/owned-resources.ts';
import { computePhase } from '../../streams/view.ts';
import type { TimelineService } from '../../timeline/service.ts';
import { findNextLookMs, isNewStart, type KnownStart } from './starts.ts';
import { queueStart, readLastStarts, readSubscribers, type WantedStreams } from './store.ts';

/** A new endpoint gets its first event after this time at most. */
const REFRESH_MS = 15_000;
const WORKERS = 4;
const BACKOFF = { baseMs: 1_000, maxMs: 60_000 };

export interface ItemStartsDeps {
  db: Db;
  /** The streams of all accounts. */
  streams: WatchedObjects['streams'];
  uploads: Pick<OwnedResources<Upload>, 'find'>;
  timeline: Pick<TimelineService, 'now'>;
  loadAccount: (accountId: string) => Promise<void>;
  log: Logger;
  clock?: Clock;
}

type Subscribers = ReadonlyMap<string, WantedStreams>;

/** Returns the account of a stream whose starts a webhook wants; undefined of all others. */
function findAccount({ metadata: { labels, name } }: LoopStream, subscribers: Subscribers): string | undefined {
  const accountId = labels?.[ACCOUNT_LABEL] ?? '';
  const isWanted = subscribers.has(accountId) && subscribers.get(accountId)?.has(name) !== false;
  return isWanted ? accountId : undefined;
}

/** Runs until the signal aborts, at the server that is elected for it. Throws nothing. */
export async function sendItemStarts(deps: ItemStartsDeps, signal: AbortSignal): Promise<void> {
  const { db, streams, log } = deps;
  let subscribers: Subscribers = new Map();
  const told = new Map<string, KnownStart>();
  const process = async (key: string): Promise<RunOutcome | undefined> => {
    const [namespace = '', name = ''] = key.split('/');
    const stream = streams.get(namespace, name);
    const accountId = stream && findAccount(stream, subscribers);
    if (stream && accountId !== undefined) return tellStarts(deps, accountId, stream, told);
    for (const track of PROGRAMME_TRACKS) told.delete(`${name} ${track}`);
    return undefined;
  };
  const queue = createQueue({ workers: WORKERS, process, backoff: BACKOFF, log: log.child({ job: 'item starts' }) });
  let unfollow: (() => void) | undefined;

  const refresh = async (): Promise<void> => {
    const before = subscribers;
    const next = await readSubscribers(db);
    if (before.size === 0 && next.size > 0)
      for (const { objectId, item } of await readLastStarts(db)) told.set(`${objectId} ${item.track}`, item);
    subscribers = next;
    if (next.size > 0) unfollow ??= streams.onChange((key) => queue.add(key));
    else unfollow = void unfollow?.();
    const isNew = (accountId: string) =>
      !isDeepStrictEqual([before.get(accountId)], [next.get(accountId)]) || !before.has(accountId);
    const fresh = new Set([...next.keys()].filter(isNew));
    if (fresh.size === 0) return;
    for (const stream of streams.list()) if (fresh.has(findAccount(stream, next) ?? '')) queue.add(getKey(stream));
  };

  while (!signal.aborted) {
    await refresh().catch((err) => log.warn({ err }, 'webhooks for starts of items could not be read; it is retried'));
    await sleep(REFRESH_MS, signal).catch(() => undefined);
  }
  unfollow?.();
  await queue.stop();
}

/** Tells what begins on air now, and requeues the stream for the next item. One that is not live is processed when it changes. */
async function tellStarts(
  { db, uploads, timeline, loadAccount, clock = systemClock }: ItemStartsDeps,
  accountId: string,
  stream: LoopStream,
  told: Map<string, KnownStart>,
): Promise<RunOutcome | undefined> {
  if (computePhase(stream, clock.now()) !== 'live') return undefined;
  await loadAccount(accountId);
  const { name: id } = stream.metadata;
  const now = clock.now();
  const times = { nowMs: now.getTime(), liveSinceMs: Date.parse(stream.status?.liveSince ?? '') || 0 };
  const waits: number[] = [];
  for (const track of PROGRAMME_TRACKS) {
    const moment = timeline.now(accountId, id, { track });
    if (!moment.onAir) continue;
    waits.push(findNextLookMs(moment, times.nowMs));
    const { current } = moment;
    const key = `${id} ${track}`;
    if (!current || !isNewStart(current, told.get(key), times)) continue;
    const upload = uploads.find(accountId, current.id);
    const { title = null, artist = null, album = null } = upload ? findTags(upload) : {};
    await queueStart(db, accountId, buildStart(stream, { ...current, track, title, artist, album }));
    told.set(key, current);
  }
  return waits.length > 0 ? { requeueAfterMs: Math.min(...waits) } : undefined;
}

/** The id follows from the moment, so two servers that both believe they are elected send one event. */
const buildStart = ({ metadata, spec }: LoopStream, item: StartedItem): AccountEvent => ({
  id: buildEventId(metadata.uid, `item_${item.track}_${Date.parse(item.startAt)}`),
  type: 'item.started',
  timestamp: item.startAt,
  object: 'stream',
  objectID: metadata.name,
  seq: 0,
  data: { ...NO_DATA, name: spec.displayName ?? metadata.name, item },
  snapshot: null,
});
