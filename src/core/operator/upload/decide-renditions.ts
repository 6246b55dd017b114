/** Decides on the renditions of an upload that has been imported: those to make, to keep and to drop. Pure: no I/O, no clock. */

import { kubeTime } from '../../lib/clock.ts';
import { UPLOAD_ERRORS } from '../../lib/codes/uploads.ts';
import { importJobName, renditionJobName } from '../../resources/common/names.ts';
import { type Card, parseCardProfile } from '../../resources/upload/card.ts';
import { isPicture } from '../../resources/upload/layers.ts';
import { parseLookProfile } from '../../resources/upload/look.ts';
import type { ResolvedLayer } from '../../resources/upload/overlays.ts';
import { getPreviewExpiry, getPreviewState } from '../../resources/upload/requested.ts';
import type { Upload } from '../../resources/upload/resource.ts';
import {
  findRendition,
  isAside,
  isPlain,
  MAX_RENDITIONS,
  type MediaInfo,
  PREVIEW_PROFILE,
  type RenditionStatus,
} from '../../resources/upload/spec.ts';
import { findListedProblem } from '../../resources/upload/track-choice.ts';
import { keptSource } from './decide-import.ts';
import { addDrawing, getWorkKey, keepStorageKeys, type WantedJob, wantRendition } from './job.ts';
import {
  complete,
  findPending,
  type UploadError,
  type UploadObservation,
  type UploadPlan,
  unexpected,
} from './plan.ts';
import { boundPart, showPart } from './playable.ts';
import { noPreparedRoom, ROOM_MS } from './storage-grant.ts';

/** The failure of an upload whose chosen tracks are not in the file, as far as its import has listed them. */
export function findChoiceError({ spec }: Upload, media: MediaInfo | undefined): UploadError | undefined {
  const problem = findListedProblem(spec.track, spec.tracks, media);
  const code = 'media_track_not_found';
  return problem === undefined ? undefined : { code, message: `${UPLOAD_ERRORS[code].meaning} ${problem}` };
}

interface Asked {
  profile: string;
  /** The layers of a look. */
  layers?: ResolvedLayer[];
  card?: Card;
  isUrgent?: boolean;
}

/** One rendition that is wanted; undefined while it is not made since no stream that wants it may go on air. */
function rendition(
  upload: Upload,
  media: MediaInfo,
  { profile, layers, card, isUrgent = false }: Asked,
  observed: UploadObservation,
  plan: UploadPlan,
  edited: boolean,
): RenditionStatus | undefined {
  const choiceError = findChoiceError(upload, media);
  if (choiceError) return { profile, state: 'failed', error: choiceError };
  const current = findRendition(upload, profile);
  // Room comes without an edit. The Job of a failure is kept for an hour, so a storage that is full is tried once an hour.
  const mayHaveRoom =
    current?.error?.code === 'storage_full' && !observed.jobs.has(renditionJobName(upload.metadata.name, profile));
  if (current?.state === 'ready' || (current?.state === 'failed' && !edited && !mayHaveRoom)) {
    const { unwantedSince: _, ...wanted } = current;
    return wanted;
  }
  const { urgent, jobs, settings } = observed;
  const isHeld = (name: string) => observed.held.has(profile) && !plan.goesOn(name, observed.held.get(profile));
  const made = isHeld(importJobName(upload.metadata.name)) ? undefined : plan.madeByImport(profile, media);
  if (made) return made;
  const from = keptSource(upload, media, observed);
  // A stream may be on air with the part that is prepared, and waits for the rest.
  const isAwaited = isUrgent || urgent.has(profile) || current?.playable === true;
  const drawing = { ...(layers && { look: { layers } }), ...(card && { card }) };
  // Names of looks and cards are short, so that accounts which share all else must not share them.
  const isShared = settings.shareRenditions && Object.keys(drawing).length === 0;
  const plain = wantRendition(upload, media, profile, isAwaited, from, isShared);
  const wanted = addDrawing(plain, drawing);
  const content = { uid: upload.metadata.uid, sha256: media.sha256 };
  const wantedJob = keepStorageKeys(wanted, jobs.get(wanted.name), content);
  if (isHeld(wantedJob.name)) return undefined;
  if (!observed.jobs.has(wantedJob.name) && !observed.hasPreparedRoom()) {
    plan.requeue(new Date(observed.now.getTime() + ROOM_MS));
    return { profile, state: 'failed', error: noPreparedRoom };
  }
  const result = plan.follow(wantedJob);
  const { task } = wantedJob;
  if (!result) {
    if (task.action === 'rendition') {
      const { posterKey: _, ...range } = task;
      plan.help(wantedJob.name, { ...range, action: 'range' }, media);
    }
    return pending(wantedJob, profile, current, media, observed);
  }
  if (result.action === 'rendition' && task.action === 'rendition') {
    return complete(profile, task.renditionKey, result.rendition);
  }
  return { profile, state: 'failed', error: result.action === 'failed' ? result.error : unexpected };
}

/** A rendition that is not complete. Streams may play its beginning, but for one that nobody waits for. */
function pending(
  { name, task }: WantedJob,
  profile: string,
  current: RenditionStatus | undefined,
  media: MediaInfo,
  { jobs, sameWork, progress, now }: UploadObservation,
): RenditionStatus {
  if (isAside(profile)) return { profile, state: 'pending' };
  const key = getWorkKey(task);
  const job = jobs.get(name) ?? sameWork.get(key);
  const part = boundPart(job && progress.get(job.metadata.uid)?.prepared, media.durationSeconds);
  const shown = findPending(current, key);
  return { profile, state: 'pending', ...showPart({ shown, part, isWorkedOn: job !== undefined, key, now }) };
}

/** A sound, a card or a slate is made again in seconds, and a look belongs to the overlays of one stream. */
const KEEP_ASIDE_MS = 86_400_000;

/** Keeps a rendition that no stream asks for, with the time since when; drops it once that is too long ago. */
function keepUnwanted(
  made: RenditionStatus,
  { now, keepUnusedMs }: UploadObservation,
  plan: UploadPlan,
): RenditionStatus[] {
  const keepMs = isPlain(made.profile) ? keepUnusedMs : Math.min(KEEP_ASIDE_MS, keepUnusedMs);
  if (!Number.isFinite(keepMs)) return [made];
  const unwantedSince = made.unwantedSince ?? kubeTime(now);
  const until = new Date(Date.parse(unwantedSince) + keepMs);
  if (until <= now) return [];
  plan.requeue(until);
  return [{ ...made, unwantedSince }];
}

/**
 * The preview that a person asked for, where no rendition can be shown yet. Streams do not wait for it, so it does not count for
 * whether the upload is prepared.
 */
function preview(upload: Upload, media: MediaInfo, observed: UploadObservation, plan: UploadPlan): RenditionStatus[] {
  const until = getPreviewExpiry(upload, observed.now);
  if (!until || upload.spec.track === 'image' || getPreviewState(upload) === 'ready') return [];
  plan.requeue(until);
  const shown = rendition(upload, media, { profile: PREVIEW_PROFILE }, observed, plan, false);
  return shown ? [shown] : [];
}

/**
 * The sounds that streams ask for, once one of them has the pictures to play them with, or the whole of a song: no start waits for a
 * sound. A file without one needs none.
 */
function listSounds(
  upload: Upload,
  media: MediaInfo,
  observed: UploadObservation,
  plan: UploadPlan,
  { wanted, edited }: { wanted: readonly RenditionStatus[]; edited: boolean },
): RenditionStatus[] {
  if (!media.audio || !wanted.some(({ state }) => state === 'ready')) return [];
  return observed.sounds
    .slice(0, MAX_RENDITIONS / 2)
    .flatMap((profile) => rendition(upload, media, { profile }, observed, plan, edited) ?? []);
}

/** Whether a look or a card may be made now: the rendition of its quality is ready. One that is ready stays so. */
function isInTime(upload: Upload, profile: string, wanted: readonly RenditionStatus[]): boolean {
  const plain = parseCardProfile(profile) ?? parseLookProfile(profile)?.profile;
  return [...wanted, findRendition(upload, profile)].some(
    (one) => one?.state === 'ready' && (one.profile === plain || one.profile === profile),
  );
}

/** Looks that are made of one upload. In a stream beyond them it plays without overlays. */
const MAX_LOOKS = 4;

/**
 * The looks that streams ask for, each once the rendition of its quality is ready: no start waits for one, unless the stream requires it.
 */
function listLooks(
  upload: Upload,
  media: MediaInfo,
  observed: UploadObservation,
  plan: UploadPlan,
  { wanted, edited }: { wanted: readonly RenditionStatus[]; edited: boolean },
): RenditionStatus[] {
  if (!media.video || upload.spec.track !== 'video') return [];
  return observed.looks
    .slice(0, MAX_LOOKS)
    .filter(({ profile }) => isInTime(upload, profile, wanted))
    .flatMap(({ profile, layers, urgent: isUrgent }) => {
      return rendition(upload, media, { profile, layers, isUrgent }, observed, plan, edited) ?? [];
    });
}

/** The slates that streams ask for. Only a still picture becomes one. */
const listSlates = (
  upload: Upload,
  media: MediaInfo,
  observed: UploadObservation,
  plan: UploadPlan,
  edited: boolean,
): RenditionStatus[] =>
  isPicture(media)
    ? observed.slates.flatMap((profile) => rendition(upload, media, { profile }, observed, plan, edited) ?? [])
    : [];

/** Cards that are made of one upload. In a stream beyond them the song plays without one. */
const MAX_CARDS = 8;

/** The cards that streams ask for, each once the song is ready in its quality: no start waits for one. */
function listCards(
  upload: Upload,
  media: MediaInfo,
  observed: UploadObservation,
  plan: UploadPlan,
  { wanted, edited }: { wanted: readonly RenditionStatus[]; edited: boolean },
): RenditionStatus[] {
  return observed.cards
    .slice(0, MAX_CARDS)
    .filter(({ profile }) => isInTime(upload, profile, wanted))
    .flatMap((one) => rendition(upload, media, one, observed, plan, edited) ?? []);
}

/** Drops those that have been unwanted for longest where there would be more than an upload may list. */
function boundUnwanted(kept: RenditionStatus[], room: number): RenditionStatus[] {
  const newest = kept.toSorted((a, b) => (b.unwantedSince ?? '').localeCompare(a.unwantedSince ?? ''));
  return newest.slice(0, Math.max(0, room));
}

/** Everything that has been made, wanted or not, and the state of everything that is wanted. */
export function decideRenditions(
  upload: Upload,
  media: MediaInfo,
  observed: UploadObservation,
  plan: UploadPlan,
  edited: boolean,
) {
  const wanted = [...observed.profiles]
    .sort()
    .flatMap((profile) => rendition(upload, media, { profile }, observed, plan, edited) ?? []);
  const held = observed.profiles.filter((profile) => !wanted.some((one) => one.profile === profile)).sort();
  const shown = [
    ...preview(upload, media, observed, plan),
    ...listSlates(upload, media, observed, plan, edited),
    ...listLooks(upload, media, observed, plan, { wanted, edited }),
    ...listCards(upload, media, observed, plan, { wanted, edited }),
    ...listSounds(upload, media, observed, plan, { wanted, edited }),
  ].slice(0, MAX_RENDITIONS - wanted.length);
  const now = [...observed.profiles, ...shown.map(({ profile }) => profile)];
  const keptRenditions = (upload.status?.renditions ?? [])
    .filter(
      ({ profile, state }) =>
        state === 'ready' && !now.includes(profile) && findRendition(upload, profile) !== undefined,
    )
    .flatMap((made) => keepUnwanted(made, observed, plan));
  plan.removeUnwanted();
  return {
    wanted,
    held,
    all: [...wanted, ...shown, ...boundUnwanted(keptRenditions, MAX_RENDITIONS - wanted.length - shown.length)].sort(
      (a, b) => a.profile.localeCompare(b.profile),
    ),
  };
}

/** The renditions of an upload that is still being imported, as far as something of them is prepared. */
export function listArriving({ profiles }: UploadObservation, plan: UploadPlan): RenditionStatus[] {
  const shown = (profile: string) => {
    const made = plan.madeByImport(profile, undefined);
    return made?.state === 'pending' ? made : plan.keepPart(profile);
  };
  return profiles
    .flatMap((profile) => shown(profile) ?? [])
    .filter(({ preparedSeconds }) => preparedSeconds !== undefined);
}
