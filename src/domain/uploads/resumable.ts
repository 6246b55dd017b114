/**
 * Declares the operations of resumable uploads: their headers and responses. The tus protocol
 * (https://tus.io/protocols/resumable-upload) defines their meaning, so their routes are written by hand. Pure: no I/O, no clock.
 */
import { type TSchema, Type } from 'typebox';
import type { ErrorCode } from '../../lib/errors.ts';
import { EXAMPLE } from '../../lib/examples.ts';
import { headers, operationsOf } from '../../lib/operation.ts';
import { CHECKSUM_ALGORITHMS } from './checksum.ts';

const operation = operationsOf({
  tag: 'uploads',
  object: { idName: 'objectID of the upload', exampleId: EXAMPLE.upload, notFound: 'upload_not_found' },
});

export const BYTES = 'application/offset+octet-stream';

const TUS = { 'Tus-Resumable': Type.Enum(['1.0.0'], { description: 'Version of the protocol.' }) };
const count = (description: string) => Type.Integer({ minimum: 0, description });
const OFFSET = { 'Upload-Offset': count('How many bytes have come.') };
const LENGTH = { 'Upload-Length': count('How many bytes there will be.') };
const METADATA = {
  'Upload-Metadata': Type.String({
    description:
      'Pairs of a key and a value in Base64: `type` is VIDEO, AUDIO or a MIME type, which may stand in `filetype` as well; without ' +
      'it the extension of `filename` counts. `name` or `filename` is shown to people.',
  }),
};
const DEFERRED = { 'Upload-Defer-Length': Type.Enum(['1'], { description: 'The length is said with later bytes.' }) };
const CONCAT = {
  'Upload-Concat': Type.String({
    description: '`partial` for a part; `final;` and the URLs of parts, with spaces between them, for the whole.',
  }),
};
const CHECKSUM = {
  'Upload-Checksum': Type.String({
    description: `One of ${CHECKSUM_ALGORITHMS}, a space, and the sum of the body in Base64. Another sum is 460, and nothing of the body is kept.`,
  }),
};
const optional = (fields: Record<string, TSchema>) =>
  Object.fromEntries(Object.entries(fields).map(([name, schema]) => [name, Type.Optional(schema)]));
const EXPIRES = { 'Upload-Expires': Type.String({ description: 'When what has not come whole is cleared away.' }) };

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
    summary: 'What resumable uploads can do',
    description: 'The versions and extensions of tus, and the largest file. It needs no key.',
    output: headers(204, {
      ...TUS,
      'Tus-Version': Type.String({ description: 'Versions of the protocol.' }),
      'Tus-Extension': Type.String({ description: 'Extensions of it.' }),
      'Tus-Max-Size': count('The largest upload in bytes.'),
      'Tus-Checksum-Algorithm': Type.String({ description: 'What sums can be made by.' }),
    }),
  }),

  operation({
    id: 'createResumableUpload',
    scope: 'write',
    http: 'POST /uploads/resumable',
    summary: 'Begin to send media (tus)',
    description: 'The last part of `Location` is the objectID. A body may bring the first bytes, as PATCH does.',
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
    summary: 'How much of it has come (tus)',
    description: 'In headers: where to go on sending.',
    headers: TUS,
    output: headers(200, { ...TUS, ...OFFSET, ...LENGTH, ...DEFERRED, ...METADATA, ...CONCAT }),
    errors: ['upload_conflict', 'tus_version_unsupported'],
    examples: { parameters },
  }),

  operation({
    id: 'appendToResumableUpload',
    scope: 'write',
    http: 'PATCH /uploads/resumable/{id}',
    summary: 'Send what follows (tus)',
    description: 'When all of it has come, the upload is imported.',
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
    summary: 'Give up what has not come whole (tus)',
    description: 'What has come is thrown away, and no longer counts.',
    headers: TUS,
    output: headers(204, TUS),
    errors: ['upload_conflict', 'conflict', 'tus_version_unsupported'],
    examples: { parameters },
  }),
] as const;
