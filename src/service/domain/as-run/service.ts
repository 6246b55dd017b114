/** Reads what a stream played: computed from its recorded moves, and from when it was on air. */
import type { Pod } from '../../../core/kube/core.ts';
import type { Reflector } from '../../../core/kube/reflector.ts';
import type { KubeObject } from '../../../core/kube/types.ts';
import { type Clock, systemClock } from '../../../core/lib/clock.ts';
import { type AiredItem, type AirSpan, listAired, listStretches } from '../../../core/programme/as-run.ts';
import { identifyLists, type PlayedList } from '../../../core/programme/identity.ts';
import type { ProgrammeTrack } from '../../../core/programme/tracks.ts';
import { readPodProgram } from '../../../core/protocol/to-streamer.ts';
import type { Fact } from '../../../core/resources/stream/facts.ts';
import type { LoopStream } from '../../../core/resources/stream/resource.ts';
import { listTrackItems } from '../../../core/resources/stream/track-items.ts';
import type { Upload } from '../../../core/resources/upload/resource.ts';
import type { Db } from '../../db/pool.ts';
import { validationFailed } from '../../lib/errors.ts';
import type { OwnedResources } from '../limits/owned-resources.ts';
import { listAirChanges } from '../uptime/changes.ts';
import { listPeriods, type TimeRange } from '../uptime/compute.ts';
import { type AskedRange, readRange } from '../uptime/range.ts';
import { readAirChanges } from '../uptime/store.ts';
import type { StreamAsRun, StreamAsRunTotals } from './record.ts';
import { describeUpload } from './recorded-item.ts';
import { addPlays, asRunCsv, listGaps, readWords, showItem, totalsCsv } from './show.ts';
import * as store from './store.ts';

export const DEFAULT_AS_RUN_ITEMS = 100;
export const MAX_AS_RUN_ITEMS = 1000;
export const AS_RUN_DAYS = { usual: 1, most: 31 };
/** Items of one report: a month of 45 seconds each. */
const MAX_REPORTED = 60_000;
const MAX_FACTS_READ = 20_000;
const MAX_CHANGES = 20_000;
/** An item that is on air at the begin of a span began at most so long before. */
const BEFORE_MS = 86_400_000;

export interface AsRunAsked extends AskedRange {
  track?: ProgrammeTrack | undefined;
  limit?: number | undefined;
}

export interface AsRunServiceDeps {
  db: Db;
  streams: Pick<OwnedResources<LoopStream>, 'get'>;
  uploads: Pick<OwnedResources<Upload>, 'find'>;
  /** Needs the index `stream`. */
  pods: Pick<Reflector<KubeObject<Pod['spec'], Pod['status']>>, 'byIndex'>;
  clock?: Clock;
}

function takeMost<T>(some: Iterable<T>, most: number): T[] {
  const taken: T[] = [];
  for (const one of some) if (taken.push(one) >= most) break;
  return taken;
}

export type AsRunService = ReturnType<typeof createAsRunService>;

export function createAsRunService({ db, streams, uploads, pods, clock = systemClock }: AsRunServiceDeps) {
  /** The facts of a span. The resource knows what happened since the last look of the recorder. */
  async function readFacts(
    { metadata, status }: LoopStream & { metadata: { uid: string } },
    track: ProgrammeTrack,
    range: TimeRange,
  ) {
    const recorded = await store.readFacts(db, metadata.uid, { ...range, track, limit: MAX_FACTS_READ });
    const known = new Map<number, Fact>([...(status?.facts ?? []), ...recorded].map((fact) => [fact.number, fact]));
    return [...known.values()]
      .filter(({ from }) => Date.parse(from) < range.to.getTime())
      .toSorted((a, b) => a.number - b.number);
  }

  /** The lists that facts name. One that is on air may not be recorded yet. */
  async function readLists({ metadata }: LoopStream & { metadata: { uid: string } }, facts: readonly Fact[]) {
    const hashes = [...new Set(facts.map(({ programme }) => programme))];
    const lists = await store.readLists(db, metadata.uid, hashes);
    if (hashes.every((hash) => lists.has(hash))) return lists;
    for (const pod of pods.byIndex('stream', metadata.name)) {
      if (pod.metadata.namespace !== metadata.namespace) continue;
      for (const [hash, list] of identifyLists(readPodProgram(pod))) lists.set(hash, list);
    }
    return lists;
  }

  async function findWords(accountId: string, lists: Iterable<PlayedList>) {
    const ids = [...new Set([...lists].flatMap(({ track }) => listTrackItems(track).map(({ id }) => id)))];
    const versions = await store.readItems(db, accountId, ids);
    const current = ids.flatMap((id) => {
      const upload = uploads.find(accountId, id);
      return upload ? [[id, describeUpload(upload)] as const] : [];
    });
    return readWords(versions, new Map(current));
  }

  /** Everything that the answers are computed from. */
  async function read(accountId: string, id: string, { track = 'video', ...asked }: AsRunAsked) {
    const stream = streams.get(accountId, id);
    const now = clock.now();
    const range = readRange(asked, now, AS_RUN_DAYS);
    const facts = await readFacts(stream, track, range);
    const lists = await readLists(stream, facts);
    const stretches = listStretches(facts, track, (hash) => lists.get(hash));
    const words = await findWords(
      accountId,
      stretches.flatMap(({ list }) => list ?? []),
    );
    const from = new Date(range.from.getTime() - BEFORE_MS);
    const changes = await readAirChanges(db, stream.metadata.uid, { from, limit: MAX_CHANGES });
    const isCut = changes.length === MAX_CHANGES;
    const periods = listPeriods([...listAirChanges(stream), ...changes], { from, to: now }, { isCut });
    const onAir = periods.flatMap(({ state, startedAt, endedAt }): AirSpan[] =>
      state === 'onAir' ? [{ startMs: startedAt.getTime(), endMs: (endedAt ?? now).getTime() }] : [],
    );
    const span = { startMs: range.from.getTime(), endMs: range.to.getTime() };
    const { findLength } = words;
    return {
      shared: { from: range.from.toISOString(), to: range.to.toISOString(), track },
      span,
      aired: listAired(stretches, span, { onAir, nowMs: now.getTime(), findLength }),
      show: (aired: AiredItem) => showItem(aired, words),
      listGaps: (endMs: number) => listGaps(periods, stretches, { startMs: span.startMs, endMs }),
    };
  }

  /** All items of a span. Throws `validation_failed` for too many. */
  async function readAll(accountId: string, id: string, asked: AsRunAsked) {
    const { aired, show, ...found } = await read(accountId, id, asked);
    const items = takeMost(aired, MAX_REPORTED + 1).map(show);
    if (items.length > MAX_REPORTED)
      throw validationFailed([
        { path: '/to', message: `must be earlier: the span has more than ${MAX_REPORTED} items` },
      ]);
    return { ...found, items };
  }

  return {
    /** Throws `stream_not_found` and `validation_failed`. */
    async get(accountId: string, id: string, asked: AsRunAsked = {}): Promise<StreamAsRun> {
      const { limit = DEFAULT_AS_RUN_ITEMS } = asked;
      const { shared, span, aired, show, listGaps: list } = await read(accountId, id, asked);
      const found = takeMost(aired, limit + 1);
      const next = found[limit];
      return {
        ...shared,
        items: found.slice(0, limit).map(show),
        gaps: list(next?.startMs ?? span.endMs),
        nextFrom: next ? new Date(next.startMs).toISOString() : null,
      };
    },

    /** The whole span. Throws as `get` does. */
    csv: async (accountId: string, id: string, asked: AsRunAsked): Promise<string> =>
      asRunCsv((await readAll(accountId, id, asked)).items),

    /** The plays of a span by item. A play counts where it began, so those of parts add up. Throws as `get` does. */
    async totals(accountId: string, id: string, asked: AsRunAsked = {}): Promise<StreamAsRunTotals> {
      const { shared, span, items, listGaps: list } = await readAll(accountId, id, asked);
      const begun = items.filter(({ startAt }) => Date.parse(startAt) >= span.startMs);
      const isKnown = list(span.endMs).every(({ reason }) => reason !== 'unknown');
      return { ...shared, exact: isKnown && items.every(({ exact }) => exact), items: addPlays(begun) };
    },

    totalsCsv,
  };
}
