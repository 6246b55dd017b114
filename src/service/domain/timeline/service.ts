/** Tells what a stream plays when: the timeline of the program that its pod has, from the caches of Kubernetes. */
import type { Pod } from '../../../core/kube/core.ts';
import type { Reflector } from '../../../core/kube/reflector.ts';
import type { KubeObject } from '../../../core/kube/types.ts';
import { type Clock, systemClock } from '../../../core/lib/clock.ts';
import { memoize } from '../../../core/lib/memoize.ts';
import type { ExplainAsked } from '../../../core/programme/explain.ts';
import { explainStream } from '../../../core/programme/explain-air.ts';
import { formatTimeline, type TimelineFormat } from '../../../core/programme/formats.ts';
import { enterNear } from '../../../core/programme/near.ts';
import { type OnAirList, readOnAir } from '../../../core/programme/on-air.ts';
import { describeMoment, listPlanned } from '../../../core/programme/plan.ts';
import { PROGRAMME_TRACKS, type ProgrammeTrack } from '../../../core/programme/tracks.ts';
import { readPodProgram } from '../../../core/protocol/to-streamer.ts';
import type { LoopStream } from '../../../core/resources/stream/resource.ts';
import { ON_AIR_PHASES } from '../../../core/resources/stream/spec.ts';
import type { Upload } from '../../../core/resources/upload/resource.ts';
import { validationFailed } from '../../lib/errors.ts';
import type { OwnedResources } from '../limits/owned-resources.ts';
import { computePhase } from '../streams/view.ts';
import { type AskedSpan, readMoment, readSpan } from './range.ts';
import type { StreamExplanation, StreamNow, StreamTimeline } from './record.ts';

export const DEFAULT_TIMELINE_ITEMS = 100;
export const MAX_TIMELINE_ITEMS = 1000;
/** Items of one export: four months of 3 minutes each, or two days of 3 seconds. */
const MAX_EXPORTED = 60_000;
const COUNTS = { next: 3, last: 10 };

export interface TimelineAsked extends AskedSpan {
  track?: ProgrammeTrack | undefined;
  limit?: number | undefined;
}

export interface ExplanationAsked {
  at?: string | undefined;
  /** One of these two. */
  rule?: string | undefined;
  uploadObjectID?: string | undefined;
  track?: ProgrammeTrack | undefined;
}

/** Throws `validation_failed`. */
function readAsked({ rule, uploadObjectID }: ExplanationAsked): ExplainAsked {
  if (rule !== undefined && uploadObjectID === undefined) return { rule };
  if (uploadObjectID !== undefined && rule === undefined) return { upload: uploadObjectID };
  const message =
    rule === undefined ? 'or `uploadObjectID` must be given' : 'cannot be given together with `uploadObjectID`';
  throw validationFailed([{ path: '/rule', message }]);
}

export type TimelineService = ReturnType<typeof createTimelineService>;

export interface TimelineServiceDeps {
  streams: Pick<OwnedResources<LoopStream>, 'get'>;
  uploads: Pick<OwnedResources<Upload>, 'find'>;
  /** Needs the index `stream`. */
  pods: Pick<Reflector<KubeObject<Pod['spec'], Pod['status']>>, 'byIndex'>;
  clock?: Clock;
}

export function createTimelineService({ streams, uploads, pods, clock = systemClock }: TimelineServiceDeps) {
  // A program may have hundreds of items. Objects of the cache are never changed.
  const readProgram = memoize(readPodProgram);

  /** Returns the list on air; undefined while the stream is off air, or has no such list. Throws `stream_not_found`. */
  const find = (accountId: string, stream: LoopStream, track: ProgrammeTrack, now: Date): OnAirList | undefined => {
    if (!ON_AIR_PHASES.includes(computePhase(stream, now))) return undefined;
    const { name, namespace } = stream.metadata;
    const own = pods.byIndex('stream', name).filter(({ metadata }) => metadata.namespace === namespace);
    const pod = own.find(({ metadata }) => metadata.uid === stream.status?.podUID) ?? own[0];
    const program = pod && readProgram(pod);
    return program && readOnAir(stream, program, track, { findUpload: (id) => uploads.find(accountId, id), now });
  };

  const toTime = (ms: number | undefined): string | null => (ms === undefined ? null : new Date(ms).toISOString());
  const describe = (list: OnAirList | undefined, track: ProgrammeTrack) => ({
    onAir: list !== undefined,
    track,
    exactUntil: toTime(list?.exactUntilMs),
  });

  return {
    /** Throws `stream_not_found` and `validation_failed`. */
    get(accountId: string, id: string, asked: TimelineAsked = {}): StreamTimeline {
      const { track = 'video', limit = DEFAULT_TIMELINE_ITEMS } = asked;
      const stream = streams.get(accountId, id);
      const now = clock.now();
      const { fromMs, toMs } = readSpan(asked, now);
      const list = find(accountId, stream, track, now);
      const part = list && listPlanned(list, fromMs, toMs, limit);
      return {
        from: new Date(fromMs).toISOString(),
        to: new Date(toMs).toISOString(),
        ...describe(list, track),
        items: part?.items ?? [],
        nextFrom: toTime(part?.nextMs),
      };
    },

    /** The whole span as text. Throws as `get` does. */
    export(accountId: string, id: string, format: TimelineFormat, asked: Omit<TimelineAsked, 'limit'>): string {
      const stream = streams.get(accountId, id);
      const now = clock.now();
      const { fromMs, toMs } = readSpan(asked, now);
      const list = find(accountId, stream, asked.track ?? 'video', now);
      const part = list && listPlanned(list, fromMs, toMs, MAX_EXPORTED);
      if (part?.nextMs !== undefined)
        throw validationFailed([
          { path: '/to', message: `must be earlier: the span has more than ${MAX_EXPORTED} items` },
        ]);
      const channel = { id, name: stream.spec.displayName ?? id, now };
      return formatTimeline(format, channel, part?.items ?? []);
    },

    /** Why a rule or an upload plays at a time, or does not. Throws `stream_not_found` and `validation_failed`. */
    explain(accountId: string, id: string, asked: ExplanationAsked): StreamExplanation {
      const stream = streams.get(accountId, id);
      const now = clock.now();
      const at = readMoment(asked.at, now);
      const { rule = null, uploadObjectID = null, track } = asked;
      const lists = Object.fromEntries(
        PROGRAMME_TRACKS.flatMap((kind) => {
          const list = find(accountId, stream, kind, now);
          return list ? [[kind, list] as const] : [];
        }),
      );
      const { window, ...explained } = explainStream(
        { stream, phase: computePhase(stream, now), lists, track, asked: readAsked(asked), atMs: at.getTime(), now },
        { findUpload: (name) => uploads.find(accountId, name) },
      );
      const windowTimes = { windowStartAt: window?.startAt ?? null, windowEndAt: window?.endAt ?? null };
      return { at: at.toISOString(), rule, uploadObjectID, ...explained, ...windowTimes };
    },

    /** Throws `stream_not_found`. */
    now(accountId: string, id: string, { track = 'video' }: Pick<TimelineAsked, 'track'> = {}): StreamNow {
      const stream = streams.get(accountId, id);
      const now = clock.now();
      const list = find(accountId, stream, track, now);
      const moment = list && describeMoment(enterNear(list, now.getTime(), COUNTS.last), now.getTime(), COUNTS);
      const { current = null, next = [], last = [] } = moment ?? {};
      const secondsSince = (time: string) => Math.max(0, (now.getTime() - Date.parse(time)) / 1000);
      return {
        ...describe(list, track),
        current,
        elapsedSeconds: current && secondsSince(current.startAt),
        remainingSeconds: current && Math.max(0, (Date.parse(current.endAt) - now.getTime()) / 1000),
        next,
        last,
      };
    },
  };
}
