/** How far a stream that was just made is on its way to air. Pure: no I/O, no clock. */
import type { ReadinessIssue, Upload } from '../../../service/client/index.ts';
import type { Readiness, Stream } from '../../api/api.ts';

export interface Stage {
  label: string;
  state: 'done' | 'now' | 'later' | 'failed';
  /** A sentence on what the stage waits for, or what went wrong. */
  detail?: string;
  fix?: string;
  /** From 0 to 1, while that is known. */
  progress?: number;
}

const WAITING: readonly string[] = [
  'media_importing',
  'media_preparing',
  'media_awaits_credit',
  'media_awaits_gate',
  'not_checked',
];
const MEDIA_FIELDS: readonly string[] = ['videoUploadObjectID', 'playlistIDs', 'audioPlaylistIDs'];
const ON_AIR: readonly string[] = ['live', 'reconnecting'];

function failed(label: string, { message, fix }: ReadinessIssue): Stage {
  return { label, state: 'failed', detail: message, fix };
}

/** Fetched, prepared, connected, live: each stage is done, under way, to come or in the way. */
export function computeStages(stream: Stream, readiness: Readiness | undefined, upload: Upload | undefined): Stage[] {
  const issues = readiness?.issues ?? [];
  const onAir = ON_AIR.includes(stream.status);
  const started = onAir || stream.status === 'starting';
  const wrong = issues.find(({ field, code }) => MEDIA_FIELDS.includes(field) && !WAITING.includes(code));
  const other = issues.find(({ field, code }) => !MEDIA_FIELDS.includes(field) && !WAITING.includes(code));
  const media = issues.find(({ field }) => MEDIA_FIELDS.includes(field));
  const fetching = upload?.state === 'importing' || media?.code === 'media_importing';
  const prepared = started || (readiness !== undefined && !media && !issues.some(({ code }) => code === 'not_checked'));

  const fetched: Stage = fetching
    ? {
        label: 'Fetch the media',
        state: 'now',
        detail: 'The media is being fetched and checked.',
        ...(upload && upload.progress > 0 && { progress: upload.progress }),
      }
    : { label: 'Fetch the media', state: readiness || started ? 'done' : 'now' };
  const part = readiness?.prepared ?? 1;
  const rest = `${Math.floor(100 * part)} % is prepared; the rest is prepared while the stream plays.`;
  const preparing: Stage = prepared
    ? { label: 'Prepare it', state: 'done', ...(part > 0 && part < 1 && { detail: rest }) }
    : wrong
      ? failed('Prepare it', wrong)
      : {
          label: 'Prepare it',
          state: fetching ? 'later' : 'now',
          ...(!fetching && { detail: media?.message ?? 'The media is being prepared for the chosen quality.' }),
          ...(!fetching && upload?.state === 'preparing' && { progress: upload.progress }),
        };
  const connecting: Stage = onAir
    ? { label: 'Connect to the destination', state: 'done' }
    : other
      ? failed('Connect to the destination', other)
      : stream.status === 'failed'
        ? { label: 'Connect to the destination', state: 'failed', detail: 'The stream could not be put on air.' }
        : { label: 'Connect to the destination', state: prepared ? 'now' : 'later' };
  return [fetched, preparing, connecting, { label: 'Live', state: onAir ? 'done' : 'later' }];
}
