/** Sends previews of streams and uploads while they are produced. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { StatsService } from '../../domain/stats/service.ts';
import type { UploadService } from '../../domain/uploads/service.ts';
import type { Handlers } from './adapter.ts';

interface PreviewDeps {
  stats: Pick<StatsService, 'preview'>;
  uploads: Pick<UploadService, 'preview'>;
  /** Aborts when the server stops: a stream's preview has no end of its own. */
  stopping: AbortSignal;
}

const sendMedia = (reply: FastifyReply, media: unknown) =>
  reply.type('video/x-flv').header('cache-control', 'no-store').send(media);

const readId = ({ params }: FastifyRequest): string => (params as { id: string }).id;

export const previewHandlers = ({ stats, uploads, stopping }: PreviewDeps): Handlers => ({
  async getStreamPreview(request, reply) {
    const gone = new AbortController();
    reply.raw.once('close', () => gone.abort());
    const signal = AbortSignal.any([gone.signal, stopping]);
    return sendMedia(reply, await stats.preview(request.principal.accountId, readId(request), signal));
  },

  async getUploadPreview(request, reply) {
    return sendMedia(reply, await uploads.preview(request.principal.accountId, readId(request)));
  },
});
