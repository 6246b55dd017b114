/** Sends what can be seen of streams and uploads: previews while they are produced, and posters. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { POSTER_MEDIA_TYPE } from '../../../core/resources/upload/poster.ts';
import type { StatsService } from '../../domain/stats/service.ts';
import type { UploadService } from '../../domain/uploads/service.ts';
import type { Handlers } from './adapter.ts';
import { hasTag } from './entity-tags.ts';

interface PreviewDeps {
  stats: Pick<StatsService, 'preview'>;
  uploads: Pick<UploadService, 'preview' | 'poster'>;
  /** Aborts when the server stops: a stream's preview has no end of its own. */
  stopping: AbortSignal;
}

const sendMedia = (reply: FastifyReply, media: unknown) =>
  reply.type('video/x-flv').header('cache-control', 'no-store').send(media);

/** A poster never changes under its address, so a browser asks once in a week. It belongs to one account: no shared cache keeps it. */
const POSTER_CACHING = `private, max-age=${7 * 86_400}, immutable`;

const readId = ({ params }: FastifyRequest): string => (params as { id: string }).id;

export const previewHandlers = ({ stats, uploads, stopping }: PreviewDeps): Handlers => ({
  async getStreamPreview(request, reply) {
    const gone = new AbortController();
    reply.raw.once('close', () => gone.abort());
    const signal = AbortSignal.any([gone.signal, stopping]);
    return sendMedia(reply, await stats.preview(request.principal.accountId, readId(request), signal));
  },

  async getUploadPoster(request, reply) {
    const { bytes, tag } = await uploads.poster(request.principal.accountId, readId(request));
    void reply.headers({ 'cache-control': POSTER_CACHING, etag: tag });
    if (hasTag(request, tag)) return reply.code(304).send();
    return reply.type(POSTER_MEDIA_TYPE).send(bytes);
  },

  async getUploadPreview(request, reply) {
    return sendMedia(reply, await uploads.preview(request.principal.accountId, readId(request)));
  },
});
