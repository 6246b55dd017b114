/**
 * The operations of resumable uploads, for the description of the API. It tells their headers and answers; what these mean to
 * each other is the protocol's (https://tus.io/protocols/resumable-upload), and so is the check of them. Pure: no I/O, no clock.
 */
import { type TSchema, Type } from 'typebox';
import { CHECKSUM_ALGORITHMS } from '../../domain/uploads/checksum.ts';
import { BYTES } from './headers.ts';

const tags = ['uploads'];
const params = Type.Object({ id: Type.String({ description: 'objectID of the upload.' }) });
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
const optional = (headers: Record<string, TSchema>) =>
  Object.fromEntries(Object.entries(headers).map(([name, schema]) => [name, Type.Optional(schema)]));
const EXPIRES = { 'Upload-Expires': Type.String({ description: 'When what has not come whole is cleared away.' }) };

/** An answer without a body. */
const empty = (headers: Record<string, TSchema>) => ({ type: 'null', headers: { ...TUS, ...headers } });

/** The protocol has codes of its own for what is wrong with its headers, so that nothing is checked before. */
const unchecked = () => () => true as const;

export const tusOperations = (path: string) =>
  [
    {
      method: 'OPTIONS',
      url: path,
      schema: {
        ...{ operationId: 'getResumableUploadOptions', tags, summary: 'What resumable uploads can do' },
        response: {
          204: empty({
            'Tus-Version': Type.String({ description: 'Versions of the protocol.' }),
            'Tus-Extension': Type.String({ description: 'Extensions of it.' }),
            'Tus-Max-Size': count('The largest upload in bytes.'),
            'Tus-Checksum-Algorithm': Type.String({ description: 'What sums can be made by.' }),
          }),
        },
      },
    },
    {
      method: 'POST',
      url: path,
      schema: {
        ...{ operationId: 'createResumableUpload', tags, summary: 'Begin to send media (tus)' },
        description: 'The last part of `Location` is the objectID. A body may bring the first bytes, as PATCH does.',
        headers: Type.Object({ ...TUS, ...optional({ ...LENGTH, ...DEFERRED, ...METADATA, ...CONCAT, ...CHECKSUM }) }),
        response: { 201: empty(EXPIRES) },
      },
    },
    {
      method: 'HEAD',
      url: `${path}/:id`,
      config: { swagger: { exposeHeadRoute: true } },
      schema: {
        ...{ operationId: 'getResumableUpload', tags, summary: 'How much of it has come (tus)' },
        ...{ params, headers: Type.Object(TUS) },
        response: { 200: empty({ ...OFFSET, ...LENGTH, ...DEFERRED, ...METADATA, ...CONCAT }) },
      },
    },
    {
      method: 'PATCH',
      url: `${path}/:id`,
      schema: {
        ...{ operationId: 'appendToResumableUpload', tags, summary: 'Send what follows (tus)', consumes: [BYTES] },
        description: 'When all of it has come, the upload is imported.',
        ...{ params, headers: Type.Object({ ...TUS, ...OFFSET, ...optional({ ...LENGTH, ...CHECKSUM }) }) },
        body: Type.String({ format: 'binary' }),
        response: { 204: empty({ ...OFFSET, ...EXPIRES }) },
      },
    },
    {
      method: 'DELETE',
      url: `${path}/:id`,
      schema: {
        ...{ operationId: 'cancelResumableUpload', tags, summary: 'Give up what has not come whole (tus)' },
        ...{ params, headers: Type.Object(TUS) },
        response: { 204: empty({}) },
      },
    },
  ].map((route) => ({ ...route, validatorCompiler: unchecked }));
