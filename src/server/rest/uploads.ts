/** REST: uploads. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { Upload, UploadFromLink } from '../../domain/uploads/record.ts';
import type { UploadService } from '../../domain/uploads/service.ts';
import { bodyMayBeMissing, NoBody } from '../http/body.ts';
import { flatten, ListQuery, listOf, pageArgs } from '../http/page.ts';

const params = Type.Object({ id: Type.String({ description: 'objectID of the upload.' }) });
const tags = ['uploads'];

export const uploadRoutes: FastifyPluginAsyncTypebox<{ uploads: UploadService }> = async (app, { uploads }) => {
  app.post(
    '/uploads/from-link',
    {
      schema: {
        operationId: 'createUploadFromLink',
        tags,
        summary: 'Import media from a link',
        body: UploadFromLink,
        response: { 201: Upload },
      },
    },
    async (request, reply) => {
      const upload = await uploads.fromLink(request.principal.accountId, request.body);
      return reply.code(201).header('location', `/v1/uploads/${upload.objectID}`).send(upload);
    },
  );

  app.get(
    '/uploads',
    {
      schema: {
        operationId: 'listUploads',
        tags,
        summary: 'Uploads, newest first',
        querystring: ListQuery,
        response: { 200: listOf(Upload, 'UploadList') },
      },
    },
    async ({ principal, query }) => flatten(uploads.list(principal.accountId, pageArgs(query))),
  );

  app.get(
    '/uploads/:id',
    { schema: { operationId: 'getUpload', tags, summary: 'One upload', params, response: { 200: Upload } } },
    async ({ principal, params }) => uploads.get(principal.accountId, params.id),
  );

  app.get(
    '/uploads/:id/preview.flv',
    {
      exposeHeadRoute: false,
      schema: {
        operationId: 'getUploadPreview',
        tags,
        summary: 'The first minute of an upload, as FLV',
        description:
          'Of what was prepared for a stream. Where nothing was, the first call has it prepared to be looked at, and the answer ' +
          'is 409 `upload_not_prepared` until `preview` of the upload is `ready`.',
        params,
        // OpenAPI 3.1: bytes in a body have no schema.
        response: { 200: { content: { 'video/x-flv': { schema: Type.Unsafe<unknown>({}) } } } },
      },
    },
    async ({ principal, params }, reply) => {
      const media = await uploads.preview(principal.accountId, params.id);
      return reply.type('video/x-flv').header('cache-control', 'no-store').send(media);
    },
  );

  app.post(
    '/uploads/:id/retry',
    {
      preValidation: bodyMayBeMissing,
      schema: {
        operationId: 'retryUpload',
        tags,
        summary: 'Fetch the link of a failed upload again',
        description:
          'The upload keeps its objectID, and what refers to it. 409 `upload_not_failed` while it is on its way or ready, ' +
          '`upload_not_from_link` where a client has sent the file.',
        params,
        body: NoBody,
        response: { 200: Upload },
      },
    },
    async ({ principal, params }) => uploads.retry(principal.accountId, params.id),
  );

  app.delete(
    '/uploads/:id',
    {
      schema: {
        operationId: 'deleteUpload',
        tags,
        summary: 'Delete an upload',
        description: '409 `upload_in_use` while a stream or a playlist plays it.',
        params,
        response: { 204: Type.Null() },
      },
    },
    async ({ principal, params }, reply) => {
      await uploads.delete(principal.accountId, params.id);
      return reply.code(204).send(null);
    },
  );
};
