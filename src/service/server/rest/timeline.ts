/** Sends what a stream plays now, and its timeline as XMLTV, iCalendar and CSV. */
import { createHash } from 'node:crypto';
import { TIMELINE_MEDIA_TYPES, type TimelineFormat } from '../../../core/programme/formats.ts';
import type { StreamNow } from '../../domain/timeline/record.ts';
import type { TimelineAsked, TimelineService } from '../../domain/timeline/service.ts';
import type { Handlers } from './adapter.ts';
import { hasTag } from './entity-tags.ts';

/** Changes with the items and not with the time: the weak tag of answers that say the same. */
function buildTag({ elapsedSeconds: _, remainingSeconds: __, ...items }: StreamNow): string {
  return `"${createHash('sha256').update(JSON.stringify(items)).digest('base64url').slice(0, 22)}"`;
}

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
