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
import type { Stream, StreamCreate, StreamSchedule, StreamUpdate } from './record.ts';

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
  | 'destinations'
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

/** A request names destinations in one way. */
const WAYS = ['destinationID', 'destinationIDs', 'destinations'] as const;

function findDestinationErrors(input: Sources): FieldError[] {
  const [first, ...others] = WAYS.filter((way) => input[way] !== undefined);
  const { destinations = [] } = input;
  const ids = destinations.map(({ destinationID }) => destinationID);
  return [
    ...others.map((way) => ({ path: `/${way}`, message: `cannot be given together with ${first}` })),
    ...ids.flatMap((id, i) =>
      ids.indexOf(id) < i ? [{ path: `/destinations/${i}/destinationID`, message: 'names a destination again' }] : [],
    ),
    ...(destinations.length > 0 && destinations.every(({ enabled }) => enabled === false)
      ? [{ path: '/destinations', message: SENTENCES.noneEnabled }]
      : []),
  ];
}

const exclusive = ({ videoUploadObjectID, playlistIDs, ...input }: Sources): FieldError[] => [
  ...findDestinationErrors(input),
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
  const { videoUploadObjectID, playlistIDs } = input;
  refuse([
    ...exclusive(input),
    ...(WAYS.every((way) => input[way] === undefined)
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

type Named = Pick<
  Stream,
  | 'destinations'
  | 'videoUploadObjectID'
  | 'playlistIDs'
  | 'audioPlaylistIDs'
  | 'overlays'
  | 'slateUploadObjectID'
  | 'cards'
>;

/**
 * Lets the ids stand that a stream names already. One that kubectl made may name objects of no account, and a client that sends it back with
 * another field changed does not choose them.
 */
export function withNamed(has: References, stream: Named): References {
  const { destinations, videoUploadObjectID, playlistIDs, audioPlaylistIDs, overlays, slateUploadObjectID } = stream;
  const layers = overlays?.layers ?? [];
  const pictures = [
    slateUploadObjectID,
    stream.cards?.imageUploadObjectID,
    ...layers.map((one) => one.imageUploadObjectID),
  ];
  return {
    destination: (accountId, id) =>
      has.destination(accountId, id) ?? (destinations.some((one) => one.destinationID === id) ? {} : undefined),
    upload: (accountId, id) => {
      if (id === videoUploadObjectID) return has.upload(accountId, id) ?? { track: 'video' };
      return has.upload(accountId, id) ?? (pictures.includes(id) ? { track: 'image' } : undefined);
    },
    playlist: (accountId, id) => {
      const track = playlistIDs.includes(id) ? 'video' : 'audio';
      const isNamed = track === 'video' || audioPlaylistIDs.includes(id);
      return has.playlist(accountId, id) ?? (isNamed ? { track } : undefined);
    },
    scene: (accountId, id) => has.scene(accountId, id) ?? (id === overlays?.sceneID ? {} : undefined),
  };
}

/** Throws `validation_failed` with each field whose id the account does not have, or whose object has the wrong kind. */
export function checkReferences(has: References, accountId: string, input: Sources): void {
  const findUpload = (id: string) => has.upload(accountId, id);
  const errors = [
    ...findOverlayErrors(input.overlays, { upload: findUpload, scene: (id) => has.scene(accountId, id) }),
    ...findCardImageErrors(input.cards, findUpload),
  ];
  const { destinationID, destinationIDs, destinations, videoUploadObjectID, slateUploadObjectID: slate } = input;
  const noSlate = typeof slate === 'string' ? findPictureProblem(has.upload(accountId, slate)) : undefined;
  if (noSlate !== undefined) errors.push({ path: '/slateUploadObjectID', message: noSlate });
  const destination = (path: string, id: string) => {
    if (!has.destination(accountId, id)) errors.push({ path, message: 'names a destination that does not exist' });
  };
  if (destinationID !== undefined) destination('/destinationID', destinationID);
  destinationIDs?.forEach((id, i) => {
    destination(`/destinationIDs/${i}`, id);
  });
  destinations?.forEach((one, i) => {
    destination(`/destinations/${i}/destinationID`, one.destinationID);
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
