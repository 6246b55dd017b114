/**
 * Finds the news of an object since its last event, by the mark that was kept with that. Ids follow from the object alone, so that an
 * event that is found again, after a crash or a restored backup, has the same id. Pure: no I/O, no clock.
 */
import { kubeTime } from '../../../core/lib/clock.ts';
import { findFix } from '../../../core/lib/codes/codes.ts';
import { DROPPED_RULES, READINESS_ISSUES } from '../../../core/lib/codes/streams.ts';
import { type Condition, findCondition } from '../../../core/resources/common/conditions.ts';
import type { Playlist } from '../../../core/resources/playlist/resource.ts';
import { readPublished } from '../../../core/resources/playlist/spec.ts';
import { describeDroppedRule } from '../../../core/resources/stream/dropped-rules.ts';
import { findNextStart } from '../../../core/resources/stream/recurrence.ts';
import type { LoopStream } from '../../../core/resources/stream/resource.ts';
import { isWanted } from '../../../core/resources/stream/spec.ts';
import type { Transition } from '../../../core/resources/stream/transitions.ts';
import { findUploadName } from '../../../core/resources/upload/name.ts';
import { QUARANTINED_CONDITION } from '../../../core/resources/upload/quarantine.ts';
import type { Upload } from '../../../core/resources/upload/resource.ts';
import { describeCause } from '../streams/cause.ts';
import { type AccountEventType, buildEventId, NO_DATA } from './record.ts';
import type { News } from './store.ts';

export interface Findings {
  news: News[];
  mark: string;
  /** When there may be news though nothing changes. */
  lookAt?: Date;
}

/** PlatformView is no event. */
const STREAM_TYPES: Record<Exclude<Transition['kind'], 'PlatformView'>, AccountEventType> = {
  Live: 'stream.live',
  Reconnecting: 'stream.reconnecting',
  OffAir: 'stream.off_air',
  Recovered: 'stream.recovered',
  Stopped: 'stream.stopped',
  Degraded: 'stream.degraded',
  StartMissed: 'stream.scheduled_start_missed',
  Rejected: 'destination.rejected',
  PlatformLive: 'platform.live',
  PlatformEnded: 'platform.ended',
  PlatformHealth: 'platform.health',
};

/** How long before its start a window is told. */
export const UPCOMING_MS = 15 * 60_000;

/**
 * Numbers are missing between the last event and the first transition that is still there, where transitions were lost. The mark is the
 * number of the last transition, the start that was told last, and the number of the last rule that was left out.
 */
export function findStreamNews(stream: LoopStream, mark: string, now: Date): Findings {
  const [known = '', told = '', dropped = ''] = mark.split(' ');
  const start = findUpcoming(stream, now);
  const near = start && start.getTime() - now.getTime() <= UPCOMING_MS ? kubeTime(start) : undefined;
  const last = stream.status?.transitions?.at(-1)?.number ?? '';
  const lastDropped = stream.status?.droppedRules?.at(-1)?.number ?? '';
  const news = [...tellTransitions(stream, Number(known)), ...tellDropped(stream, Number(dropped))];
  if (near !== undefined && near !== told) news.push(tellUpcoming(stream, near, now));
  return {
    news,
    mark: `${last} ${near ?? told} ${lastDropped}`.trimEnd(),
    ...(start && { lookAt: near === undefined ? new Date(start.getTime() - UPCOMING_MS) : start }),
  };
}

const findUpcoming = ({ metadata, spec }: LoopStream, now: Date): Date | undefined =>
  metadata.deletionTimestamp || !isWanted(spec) ? undefined : findNextStart(spec.schedule, now);

const readName = ({ metadata, spec }: LoopStream): string => spec.displayName ?? metadata.name ?? '';

const tellUpcoming = (stream: LoopStream, startAt: string, now: Date): News => ({
  id: buildEventId(stream.metadata.uid, `start_${Date.parse(startAt) / 1000}`),
  type: 'schedule.upcoming',
  at: now,
  data: { ...NO_DATA, name: readName(stream), startAt: new Date(startAt).toISOString() },
});

function tellTransitions(stream: LoopStream, known: number): News[] {
  let last = known;
  let skipped = 0;
  return (stream.status?.transitions ?? [])
    .filter(({ number }) => number > known)
    .flatMap((one): News[] => {
      const { kind } = one;
      skipped += one.number - last - 1;
      last = one.number;
      if (kind === 'PlatformView') return [];
      if (kind === 'Rejected') return [tellRejected(stream, one)];
      const news = {
        id: buildEventId(stream.metadata.uid, one.number),
        type: STREAM_TYPES[kind],
        at: new Date(one.at),
        data: {
          ...NO_DATA,
          name: readName(stream),
          ...describeCause(one),
          destinationID: one.destination ?? null,
          offAirSeconds: one.offAirSeconds === undefined ? null : Math.round(one.offAirSeconds),
        },
        skipped,
      };
      skipped = 0;
      return [news];
    });
}

function tellDropped(stream: LoopStream, known: number): News[] {
  let last = known;
  return (stream.status?.droppedRules ?? [])
    .filter(({ number }) => number > known)
    .map((one): News => {
      const { number, rule, dueAt, at, reason, count, since } = one;
      const skipped = number - last - 1;
      last = number;
      const { code, fix } = DROPPED_RULES[reason];
      return {
        id: buildEventId(stream.metadata.uid, `dropped_${number}`),
        type: 'insert.dropped',
        at: new Date(at),
        data: {
          ...NO_DATA,
          name: readName(stream),
          code,
          message: describeDroppedRule(one),
          fix,
          rule,
          dueAt: new Date(dueAt).toISOString(),
          count,
          since: new Date(since).toISOString(),
        },
        skipped,
      };
    });
}

/** The event is about the destination: the collector knows more of it than its name. */
function tellRejected({ metadata }: LoopStream, transition: Transition): News {
  const { number, at, destination = '' } = transition;
  const cause = describeCause(transition);
  const fix = findFix(cause.code ?? undefined, 'destination') ?? null;
  return {
    id: buildEventId(metadata.uid, number),
    type: STREAM_TYPES.Rejected,
    at: new Date(at),
    data: { ...NO_DATA, name: destination, ...cause, fix, streamID: metadata.name ?? null },
    about: { object: 'destination', objectId: destination, uid: '' },
  };
}

const UPLOAD_QUARANTINED = READINESS_ISSUES.UploadQuarantined;
const HELD = 'quarantined';

/**
 * An upload that is being fetched has no event. Its mark still changes, since the upload may become ready again. The mark is its phase, and
 * whether it is in quarantine.
 */
export function findUploadNews(upload: Upload, mark: string, now: Date): Findings {
  const [phase = '', held] = mark.split(' ');
  const quarantine = findCondition(upload.status?.conditions, QUARANTINED_CONDITION);
  const isHeld = quarantine?.status === 'True';
  return {
    news: [
      ...findPhaseNews(upload, phase, now),
      ...(quarantine && isHeld !== (held === HELD) ? [tellQuarantine(upload, quarantine)] : []),
    ],
    mark: `${upload.status?.phase ?? ''} ${isHeld ? HELD : ''}`.trimEnd(),
  };
}

const readUploadName = (upload: Upload): string => findUploadName(upload) ?? upload.metadata.name ?? '';

function tellQuarantine(upload: Upload, { status, lastTransitionTime }: Condition): News {
  const at = new Date(lastTransitionTime);
  const type = status === 'True' ? 'upload.quarantined' : 'upload.released';
  const code = UPLOAD_QUARANTINED;
  const cause = { code: code.code, message: upload.spec.quarantine?.reason ?? null, fix: code.fix };
  return {
    id: buildEventId(upload.metadata.uid, `${type.slice('upload.'.length)}_${Math.floor(at.getTime() / 1000)}`),
    type,
    at,
    data: { ...NO_DATA, name: readUploadName(upload), ...(status === 'True' && cause) },
  };
}

function findPhaseNews(upload: Upload, known: string, now: Date): News[] {
  const { metadata, status } = upload;
  const phase = status?.phase ?? '';
  if (phase === known || (phase !== 'ready' && phase !== 'failed')) return [];
  const since = findCondition(status?.conditions, 'Ready')?.lastTransitionTime;
  const at = since === undefined ? now : new Date(since);
  const { code, message } = (phase === 'failed' && status?.error) || {};
  const data = {
    ...NO_DATA,
    name: readUploadName(upload),
    ...(code !== undefined && { code, message: message ?? null, fix: findFix(code, 'uploadError') ?? null }),
  };
  const id = buildEventId(metadata.uid, `${phase}_${Math.floor(at.getTime() / 1000)}`);
  return [{ id, type: phase === 'ready' ? 'upload.ready' : 'upload.failed', at, data }];
}

export function findPlaylistNews(playlist: Playlist, mark: string, now: Date): Findings {
  const published = String(readPublished(playlist)?.version ?? '');
  if (published === mark || published === '') return { news: [], mark: published };
  const { metadata, spec } = playlist;
  const data = { ...NO_DATA, name: spec.displayName ?? metadata.name ?? '', version: Number(published) };
  const id = buildEventId(metadata.uid, `v${published}`);
  return { news: [{ id, type: 'playlist.published', at: now, data }], mark: published };
}
