/**
 * Validates stream requests beyond their schema: exclusive fields, existing references, dates in the past.
 * Pure: no I/O, no clock.
 */
import { type FieldError, validationFailed } from '../../lib/errors.ts';
import { SENTENCES } from '../../lib/sentences.ts';
import { findRecurrenceProblem } from '../../resources/stream/recurrence.ts';
import type { Schedule } from '../../resources/stream/spec.ts';
import type { StreamCreate, StreamSchedule, StreamUpdate } from './record.ts';
import { toFramerate, toQuality } from './record.ts';

/** Checks which ids an account has. */
export interface References {
  destination(accountId: string, id: string): boolean;
  upload(accountId: string, id: string): { track: 'video' | 'audio' } | undefined;
  playlist(accountId: string, id: string): { track: 'video' | 'audio' } | undefined;
}

type Sources = Pick<
  StreamUpdate,
  'destinationID' | 'destinationIDs' | 'videoUploadObjectID' | 'playlistIDs' | 'audioPlaylistIDs'
>;

const refuse = (errors: FieldError[]): void => {
  if (errors.length > 0) throw validationFailed(errors);
};

const exclusive = ({ destinationID, destinationIDs, videoUploadObjectID, playlistIDs }: Sources): FieldError[] => [
  ...(destinationID !== undefined && destinationIDs !== undefined
    ? [{ path: '/destinationIDs', message: 'cannot be given together with destinationID' }]
    : []),
  ...(videoUploadObjectID !== undefined && playlistIDs !== undefined
    ? [{ path: '/playlistIDs', message: SENTENCES.twoMedia }]
    : []),
];

const scheduleErrors = (input: StreamSchedule, now: Date): FieldError[] => {
  const { scheduleStartAt, scheduleEndAt, scheduleOnAirUntil, recurrence } = input;
  const start = scheduleStartAt === undefined ? undefined : Date.parse(scheduleStartAt);
  const end = scheduleEndAt === undefined ? undefined : Date.parse(scheduleEndAt);
  const wrong = recurrence && findRecurrenceProblem({ timeZone: 'UTC', ...recurrence }, now);
  return [
    ...(start !== undefined && start < now.getTime() ? [{ path: '/scheduleStartAt', message: 'is in the past' }] : []),
    ...(end !== undefined && end <= now.getTime() ? [{ path: '/scheduleEndAt', message: 'is in the past' }] : []),
    ...(start !== undefined && end !== undefined && end <= start
      ? [{ path: '/scheduleEndAt', message: SENTENCES.endBeforeStart }]
      : []),
    ...(scheduleOnAirUntil !== undefined && Date.parse(scheduleOnAirUntil) <= now.getTime()
      ? [{ path: '/scheduleOnAirUntil', message: 'is in the past' }]
      : []),
    ...(scheduleOnAirUntil !== undefined && !wantsAir(input)
      ? [{ path: '/scheduleOnAirUntil', message: 'is given without scheduleStartAt or recurrence' }]
      : []),
    ...(wrong ? [{ path: `/recurrence/${wrong.field}`, message: wrong.message }] : []),
  ];
};

/** Converts the schedule to its form in the spec. */
export const toSchedule = ({
  scheduleStartAt,
  scheduleEndAt,
  scheduleOnAirUntil,
  recurrence,
}: StreamSchedule): Schedule => ({
  ...(scheduleStartAt && { startAt: scheduleStartAt }),
  ...(scheduleEndAt && { endAt: scheduleEndAt }),
  ...(scheduleOnAirUntil && { onAirUntil: scheduleOnAirUntil }),
  ...(recurrence && { recurrence: { timeZone: 'UTC', ...recurrence } }),
});

/** A start time or recurrence requests airtime; without either the stream waits for `start`. */
export const wantsAir = ({ scheduleStartAt, recurrence }: StreamSchedule): boolean =>
  scheduleStartAt !== undefined || recurrence !== undefined;

export interface Media {
  uploadName?: string;
  playlistNames?: string[];
  audioPlaylistNames?: string[];
}

/** Throws `validation_failed`. Returns the references in their form in the spec. */
export function checkCreate(input: StreamCreate, now: Date): Media & { destinations: string[] } {
  const { destinationID, destinationIDs, videoUploadObjectID, playlistIDs, audioPlaylistIDs } = input;
  const destinations = destinationIDs ?? (destinationID === undefined ? [] : [destinationID]);
  refuse([
    ...exclusive(input),
    ...(destinations.length === 0 ? [{ path: '/destinationID', message: 'is required' }] : []),
    ...(videoUploadObjectID === undefined && playlistIDs === undefined
      ? [{ path: '/videoUploadObjectID', message: SENTENCES.noMedia }]
      : []),
    ...scheduleErrors(input, now),
  ]);
  return {
    destinations,
    ...(videoUploadObjectID === undefined ? {} : { uploadName: videoUploadObjectID }),
    ...(playlistIDs === undefined ? {} : { playlistNames: playlistIDs }),
    ...(audioPlaylistIDs?.length ? { audioPlaylistNames: audioPlaylistIDs } : {}),
  };
}

export const checkUpdate = (input: StreamUpdate): void => refuse(exclusive(input));

export const checkSchedule = (input: StreamSchedule, now: Date): void => refuse(scheduleErrors(input, now));

/** Throws `validation_failed` with each field whose id the account does not have, or whose object has the wrong kind. */
export function checkReferences(has: References, accountId: string, input: Sources): void {
  const errors: FieldError[] = [];
  const { destinationID, destinationIDs, videoUploadObjectID } = input;
  const destination = (path: string, id: string) => {
    if (!has.destination(accountId, id)) errors.push({ path, message: 'names a destination that does not exist' });
  };
  if (destinationID !== undefined) destination('/destinationID', destinationID);
  destinationIDs?.forEach((id, i) => {
    destination(`/destinationIDs/${i}`, id);
  });
  if (videoUploadObjectID !== undefined) {
    const path = '/videoUploadObjectID';
    const upload = has.upload(accountId, videoUploadObjectID);
    if (!upload) errors.push({ path, message: 'names an upload that does not exist' });
    else if (upload.track !== 'video') errors.push({ path, message: 'names an upload of type AUDIO' });
  }
  for (const [field, track] of [
    ['playlistIDs', 'video'],
    ['audioPlaylistIDs', 'audio'],
  ] as const) {
    input[field]?.forEach((id, i) => {
      const path = `/${field}/${i}`;
      const playlist = has.playlist(accountId, id);
      if (!playlist) errors.push({ path, message: 'names a playlist that does not exist' });
      else if (playlist.track !== track) errors.push({ path, message: `names a playlist of kind ${playlist.track}` });
    });
  }
  refuse(errors);
}

/** Builds the merge patch of the spec: a video replaces playlists, and playlists replace a video. */
export function specPatch(input: StreamUpdate): Record<string, unknown> {
  const { name, quality, framerate, destinationID, destinationIDs, videoUploadObjectID, playlistIDs } = input;
  const destinationNames = destinationIDs ?? (destinationID === undefined ? undefined : [destinationID]);
  return {
    ...(name === undefined ? {} : { displayName: name }),
    ...(quality === undefined ? {} : { quality: toQuality(quality) }),
    ...(framerate === undefined ? {} : { framerate: toFramerate(framerate) }),
    ...(destinationNames === undefined ? {} : { destinationNames }),
    ...(input.onItemFailure === undefined ? {} : { itemFailurePolicy: input.onItemFailure }),
    ...(input.start === undefined ? {} : { startPolicy: input.start }),
    ...(videoUploadObjectID === undefined ? {} : { uploadName: videoUploadObjectID, playlistNames: null }),
    ...(playlistIDs === undefined ? {} : { playlistNames: playlistIDs, uploadName: null }),
    ...(input.audioPlaylistIDs === undefined
      ? {}
      : { audioPlaylistNames: input.audioPlaylistIDs.length ? input.audioPlaylistIDs : null }),
  };
}
