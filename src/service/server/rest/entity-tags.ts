/** Reads the entity tags that a client knows. Pure: no I/O, no clock. */
import type { FastifyRequest } from 'fastify';

/** Whether If-None-Match names the tag, which is compared weakly (RFC 9110, section 13.1.2). */
export const hasTag = ({ headers }: Pick<FastifyRequest, 'headers'>, tag: string): boolean =>
  (headers['if-none-match'] ?? '').split(',').some((one) => one.trim().replace(/^W\//, '') === tag);
