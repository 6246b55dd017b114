/** Records the methods of each path. Fastify knows only pairs of both, and would return 404 in place of 405. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../../lib/errors.ts';
import { readPath } from './visits.ts';

export interface Methods {
  /** Records all routes registered on `app`, or inside of it, from now on. */
  watch(app: FastifyInstance): void;
  /** Returns whether a literal path lacks this method, which a pattern like `/uploads/:id` would match instead. */
  isOther(request: FastifyRequest): boolean;
  /** Returns the error for an unknown path (404), or an unknown method of a path (405, RFC 9110, section 15.5.6). */
  nothingAt(request: FastifyRequest, reply: FastifyReply): AppError;
}

export function createMethods(): Methods {
  const byUrl = new Map<string, { matches: RegExp; methods: Set<string> }>();
  return {
    watch(app) {
      app.addHook('onRoute', ({ url, method }) => {
        const known = byUrl.get(url) ?? { matches: buildPattern(url), methods: new Set() };
        for (const name of [method].flat()) known.methods.add(name);
        byUrl.set(url, known);
      });
    },
    isOther({ url, method }) {
      const exact = byUrl.get(readPath(url));
      return exact !== undefined && !exact.methods.has(method);
    },
    nothingAt(request, reply) {
      const path = readPath(request.url);
      const exact = byUrl.get(path);
      const found = exact ? [exact] : [...byUrl.values()].filter(({ matches }) => matches.test(path));
      const allow = [...new Set(found.flatMap(({ methods }) => [...methods]))].sort().join(', ');
      if (allow === '') return new AppError('route_not_found', `No operation has the path ${path.slice(0, 200)}.`);
      void reply.header('allow', allow);
      return new AppError('method_not_allowed', `The path does not support ${request.method}. Use ${allow}.`);
    },
  };
}

/** Compiles `/streams/:id` and `/files/*` as find-my-way does; our paths use no more of its syntax. */
// linear-time: the routes are our own.
const buildPattern = (url: string): RegExp => new RegExp(`^${url.replace(/:\w+/g, '[^/]+').replace('*', '.*')}$`);
