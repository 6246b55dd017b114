/** Declares the operations on uploads; resumable.ts has those of the tus protocol. Pure: no I/O, no clock. */
import { Type } from 'typebox';
import { POSTER_MEDIA_TYPE } from '../../../core/resources/upload/poster.ts';
import { EXAMPLE } from '../../lib/examples.ts';
import {
  content,
  created,
  createOperationBuilder,
  deleted,
  FILTERED,
  OWNED,
  PAGED,
  page,
  record,
} from '../../lib/operation.ts';
import { listQuery, readListing } from '../../lib/paging/noun-list.ts';
import { UPLOAD_LIST } from './list.ts';
import {
  Upload,
  UploadFromLink,
  UploadFromLinkResults,
  UploadQuarantine,
  UploadsFromLinks,
  UploadUpdate,
} from './record.ts';
import type { UploadService } from './service.ts';

const operation = createOperationBuilder<{ uploads: UploadService }>({
  tag: 'uploads',
  isOpenToLimitedKeys: true,
  object: {
    idName: 'objectID of the upload',
    listTool: 'list_uploads',
    exampleId: EXAMPLE.upload,
    notFound: 'upload_not_found',
  },
});

type Declared = Upload['declaredTracks'][number];
const track = (given: Pick<Declared, 'index' | 'kind' | 'codec' | 'automatic'> & Partial<Declared>): Declared => ({
  language: null,
  title: null,
  channels: null,
  playable: true,
  ...given,
});

export const exampleUpload: Upload = {
  id: EXAMPLE.upload,
  objectID: EXAMPLE.upload,
  type: 'VIDEO',
  name: 'fireplace.mp4',
  labels: {},
  fromLink: true,
  state: 'ready',
  progress: 1,
  sizeBytes: 734_003_200,
  durationSeconds: 1800.04,
  video: { codec: 'h264', width: 1920, height: 1080, framerate: 30 },
  audio: { codec: 'aac', sampleRate: 48_000, channels: 2 },
  tracks: null,
  declaredTracks: [
    track({ index: 0, kind: 'VIDEO', codec: 'h264', automatic: true }),
    track({ index: 1, kind: 'AUDIO', codec: 'aac', language: 'eng', channels: 2, automatic: true }),
    track({ index: 2, kind: 'AUDIO', codec: 'aac', language: 'deu', channels: 2, automatic: false }),
  ],
  moreTracks: 0,
  title: 'Fireplace in winter',
  artist: 'Example Films',
  album: null,
  isrc: null,
  label: null,
  license: 'CC BY 4.0',
  licenseUrl: 'https://creativecommons.org/licenses/by/4.0/',
  overlays: 'SHOWN',
  quarantine: null,
  preview: 'ready',
  posterUrl: EXAMPLE.posterUrl,
  warnings: [],
  waiting: null,
  loudness: { integratedLufs: -19.4, truePeakDb: -3.1, rangeLu: 6.2 },
  sounds: [
    {
      targetLufs: -14,
      maxTruePeakDb: -1,
      maxBoostDb: 6,
      state: 'ready',
      gainDb: 5.4,
      integratedLufs: -14.1,
      truePeakDb: -2,
      limitedBy: null,
      error: null,
    },
  ],
  looks: [{ profile: '1080p30', state: 'ready', error: null }],
  cards: [],
  error: null,
  createdAt: EXAMPLE.createdAt,
};

/** Fields for an agent that has changed an upload. */
const BRIEF = ['objectID', 'name', 'state', 'progress', 'warnings', 'quarantine', 'error'];

function describeUpload({ name, objectID, state, progress, warnings, quarantine, error }: Upload): string {
  const what = `Upload "${name}" (${objectID})`;
  if (quarantine) return `${what} is in quarantine: ${quarantine.reason}`;
  if (state === 'failed') return `${what} failed: ${error?.message ?? 'the reason is not known.'}`;
  const doing = state === 'ready' ? `${what} is ready.` : `${what} is ${state}, ${Math.round(100 * progress)} %.`;
  return [doing, ...warnings.map(({ message }) => message)].join(' ');
}

const exampleReason = 'A copyright claim is being checked.';
const exampleQuarantine = { reason: exampleReason, since: EXAMPLE.createdAt, cut: true };
const exampleLink = 'https://media.example.com/fireplace.mp4';

/** An agent may wait for the result of an upload. */
const untilSettled = {
  until: 'it is ready or has failed',
  summarize: describeUpload,
  settle: (
    { uploads }: { uploads: UploadService },
    { accountId }: { accountId: string },
    { objectID }: Upload,
    seconds: number,
    watch: Parameters<UploadService['settled']>[3],
  ) => uploads.settled(accountId, objectID, seconds, watch),
};

export const uploadOperations = [
  operation({
    id: 'createUploadFromLink',
    scope: 'write',
    http: 'POST /uploads/from-link',
    summary: 'Import media from a link',
    description:
      'Starts to fetch the file; `state` of the upload shows the progress. Media is prepared once for all streams.',
    input: UploadFromLink,
    output: created(Upload, ({ objectID }) => `/uploads/${objectID}`),
    errors: ['link_forbidden', 'upload_quota_exceeded'],
    examples: { input: { type: 'VIDEO', url: exampleLink }, output: exampleUpload },
    mcp: {
      title: 'Import media from a link',
      description:
        'Imports a video or audio file from a public http or https link. It takes from seconds to minutes: set ' +
        '`wait`, or call get_upload with `wait` until `state` is ready.',
      wait: untilSettled,
      summarize: describeUpload,
      reachesOut: true,
    },
    graphql: { description: 'Imports media from a link.' },
    run: ({ uploads }, { accountId, input }) => uploads.fromLink(accountId, input),
  }),

  operation({
    id: 'createUploadsFromLinks',
    scope: 'write',
    http: 'POST /uploads/from-links',
    summary: 'Import media from many links',
    description:
      'Does for each link what `POST /v1/uploads/from-link` does, one after the other. A link that is refused has an error in its ' +
      'result, and ends no other. If the service fails meanwhile, so does the request: with the same Idempotency-Key, a repeated ' +
      'request imports no link twice.',
    input: UploadsFromLinks,
    output: record(UploadFromLinkResults),
    errors: ['link_forbidden', 'upload_quota_exceeded'],
    examples: {
      input: { links: [{ type: 'VIDEO', url: exampleLink }] },
      output: { data: [{ url: exampleLink, upload: exampleUpload, error: null }] },
    },
    graphql: { description: 'Imports media from up to 100 links; each has a result.', payload: 'results' },
    client: { method: 'fromLinks', extraSeconds: 30 },
    run: ({ uploads }, { accountId, input }) => uploads.fromLinks(accountId, input),
  }),

  operation({
    id: 'listUploads',
    scope: 'read',
    http: 'GET /uploads',
    summary: 'List uploads, newest first',
    description: `Returns the account’s uploads, filtered and sorted as asked. ${FILTERED} ${PAGED}`,
    query: listQuery(UPLOAD_LIST),
    output: page(Upload, 'UploadList'),
    examples: { output: exampleUpload, parameters: { type: 'VIDEO', state: 'ready', sort: 'name' } },
    mcp: {
      query: listQuery(UPLOAD_LIST, 'short'),
      title: 'List uploads',
      description: 'Lists the account’s uploads, newest first, optionally filtered by a word in the name.',
    },
    graphql: {
      description: 'Lists uploads, newest first unless orderBy says otherwise.',
      query: listQuery(UPLOAD_LIST),
    },
    run: ({ uploads }, { accountId, page, query, where }) => uploads.list(accountId, readListing(page, query), where),
  }),

  operation({
    id: 'getUpload',
    scope: 'read',
    http: 'GET /uploads/{id}',
    summary: 'Get an upload',
    description: `Returns an upload with its state, and the error if it failed. ${OWNED}`,
    output: record(Upload),
    examples: { output: exampleUpload },
    mcp: {
      title: 'Get an upload',
      description: 'Returns an upload. With `wait`, returns once the upload is ready or has failed.',
      wait: untilSettled,
      summarize: describeUpload,
    },
    graphql: { description: 'Returns an upload, by its objectID.' },
    run: ({ uploads }, { accountId, id }) => uploads.get(accountId, id),
  }),

  operation({
    id: 'updateUpload',
    scope: 'write',
    http: 'PATCH /uploads/{id}',
    summary: 'Change an upload',
    description:
      'Changes its name, or the words about it: `title`, `artist`, `album`, `isrc`, `label`, `license` and `licenseUrl` go before those of ' +
      'the file, and "" or null takes those of the file again. `overlays` says whether streams show theirs over it. Replaces the choice of tracks; `{}` is the automatic choice. After another ' +
      'choice the upload is prepared again, and a stream on air goes on with what it plays until that is done. Fails with 422 if the ' +
      'file has no such track.',
    input: UploadUpdate,
    output: record(Upload),
    errors: ['conflict'],
    examples: { input: { name: 'fireplace.mp4', tracks: { audio: 2 } }, output: exampleUpload },
    mcp: {
      title: 'Change an upload',
      description:
        'Changes the name of an upload, or its tags ("" is that of the file), or chooses the video and audio track that play, by their indexes in `declaredTracks`. `audioRight` makes two mono ' +
        'tracks left and right. An empty object restores the automatic choice. A stream on air goes on with what it ' +
        'plays until the new choice is prepared.',
      wait: untilSettled,
      summarize: describeUpload,
      isRepeatable: true,
    },
    graphql: {
      description:
        'Changes the name of an upload, or its tags ("" is that of the file), or chooses its tracks, after which it is prepared again. A stream on air goes on ' +
        'with what it plays until that is done.',
    },
    run: ({ uploads }, { accountId, id, input }) => uploads.update(accountId, id, input),
  }),

  operation({
    id: 'getUploadPreview',
    scope: 'read',
    http: 'GET /uploads/{id}/preview.flv',
    summary: 'Get the first minute of an upload as FLV',
    description:
      'Returns media that was prepared for a stream. If there is none, the first call prepares a preview. Until ' +
      '`preview` of the upload is `ready`, the request fails with 409 `upload_not_prepared`.',
    // OpenAPI 3.1: a binary body has no schema.
    output: content({ 'video/x-flv': Type.Unsafe<unknown>({}) }),
    errors: ['upload_not_prepared', 'too_many_previews', 'server_busy'],
    isUncached: true,
  }),

  operation({
    id: 'getUploadPoster',
    scope: 'read',
    http: 'GET /uploads/{id}/poster',
    summary: 'Get a small picture of an upload',
    description:
      'Returns a JPEG picture of at most 480 × 480 pixels and 30 kB, upright and in the shape of the video: a frame that is not black, the ' +
      'cover art of a sound file, or the picture itself. Take the address from `posterUrl` of the upload; what it returns never changes.',
    query: {
      v: Type.Optional(
        Type.String({ maxLength: 64, description: 'From `posterUrl`; it differs where the picture differs.' }),
      ),
    },
    output: content({ [POSTER_MEDIA_TYPE]: Type.Unsafe<unknown>({}) }),
    errors: ['upload_has_no_poster', 'upstream_unavailable'],
    examples: { parameters: { v: '3f9a1c0b52de' } },
    isUncached: true,
  }),

  operation({
    id: 'retryUpload',
    scope: 'write',
    http: 'POST /uploads/{id}/retry',
    summary: 'Retry the link of a failed upload',
    description:
      'The upload keeps its objectID and all references to it. Fails with 409 `upload_not_failed` while it is in ' +
      'progress or ready, and with `upload_not_from_link` if a client sent the file.',
    output: record(Upload),
    errors: [
      'upload_not_failed',
      'upload_not_from_link',
      'link_forbidden',
      'quota_exceeded',
      'upload_quota_exceeded',
      'conflict',
    ],
    examples: { output: exampleUpload },
    mcp: {
      title: 'Retry a failed upload',
      description:
        'Fetches the link of a failed upload again. The upload keeps its id. Fails for an upload that is in progress ' +
        'or ready, and for a file that a client sent.',
      wait: untilSettled,
      fields: BRIEF,
      summarize: describeUpload,
      reachesOut: true,
    },
    graphql: {
      description:
        'Fetches the link of a failed upload again. Fails with `upload_not_failed` while it is in progress or ready, ' +
        'and with `upload_not_from_link` if a client sent the file.',
    },
    run: ({ uploads }, { accountId, id }) => uploads.retry(accountId, id),
  }),

  operation({
    id: 'quarantineUpload',
    scope: 'write',
    http: 'POST /uploads/{id}/quarantine',
    summary: 'Take an upload off every list',
    description:
      'No stream plays the upload from its next border on, though playlists keep it and their versions stay as they are: the answer to a ' +
      'claim that may be false. With `cut`, a stream that plays it goes on to its next item at once, on a keyframe and in the same ' +
      'publish. A stream with nothing else to play shows its slate. A repeated request changes the reason.',
    input: UploadQuarantine,
    output: record(Upload),
    errors: ['upload_is_image', 'conflict'],
    examples: {
      input: { reason: exampleReason, cut: true },
      output: { ...exampleUpload, quarantine: exampleQuarantine },
    },
    mcp: {
      title: 'Take an upload off every list',
      description:
        'Takes an upload off every list, without a change of the lists: streams play it no more once the item on air ends, with `cut` at once. ' +
        'Undone by release_upload.',
      fields: BRIEF,
      summarize: describeUpload,
      isRepeatable: true,
      takesAway: true,
    },
    graphql: { description: 'Takes an upload off every list, whose versions stay as they are.' },
    client: { method: 'quarantine' },
    run: ({ uploads }, { accountId, id, input }) => uploads.quarantine(accountId, id, input),
  }),

  operation({
    id: 'releaseUpload',
    scope: 'write',
    http: 'DELETE /uploads/{id}/quarantine',
    summary: 'End the quarantine of an upload',
    description:
      'Streams play the upload again, where their lists have it. Does nothing to an upload that is not in quarantine.',
    output: record(Upload),
    errors: ['conflict'],
    examples: { output: exampleUpload },
    mcp: {
      title: 'End the quarantine of an upload',
      description: 'Streams play the upload again, where their lists have it.',
      fields: BRIEF,
      summarize: describeUpload,
      isRepeatable: true,
    },
    graphql: { description: 'Ends the quarantine of an upload.' },
    client: { method: 'release' },
    run: ({ uploads }, { accountId, id }) => uploads.release(accountId, id),
  }),

  operation({
    id: 'deleteUpload',
    scope: 'destructive',
    http: 'DELETE /uploads/{id}',
    summary: 'Delete an upload',
    description: 'Fails with 409 `upload_in_use` while a stream or a playlist uses it.',
    output: deleted,
    errors: ['upload_in_use', 'conflict'],
    mcp: {
      title: 'Delete an upload',
      description: 'Deletes an upload and its media. Fails while a stream or a playlist uses it.',
    },
    graphql: { description: 'Deletes an upload. Fails with `upload_in_use` while a stream or a playlist uses it.' },
    run: ({ uploads }, { accountId, id }) => uploads.delete(accountId, id),
  }),
] as const;
