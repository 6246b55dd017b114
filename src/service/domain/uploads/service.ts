/** Creates, lists and deletes uploads; the operator starts the Jobs that import and prepare them. */

import type { Readable } from 'node:stream';
import { type Clock, kubeTime, systemClock } from '../../../core/lib/clock.ts';
import { findFix } from '../../../core/lib/codes/codes.ts';
import { UPLOAD_ERRORS } from '../../../core/lib/codes/uploads.ts';
import { currentIntent } from '../../../core/lib/context.ts';
import { isSameJson } from '../../../core/lib/json-equal.ts';
import { tidyUrl } from '../../../core/lib/pasted.ts';
import { brokenRule, LINK } from '../../../core/lib/sentences.ts';
import { readJoin } from '../../../core/pods/storage/joins.ts';
import { deletePieces } from '../../../core/pods/storage/pieces.ts';
import type { Storage } from '../../../core/pods/storage/storage.ts';
import { readLabels } from '../../../core/resources/common/labels.ts';
import { RETRY_ANNOTATION } from '../../../core/resources/common/names.ts';
import { findLinkRefusal } from '../../../core/resources/upload/link.ts';
import { findUploadName, parseLinkName } from '../../../core/resources/upload/name.ts';
import { getPreviewState, isRetryAsked, requestPreview } from '../../../core/resources/upload/requested.ts';
import type { Upload as Resource } from '../../../core/resources/upload/resource.ts';
import {
  incomingKey,
  type MediaTrack,
  type TrackChoice,
  type UploadStatus,
} from '../../../core/resources/upload/spec.ts';
import { findTags } from '../../../core/resources/upload/tags.ts';
import { findListedProblem } from '../../../core/resources/upload/track-choice.ts';
import type { Leases } from '../../db/leases.ts';
import { AppError, validationFailed } from '../../lib/errors.ts';
import { patchLabels } from '../../lib/labels.ts';
import type { Connection, FilteredArgs } from '../../lib/list-page.ts';
import { newId, type OwnedResources } from '../limits/owned-resources.ts';
import type { PreviewPlaces } from '../limits/preview-places.ts';
import type { Quotas } from '../limits/quotas.ts';
import { callReached, listReachedIds } from '../limits/reached.ts';
import type { LimitUsage } from '../limits/usage.ts';
import { createUploadAdmission, type SendingLimits } from './admission.ts';
import { importEach } from './from-links.ts';
import { createHolders, type HoldersDeps } from './holders.ts';
import { createIncoming, type FindStorage } from './incoming.ts';
import { readSizeBytes, readState } from './list.ts';
import { showLooks } from './looks.ts';
import { type Poster, readPoster } from './poster.ts';
import { findPosterUrl } from './posters.ts';
import { openPreview } from './preview.ts';
import { patchQuarantine, showQuarantine } from './quarantine.ts';
import { createUploadQuota, type LinkLimits } from './quota.ts';
import type {
  Upload,
  UploadFromLink,
  UploadFromLinkResults,
  UploadQuarantine,
  UploadsFromLinks,
  UploadUpdate,
} from './record.ts';
import { showSounds } from './sounds.ts';
import { changesTags, dropNulls, readTags } from './tags.ts';
import { checkChoice, hasChoice } from './tracks.ts';
import { readType, showType } from './types.ts';

const HOUR_MS = 3_600_000;

export type UploadService = ReturnType<typeof createUploadService>;

export interface UploadServiceDeps extends HoldersDeps {
  uploads: OwnedResources<Resource>;
  /** Returns the storage of an upload's namespace; without it only links work. */
  findStorage: FindStorage | undefined;
  limits: UploadLimits;
  previewPlaces: PreviewPlaces;
  leases: Leases;
  quotas: Quotas;
  usage: LimitUsage;
  clock?: Clock;
}

/** Options of a client that waits and wants progress meanwhile. */
export interface UploadWatch {
  onChange?: (upload: Upload) => void;
  signal?: AbortSignal;
}

interface UploadLimits {
  /** Allows imports from private addresses. */
  allowPrivateLinks: boolean;
  maxSourceBytes: number;
  /** Lifetime of an upload that a client sends. */
  uploadExpireHours: number;
  /** Limits of the requests that send bytes. */
  uploadLimits: SendingLimits;
}

/** Deletes the bytes of an upload, and those of the parts that were joined to it: others it may merely name. */
async function deleteReceived(storage: Storage, uid: string): Promise<void> {
  const key = incomingKey(uid);
  for (const part of (await readJoin(storage, key)) ?? []) await deletePieces(storage, part);
  await deletePieces(storage, key);
}

/** Converts to the public shape. A requested retry shows as under way, though the operator may not have begun. */
function showAt(upload: Resource, now: Date): Upload {
  const shown = showStatus(upload);
  const waiting = upload.status?.waiting;
  if (isRetryAsked(upload, now)) return { ...shown, state: readState(upload, now), progress: 0, error: null };
  if (!waiting || shown.state !== 'importing' || Date.parse(waiting.nextTryAt) <= now.getTime()) return shown;
  const { message, since, nextTryAt, until, tries } = waiting;
  return { ...shown, waiting: { message, since, nextTryAt, until, tries } };
}

const showTrack = ({ index, kind, codec, language, title, channels, unplayable, automatic }: MediaTrack) => ({
  index,
  kind: kind === 'audio' ? ('AUDIO' as const) : ('VIDEO' as const),
  codec,
  language: language ?? null,
  title: title ?? null,
  channels: channels ?? null,
  playable: unplayable !== true,
  automatic: automatic === true,
});

/** An operator of a later release may report a code that is not in the table yet. */
const showError = ({ code, message }: NonNullable<UploadStatus['error']>): NonNullable<Upload['error']> => ({
  code,
  message,
  fix: findFix(code, 'uploadError') ?? UPLOAD_ERRORS.prepare_failed.fix,
});

const NO_TAGS = { title: null, artist: null, album: null, isrc: null, label: null, license: null, licenseUrl: null };

const showStatus = ({ metadata, spec, status }: Resource): Upload => ({
  id: metadata.name,
  objectID: metadata.name,
  type: showType(spec.track),
  name: findUploadName({ metadata, spec, ...(status && { status }) }) ?? metadata.name,
  fromLink: spec.source.url !== undefined,
  state: status?.phase ?? 'importing',
  progress: status?.progress ?? 0,
  sizeBytes: readSizeBytes({ metadata, spec, ...(status && { status }) }),
  durationSeconds: status?.media?.durationSeconds ?? null,
  video: status?.media?.video ?? null,
  audio: status?.media?.audio ?? null,
  tracks: spec.tracks ? { video: null, audio: null, audioRight: null, ...spec.tracks } : null,
  declaredTracks: (status?.media?.tracks ?? []).map(showTrack),
  moreTracks: status?.media?.moreTracks ?? 0,
  ...NO_TAGS,
  ...findTags({ spec, ...(status && { status }) }),
  overlays: spec.overlays === 'None' ? 'NONE' : 'SHOWN',
  quarantine: showQuarantine({ spec, ...(status && { status }) }),
  labels: readLabels({ metadata }),
  preview: getPreviewState({ metadata, spec, ...(status && { status }) }),
  posterUrl: findPosterUrl({ metadata, spec, ...(status && { status }) }),
  warnings: status?.warnings ?? [],
  waiting: null,
  ...showSounds({ metadata, spec, ...(status && { status }) }, showError),
  ...showLooks({ metadata, spec, ...(status && { status }) }, showError),
  error: status?.error ? showError(status.error) : null,
  createdAt: metadata.creationTimestamp,
});

const NO_TRACKS = { video: null, audio: null, audioRight: null };
/** Merge patch that replaces the choice of tracks. */
const patchTracks = (tracks: TrackChoice) => (hasChoice(tracks) ? { ...NO_TRACKS, ...tracks } : null);

/** Returns the merge patch that shows or hides overlays over an item; empty where that is so already. */
function patchOverlays({ spec }: Resource, overlays: Upload['overlays']): { overlays?: 'None' | null } {
  const wanted = overlays === 'NONE' ? 'None' : undefined;
  return wanted === spec.overlays ? {} : { overlays: wanted ?? null };
}

/** Throws if the text of a link forbids its import; the Job checks the address that its name resolves to. */
function checkLink(text: string, allowPrivate: boolean): void {
  const refusal = findLinkRefusal(text, allowPrivate);
  const notUrl = URL.canParse(text) ? undefined : 'must be a URL, such as https://example.com/video.mp4';
  const message = brokenRule(LINK, text) ?? refusal ?? notUrl;
  if (message === undefined) return;
  const errors = [{ path: '/url', message }];
  throw refusal === undefined
    ? validationFailed(errors)
    : new AppError('link_forbidden', refusal, { extras: { errors } });
}

export function createUploadService({
  uploads,
  findStorage,
  limits,
  previewPlaces,
  leases,
  quotas,
  usage,
  clock = systemClock,
  ...deps
}: UploadServiceDeps) {
  const { allowPrivateLinks, maxSourceBytes, uploadExpireHours, uploadLimits } = limits;
  const quota = createUploadQuota(quotas, usage);
  const holders = createHolders(deps);
  const expireMs = uploadExpireHours * HOUR_MS;
  const show = (upload: Resource) => showAt(upload, clock.now());

  async function fromLink(
    accountId: string,
    { type, url: given, name, tracks, overlays, labels, ...stated }: UploadFromLink,
  ): Promise<Upload> {
    const url = tidyUrl(given);
    checkLink(url, allowPrivateLinks);
    checkChoice(tracks, '/tracks');
    const tags = readTags(stated);
    const displayName = name ?? parseLinkName(url);
    const draft: Resource['spec'] = {
      ...(displayName === undefined ? {} : { displayName }),
      track: readType(type),
      ...(hasChoice(tracks) && { tracks }),
      ...(overlays === 'NONE' && { overlays: 'None' as const }),
      ...(tags && { tags: dropNulls(tags) }),
      source: { url },
    };
    const make = ({ largest, ...room }: LinkLimits) => {
      const spec = { ...draft, ...(largest < maxSourceBytes && { maxSizeBytes: largest }), ...room };
      return uploads.create(accountId, () => spec, { labels });
    };
    return show(await quota.link(accountId, draft, make));
  }

  return {
    /** Uploads that clients send; undefined without storage. */
    incoming:
      findStorage &&
      createIncoming({
        uploads,
        quota,
        findStorage,
        maxSourceBytes,
        expireMs,
        leases,
        admission: createUploadAdmission(uploadLimits),
      }),

    fromLink,

    /** Rejects only where the service fails, after which the request can be repeated. */
    fromLinks: (accountId: string, { links }: UploadsFromLinks): Promise<UploadFromLinkResults> =>
      importEach(links, (link) => fromLink(accountId, link)),

    /** Retries the import of a failed upload. Throws `upload_not_failed`, `upload_not_from_link`, and the errors of `fromLink`. */
    async retry(accountId: string, id: string): Promise<Upload> {
      const upload = uploads.get(accountId, id);
      const { url } = upload.spec.source;
      if (url === undefined)
        throw new AppError(
          'upload_not_from_link',
          'A client sent the file of this upload, so it has no link to fetch again.',
        );
      const tryId = currentIntent()?.newId('try') ?? newId('try');
      // An earlier try of the same request got this far.
      if (upload.metadata.annotations?.[RETRY_ANNOTATION]?.endsWith(` ${tryId}`)) return show(upload);
      const { state } = show(upload);
      if (state !== 'failed')
        throw new AppError('upload_not_failed', `This upload is ${state}; only a failed upload can be retried.`);
      checkLink(url, allowPrivateLinks);
      const annotations = { [RETRY_ANNOTATION]: `${kubeTime(clock.now())} ${tryId}` };
      const make = ({ largest, ...room }: LinkLimits) => {
        const spec = { ...room, maxSizeBytes: largest < maxSourceBytes ? largest : null };
        return uploads.patch(upload, { metadata: { annotations }, spec });
      };
      return show(await quota.link(accountId, {}, make, { isThere: true }));
    },

    /**
     * Changes the name, the labels, the tags and whether overlays are shown, and chooses the tracks that play in place of an earlier choice. Streams on air go on with what they play
     * until the new choice is prepared. Throws `validation_failed` where the file has no such track.
     */
    async update(
      accountId: string,
      id: string,
      { name, tracks, overlays, labels, ...stated }: UploadUpdate,
    ): Promise<Upload> {
      checkChoice(tracks, '/tracks');
      const tags = readTags(stated);
      const upload = uploads.get(accountId, id);
      const problem = tracks && findListedProblem(upload.spec.track, tracks, upload.status?.media);
      if (problem !== undefined) throw validationFailed([{ path: '/tracks', message: problem }]);
      const spec = {
        ...(name !== undefined && name !== upload.spec.displayName && { displayName: name }),
        ...(tracks && !isSameJson(upload.spec.tracks ?? {}, tracks) && { tracks: patchTracks(tracks) }),
        ...(overlays !== undefined && patchOverlays(upload, overlays)),
        ...(tags && changesTags(upload.spec.tags, tags) && { tags }),
      };
      const metadata = patchLabels(upload, labels);
      if (Object.keys(spec).length === 0 && !metadata.labels) return show(upload);
      return show(await uploads.patch(upload, { metadata, spec }));
    },

    /** Takes an upload off every list, whose versions stay. Throws `upload_is_image`. */
    async quarantine(accountId: string, id: string, input: UploadQuarantine): Promise<Upload> {
      const upload = uploads.get(accountId, id);
      const quarantine = patchQuarantine(upload, input, clock.now());
      return show(quarantine ? await uploads.patch(upload, { spec: { quarantine } }) : upload);
    },

    /** Ends the quarantine of an upload, which lists play again. */
    async release(accountId: string, id: string): Promise<Upload> {
      const upload = uploads.get(accountId, id);
      return show(upload.spec.quarantine ? await uploads.patch(upload, { spec: { quarantine: null } }) : upload);
    },

    /** `where` filters by the shape that clients see. */
    list: (accountId: string, args: FilteredArgs, where?: (it: Upload) => boolean): Connection<Upload> =>
      uploads.page(accountId, args, show, where && ((upload) => where(show(upload)))),

    get: (accountId: string, id: string): Upload => show(uploads.get(accountId, id)),

    /**
     * Returns finite FLV. Throws `upload_not_prepared`, after which its preparation starts, `too_many_previews`, `server_busy`, and
     * `upstream_unavailable`.
     */
    async preview(accountId: string, id: string): Promise<Readable> {
      const upload = uploads.get(accountId, id);
      return previewPlaces.show({ accountId, uid: upload.metadata.uid, noun: 'upload' }, async () => {
        const storage = findStorage?.(upload);
        const request = storage && requestPreview(upload, clock.now());
        if (request) await uploads.patch(upload, { metadata: request });
        return openPreview(storage, upload);
      });
    },

    /** Returns the small picture of an upload. Throws `upload_has_no_poster` and `upstream_unavailable`. */
    async poster(accountId: string, id: string): Promise<Poster> {
      const upload = uploads.get(accountId, id);
      return readPoster(findStorage?.(upload), upload);
    },

    /** Returns the upload once it is ready or has failed, or as it is after `waitSeconds`, or when `signal` aborts. */
    async settled(
      accountId: string,
      id: string,
      waitSeconds: number,
      { onChange, signal }: UploadWatch = {},
    ): Promise<Upload> {
      const isOver = (upload: Resource | undefined): boolean => {
        if (upload) onChange?.(show(upload));
        const state = upload && show(upload).state;
        return state === undefined || state === 'ready' || state === 'failed';
      };
      await uploads.until(accountId, id, isOver, waitSeconds * 1000, signal);
      return show(uploads.get(accountId, id));
    },

    async delete(accountId: string, id: string): Promise<void> {
      const upload = uploads.get(accountId, id);
      const playing = holders(accountId, upload);
      const all = [...playing.streams, ...playing.playlists, ...playing.scenes];
      if (all.length > 0) {
        const extras = {
          streamIDs: listReachedIds(playing.streams),
          playlistIDs: listReachedIds(playing.playlists),
          sceneIDs: listReachedIds(playing.scenes),
        };
        throw new AppError(
          'upload_in_use',
          `Streams or playlists play this upload, or scenes show it: ${callReached(all)}.`,
          { extras },
        );
      }
      await uploads.delete(upload);
      // Deletes the bytes received so far; if this fails, the sweep deletes them.
      if (upload.spec.source.sent && !upload.status?.media && findStorage)
        await deleteReceived(findStorage(upload), upload.metadata.uid).catch(() => undefined);
    },
  };
}
