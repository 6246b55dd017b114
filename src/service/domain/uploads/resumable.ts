/**
 * Declares the operations of resumable uploads: their headers and responses. The tus protocol
 * (https://tus.io/protocols/resumable-upload) defines their meaning, so their routes are written by hand. Pure: no I/O, no clock.
 */
import { type TSchema, Type } from 'typebox';
import type { ErrorCode } from '../../lib/errors.ts';
import { EXAMPLE } from '../../lib/examples.ts';
import { createOperationBuilder, headers } from '../../lib/operation.ts';
import { CHECKSUM_ALGORITHMS } from './checksum.ts';

const operation = createOperationBuilder({
  tag: 'uploads',
  isOpenToLimitedKeys: true,
  object: { idName: 'objectID of the upload', exampleId: EXAMPLE.upload, notFound: 'upload_not_found' },
});

export const BYTES = 'application/offset+octet-stream';

const TUS = { 'Tus-Resumable': Type.Enum(['1.0.0'], { description: 'Version of the tus protocol.' }) };
const count = (description: string) => Type.Integer({ minimum: 0, description });
const OFFSET = { 'Upload-Offset': count('Number of bytes received.') };
const LENGTH = { 'Upload-Length': count('Size of the whole upload, in bytes.') };
const METADATA = {
  'Upload-Metadata': Type.String({
    description:
      'Pairs of a key and a Base64 value. `type` is VIDEO, AUDIO, IMAGE or a MIME type (image/png is a VIDEO of a still), which `filetype` may also hold. ' +
      'Without it, the extension of `filename` decides. `name` or `filename` becomes the display name. `labels` holds labels, such as team=news,env=prod.',
  }),
};
const DEFERRED = {
  'Upload-Defer-Length': Type.Enum(['1'], { description: 'The client declares the length in a later request.' }),
};
const CONCAT = {
  'Upload-Concat': Type.String({
    description: '`partial` for a part. `final;` and the space-separated URLs of the parts for the whole upload.',
  }),
};
const CHECKSUM = {
  'Upload-Checksum': Type.String({
    description: `One of ${CHECKSUM_ALGORITHMS}, a space, and the checksum of the body in Base64. If it does not match, the request fails with 460 and the body is discarded.`,
  }),
};
const optional = (fields: Record<string, TSchema>) =>
  Object.fromEntries(Object.entries(fields).map(([name, schema]) => [name, Type.Optional(schema)]));
const EXPIRES = { 'Upload-Expires': Type.String({ description: 'Time at which an incomplete upload is deleted.' }) };

const parameters = {
  'Tus-Resumable': '1.0.0',
  'Upload-Length': 734_003_200,
  'Upload-Offset': 4_194_304,
  'Upload-Metadata': 'type VklERU8=,filename ZmlyZXBsYWNlLm1wNA==',
  'Upload-Defer-Length': '1',
  'Upload-Concat': 'final;/v1/uploads/resumable/upl-01k0part1 /v1/uploads/resumable/upl-01k0part2',
  'Upload-Checksum': 'sha1 Kq5sNclPz7QV2+lfQIuc6R7oRu0=',
};

/** Errors of every request that sends bytes. */
const SENDING: readonly ErrorCode[] = ['too_many_uploads_at_once', 'server_busy'];

export const resumableOperations = [
  operation({
    id: 'getResumableUploadOptions',
    scope: null,
    http: 'OPTIONS /uploads/resumable',
    summary: 'Get the capabilities of resumable uploads',
    description: 'Returns the tus versions and extensions, and the largest file size. Needs no key.',
    output: headers(204, {
      ...TUS,
      'Tus-Version': Type.String({ description: 'Supported protocol versions.' }),
      'Tus-Extension': Type.String({ description: 'Supported protocol extensions.' }),
      'Tus-Max-Size': count('Largest upload, in bytes.'),
      'Tus-Checksum-Algorithm': Type.String({ description: 'Supported checksum algorithms.' }),
    }),
  }),

  operation({
    id: 'createResumableUpload',
    scope: 'write',
    http: 'POST /uploads/resumable',
    summary: 'Create a resumable upload (tus)',
    description: 'The last part of `Location` is the objectID. A body may carry the first bytes, as in PATCH.',
    headers: { ...TUS, ...optional({ ...LENGTH, ...DEFERRED, ...METADATA, ...CONCAT, ...CHECKSUM }) },
    output: headers(201, { ...TUS, ...EXPIRES }),
    errors: [
      'upload_quota_exceeded',
      'upload_conflict',
      'media_too_large',
      'tus_version_unsupported',
      'upload_not_found',
      'upload_checksum_mismatch',
      ...SENDING,
    ],
    examples: { parameters },
  }),

  operation({
    id: 'getResumableUpload',
    scope: 'write',
    http: 'HEAD /uploads/resumable/{id}',
    summary: 'Get the offset of a resumable upload (tus)',
    description: 'Returns in headers the offset at which to continue.',
    headers: TUS,
    output: headers(200, { ...TUS, ...OFFSET, ...LENGTH, ...DEFERRED, ...METADATA, ...CONCAT }),
    errors: ['upload_conflict', 'tus_version_unsupported'],
    examples: { parameters },
  }),

  operation({
    id: 'appendToResumableUpload',
    scope: 'write',
    http: 'PATCH /uploads/resumable/{id}',
    summary: 'Send bytes of a resumable upload (tus)',
    description: 'Once all bytes have arrived, the upload is imported.',
    headers: { ...TUS, ...OFFSET, ...optional({ ...LENGTH, ...CHECKSUM }) },
    consumes: BYTES,
    input: Type.String({ format: 'binary' }),
    output: headers(204, { ...TUS, ...OFFSET, ...EXPIRES }),
    errors: [
      'upload_conflict',
      'upload_is_final',
      'upload_checksum_mismatch',
      'upload_quota_exceeded',
      'media_too_large',
      'tus_version_unsupported',
      ...SENDING,
    ],
    examples: { parameters },
  }),

  operation({
    id: 'cancelResumableUpload',
    scope: 'write',
    http: 'DELETE /uploads/resumable/{id}',
    summary: 'Cancel an incomplete upload (tus)',
    description: 'Discards the received bytes. They no longer count towards the limits.',
    headers: TUS,
    output: headers(204, TUS),
    errors: ['upload_conflict', 'conflict', 'tus_version_unsupported'],
    examples: { parameters },
  }),
] as const;
