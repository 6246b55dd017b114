/**
 * Finds the news of an object since its last event, by the mark that was kept with that. Ids follow from the object alone, so that an
 * event that is found again, after a crash or a restored backup, has the same id. Pure: no I/O, no clock.
 */
import { findFix } from '../../../core/lib/codes/codes.ts';
import { findStreamCode } from '../../../core/lib/codes/streams.ts';
import { findCondition } from '../../../core/resources/common/conditions.ts';
import type { Playlist } from '../../../core/resources/playlist/resource.ts';
import { readPublished } from '../../../core/resources/playlist/spec.ts';
import { getReasonCode } from '../../../core/resources/stream/readiness.ts';
import type { LoopStream } from '../../../core/resources/stream/resource.ts';
import type { Transition } from '../../../core/resources/stream/transitions.ts';
import { findUploadName } from '../../../core/resources/upload/name.ts';
import type { Upload } from '../../../core/resources/upload/resource.ts';
import { type AccountEventType, type EventData, NO_DATA } from './record.ts';
import type { News } from './store.ts';

export interface Findings {
  news: News[];
  mark: string;
}

const buildId = (uid: string, what: string | number): string => `evt_${uid.replaceAll('-', '')}_${what}`;

const STREAM_TYPES: Record<Transition['kind'], AccountEventType> = {
  Live: 'stream.live',
  Reconnecting: 'stream.reconnecting',
  OffAir: 'stream.off_air',
  Recovered: 'stream.recovered',
  Stopped: 'stream.stopped',
  Degraded: 'stream.degraded',
  StartMissed: 'stream.scheduled_start_missed',
};

/** A stop that was wanted, and a reconnection, have a reason that is no code of a problem. */
function describeCause({ kind, reason, message }: Transition): Pick<EventData, 'code' | 'message' | 'fix'> {
  if (reason === undefined || kind === 'Stopped') return { code: null, message: message ?? null, fix: null };
  return { code: getReasonCode(reason), message: message ?? null, fix: findStreamCode(reason)?.fix ?? null };
}

export const markStream = ({ status }: LoopStream): string => String(status?.transitions?.at(-1)?.number ?? '');

/** Numbers are missing between the last event and the first transition that is still there, where transitions were lost. */
export function findStreamNews(stream: LoopStream, mark: string): Findings {
  const { metadata, spec, status } = stream;
  let last = Number(mark);
  const news = (status?.transitions ?? [])
    .filter(({ number }) => number > last)
    .map((one): News => {
      const skipped = one.number - last - 1;
      last = one.number;
      const name = spec.displayName ?? metadata.name ?? '';
      return {
        id: buildId(metadata.uid, one.number),
        type: STREAM_TYPES[one.kind],
        at: new Date(one.at),
        data: { ...NO_DATA, name, ...describeCause(one), offAirSeconds: one.offAirSeconds ?? null },
        skipped,
      };
    });
  return { news, mark: markStream(stream) };
}

/** An upload that is being fetched has no event. Its mark still changes, since the upload may become ready again. */
export const markUpload = ({ status }: Upload): string => status?.phase ?? '';

export function findUploadNews(upload: Upload, mark: string, now: Date): Findings {
  const { metadata, status } = upload;
  const phase = markUpload(upload);
  if (phase === mark || (phase !== 'ready' && phase !== 'failed')) return { news: [], mark: phase };
  const since = findCondition(status?.conditions, 'Ready')?.lastTransitionTime;
  const at = since === undefined ? now : new Date(since);
  const { code, message } = (phase === 'failed' && status?.error) || {};
  const data = {
    ...NO_DATA,
    name: findUploadName(upload) ?? metadata.name ?? '',
    ...(code !== undefined && { code, message: message ?? null, fix: findFix(code, 'uploadError') ?? null }),
  };
  const id = buildId(metadata.uid, `${phase}_${Math.floor(at.getTime() / 1000)}`);
  return { news: [{ id, type: phase === 'ready' ? 'upload.ready' : 'upload.failed', at, data }], mark: phase };
}

export const markPlaylist = (playlist: Playlist): string => String(readPublished(playlist)?.version ?? '');

export function findPlaylistNews(playlist: Playlist, mark: string, now: Date): Findings {
  const published = markPlaylist(playlist);
  if (published === mark || published === '') return { news: [], mark: published };
  const { metadata, spec } = playlist;
  const data = { ...NO_DATA, name: spec.displayName ?? metadata.name ?? '', version: Number(published) };
  const id = buildId(metadata.uid, `v${published}`);
  return { news: [{ id, type: 'playlist.published', at: now, data }], mark: published };
}
