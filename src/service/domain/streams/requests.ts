/**
 * Validates stream requests beyond their schema: exclusive fields, existing references, dates in the past.
 * Pure: no I/O, no clock.
 */

import { SENTENCES } from '../../../core/lib/sentences.ts';
import { findRecurrenceProblem } from '../../../core/resources/stream/recurrence.ts';
import type { LoopStreamSpec } from '../../../core/resources/stream/spec.ts';
import { type FieldError, validationFailed } from '../../lib/errors.ts';
import { describeWrongType } from '../uploads/types.ts';
import { findCardErrors, findCardImageErrors } from './cards.ts';
import { findOverlayErrors, findPictureProblem, type PictureUpload } from './overlays.ts';
import type { StreamCreate, StreamSchedule, StreamUpdate } from './record.ts';

/** Checks which ids an account has. */
export interface References {
  destination(accountId: string, id: string): { displayName?: string } | undefined;
  upload(accountId: string, id: string): PictureUpload | undefined;
  playlist(accountId: string, id: string): { track: 'video' | 'audio' } | undefined;
  scene(accountId: string, id: string): object | undefined;
}

type Sources = Pick<
  StreamUpdate,
  | 'destinationID'
  | 'destinationIDs'
  | 'videoUploadObjectID'
  | 'playlistIDs'
  | 'audioPlaylistIDs'
  | 'overlays'
  | 'slateUploadObjectID'
  | 'cards'
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

/** A start time or recurrence requests airtime; without either the stream waits for `start`. */
export const wantsAir = ({ scheduleStartAt, recurrence }: StreamSchedule): boolean =>
  scheduleStartAt !== undefined || recurrence !== undefined;

/** Throws `validation_failed`. */
export function checkCreate(input: StreamCreate, now: Date): void {
  const { destinationID, destinationIDs, videoUploadObjectID, playlistIDs } = input;
  refuse([
    ...exclusive(input),
    ...(destinationID === undefined && destinationIDs === undefined
      ? [{ path: '/destinationID', message: SENTENCES.noDestination }]
      : []),
    ...(videoUploadObjectID === undefined && playlistIDs === undefined
      ? [{ path: '/videoUploadObjectID', message: SENTENCES.noMedia }]
      : []),
    ...findCardErrors(input),
    ...scheduleErrors(input, now),
  ]);
}

/** `before`: the stream as it is. Throws `validation_failed`. */
export const checkUpdate = (input: StreamUpdate, before: LoopStreamSpec): void =>
  refuse([...exclusive(input), ...findCardErrors(input, before)]);

export const checkSchedule = (input: StreamSchedule, now: Date): void => refuse(scheduleErrors(input, now));

/** Throws `validation_failed` with each field whose id the account does not have, or whose object has the wrong kind. */
export function checkReferences(has: References, accountId: string, input: Sources): void {
  const findUpload = (id: string) => has.upload(accountId, id);
  const errors = [
    ...findOverlayErrors(input.overlays, { upload: findUpload, scene: (id) => has.scene(accountId, id) }),
    ...findCardImageErrors(input.cards, findUpload),
  ];
  const { destinationID, destinationIDs, videoUploadObjectID, slateUploadObjectID: slate } = input;
  const noSlate = typeof slate === 'string' ? findPictureProblem(has.upload(accountId, slate)) : undefined;
  if (noSlate !== undefined) errors.push({ path: '/slateUploadObjectID', message: noSlate });
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
    else if (upload.track !== 'video') errors.push({ path, message: describeWrongType(upload.track) });
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
