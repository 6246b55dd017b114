/** Declares the operations on uploads; resumable.ts has those of the tus protocol. Pure: no I/O, no clock. */
import { Type } from 'typebox';
import { EXAMPLE } from '../../lib/examples.ts';
import { content, created, deleted, OWNED, operationsOf, PAGED, page, record } from '../../lib/operation.ts';
import { Upload, UploadFromLink } from './record.ts';
import type { UploadService } from './service.ts';

const operation = operationsOf<{ uploads: UploadService }>({
  tag: 'uploads',
  object: {
    idName: 'objectID of the upload',
    listTool: 'list_uploads',
    exampleId: EXAMPLE.upload,
    notFound: 'upload_not_found',
  },
});

export const exampleUpload: Upload = {
  objectID: EXAMPLE.upload,
  type: 'VIDEO',
  name: 'fireplace.mp4',
  state: 'ready',
  progress: 1,
  sizeBytes: 734_003_200,
  durationSeconds: 1800.04,
  video: { codec: 'h264', width: 1920, height: 1080, framerate: 30 },
  audio: { codec: 'aac', sampleRate: 48_000, channels: 2 },
  preview: 'ready',
  warnings: [],
  waiting: null,
  error: null,
  createdAt: EXAMPLE.createdAt,
};

function sayUpload({ name, objectID, state, progress, warnings, error }: Upload): string {
  const what = `Upload "${name}" (${objectID})`;
  if (state === 'failed') return `${what} failed: ${error?.message ?? 'the reason is not known.'}`;
  const doing = state === 'ready' ? `${what} is ready.` : `${what} is ${state}, ${Math.round(100 * progress)} %.`;
  return [doing, ...warnings.map(({ message }) => message)].join(' ');
}

/** An agent may wait for the result of an upload. */
const untilSettled = {
  until: 'it is ready or has failed',
  say: sayUpload,
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
      'Begins to fetch the file; `state` of the upload says how far it is. Media are prepared once, for all streams.',
    input: UploadFromLink,
    output: created(Upload, ({ objectID }) => `/uploads/${objectID}`),
    errors: ['link_forbidden', 'upload_quota_exceeded'],
    examples: { input: { type: 'VIDEO', url: 'https://media.example.com/fireplace.mp4' }, output: exampleUpload },
    mcp: {
      title: 'Import media from a link',
      description:
        'Imports a video or audio file from a public http or https link. It takes from seconds to minutes: give `wait`, or call get_upload with `wait` until `state` is ready.',
      wait: untilSettled,
      say: sayUpload,
      reachesOut: true,
    },
    graphql: { description: 'Imports media from a link.' },
    run: ({ uploads }, { accountId, input }) => uploads.fromLink(accountId, input),
  }),

  operation({
    id: 'listUploads',
    scope: 'read',
    http: 'GET /uploads',
    summary: 'Uploads, newest first',
    description: `The media of the account. ${PAGED}`,
    output: page(Upload, 'UploadList'),
    examples: { output: exampleUpload },
    mcp: { title: 'List uploads', description: 'Uploads of the account, newest first.' },
    graphql: { description: 'Uploads, newest first unless orderBy says otherwise.' },
    run: ({ uploads }, { accountId, page, where }) => uploads.list(accountId, page, where),
  }),

  operation({
    id: 'getUpload',
    scope: 'read',
    http: 'GET /uploads/{id}',
    summary: 'One upload',
    description: `An upload with its state, and with why it failed where it did. ${OWNED}`,
    output: record(Upload),
    examples: { output: exampleUpload },
    mcp: {
      title: 'Look at an upload',
      description: 'One upload. With `wait` it answers when the upload is ready or has failed.',
      wait: untilSettled,
      say: sayUpload,
    },
    graphql: { description: 'One upload, by its objectID.' },
    run: ({ uploads }, { accountId, id }) => uploads.get(accountId, id),
  }),

  operation({
    id: 'getUploadPreview',
    scope: 'read',
    http: 'GET /uploads/{id}/preview.flv',
    summary: 'The first minute of an upload, as FLV',
    description:
      'Of what was prepared for a stream. Where nothing was, the first call has it prepared to be looked at, and the answer ' +
      'is 409 `upload_not_prepared` until `preview` of the upload is `ready`.',
    // OpenAPI 3.1: a binary body has no schema.
    output: content({ 'video/x-flv': Type.Unsafe<unknown>({}) }),
    errors: ['upload_not_prepared'],
    isUncached: true,
  }),

  operation({
    id: 'retryUpload',
    scope: 'write',
    http: 'POST /uploads/{id}/retry',
    summary: 'Fetch the link of a failed upload again',
    description:
      'The upload keeps its objectID, and what refers to it. 409 `upload_not_failed` while it is on its way or ready, ' +
      '`upload_not_from_link` where a client has sent the file.',
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
      title: 'Try a failed upload again',
      description:
        'Fetches the link of an upload again that has failed; it keeps its id. Refused for what is on its way or ready, and for files that a client has sent.',
      wait: untilSettled,
      say: sayUpload,
      reachesOut: true,
    },
    graphql: {
      description:
        'Fetches the link of a failed upload again; `upload_not_failed` while it is on its way or ready, `upload_not_from_link` where a client has sent the file.',
    },
    run: ({ uploads }, { accountId, id }) => uploads.retry(accountId, id),
  }),

  operation({
    id: 'deleteUpload',
    scope: 'destructive',
    http: 'DELETE /uploads/{id}',
    summary: 'Delete an upload',
    description: '409 `upload_in_use` while a stream or a playlist plays it.',
    output: deleted,
    errors: ['upload_in_use', 'conflict'],
    mcp: {
      title: 'Delete an upload',
      description: 'Deletes an upload and its media. Refused while a stream or a playlist plays it.',
    },
    graphql: { description: 'Deletes an upload; `upload_in_use` while a stream or a playlist plays it.' },
    run: ({ uploads }, { accountId, id }) => uploads.delete(accountId, id),
  }),
] as const;
