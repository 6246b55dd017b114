/** Sends the badges of streams: images that pages of others show, without a credential. */
import { createHash } from 'node:crypto';
import type { BadgeShow } from '../../domain/uptime/badge.ts';
import type { UptimeService } from '../../domain/uptime/service.ts';
import type { Handlers } from './adapter.ts';
import { hasTag } from './entity-tags.ts';

/** `public`: the image is the same for everyone who has its address. Pages of others may show it; as a page it can do nothing. */
const HEADERS = {
  'cache-control': 'public, max-age=60',
  'cross-origin-resource-policy': 'cross-origin',
  'content-security-policy': "default-src 'none'; sandbox",
};

export const badgeHandlers = ({ uptime }: { uptime: Pick<UptimeService, 'badge'> }): Handlers => ({
  async getUptimeBadge(request, reply) {
    const { token } = request.params as { token: string };
    const svg = await uptime.badge(token, request.query as { show: BadgeShow; days: number });
    const etag = `"${createHash('sha256').update(svg).digest('base64url').slice(0, 22)}"`;
    void reply.headers({ ...HEADERS, etag });
    if (hasTag(request, etag)) return reply.code(304).send();
    return reply.type('image/svg+xml; charset=utf-8').send(svg);
  },
});
