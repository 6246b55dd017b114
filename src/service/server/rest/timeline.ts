/** Sends what a stream plays now, and its timeline as XMLTV, iCalendar and CSV. */
import { createHash } from 'node:crypto';
import { TIMELINE_MEDIA_TYPES, type TimelineFormat } from '../../../core/programme/formats.ts';
import type { PublicNowService } from '../../domain/timeline/public-now.ts';
import type { PublicNow, StreamNow } from '../../domain/timeline/record.ts';
import type { TimelineAsked, TimelineService } from '../../domain/timeline/service.ts';
import type { Handlers } from './adapter.ts';
import { hasTag } from './entity-tags.ts';

/** Changes with the items and not with the time: the weak tag of answers that say the same. */
function buildTag({ elapsedSeconds: _, remainingSeconds: __, ...items }: StreamNow | PublicNow): string {
  return `"${createHash('sha256').update(JSON.stringify(items)).digest('base64url').slice(0, 22)}"`;
}

/** Allows caches between the pages and this server, which ask again each time: an answer has no time of its own that it is valid for. */
const PUBLIC = {
  'cache-control': 'public, no-cache',
  'cross-origin-resource-policy': 'cross-origin',
  // Other paths are for the configured origins alone.
  'access-control-allow-origin': '*',
};

export const publicNowHandlers = ({ publicNow }: { publicNow: Pick<PublicNowService, 'read'> }): Handlers => ({
  async getPublicNow(request, reply) {
    const { token } = request.params as { token: string };
    const now = await publicNow.read(token, request.query as Pick<TimelineAsked, 'track'>);
    const tag = buildTag(now);
    void reply.headers({ ...PUBLIC, etag: `W/${tag}` });
    if (hasTag(request, tag)) return reply.code(304).send();
    return now;
  },
});

export const timelineHandlers = ({ timeline }: { timeline: TimelineService }): Handlers => ({
  async getStreamNow(request, reply) {
    const { principal, query } = request;
    const { id } = request.params as { id: string };
    const now = timeline.now(principal.accountId, id, query as Pick<TimelineAsked, 'track'>);
    const tag = buildTag(now);
    void reply.headers({ etag: `W/${tag}`, 'cache-control': 'private, no-cache' });
    if (hasTag(request, tag)) return reply.code(304).send();
    return now;
  },

  async exportStreamTimeline({ principal, params, query }, reply) {
    const { id, format } = params as { id: string; format: TimelineFormat };
    const text = timeline.export(principal.accountId, id, format, query as Omit<TimelineAsked, 'limit'>);
    const ending = format === 'xmltv' ? 'xml' : format;
    return reply
      .type(`${TIMELINE_MEDIA_TYPES[format]}; charset=utf-8`)
      .header('content-disposition', `attachment; filename="timeline-${id}.${ending}"`)
      .send(text);
  },
});
