/** Which methods the paths of the API have. Fastify knows only pairs of them, and would say 404 where 405 is meant. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../../lib/errors.ts';

export interface Methods {
  /** Learns of all routes that are registered on `app`, or inside of it, from now on. */
  watch(app: FastifyInstance): void;
  /** Whether a path stands for itself and has not this method, which one like `/uploads/:id` would take for its own. */
  isOther(request: FastifyRequest): boolean;
  /** Why nothing was found: no such path (404), or not with this method (405, RFC 9110, section 15.5.6). */
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

const readPath = (url: string): string => url.split('?', 1)[0] ?? '';

/** `/streams/:id` and `/files/*` as find-my-way reads them; none of ours holds other signs of its language. */
const buildPattern = (url: string): RegExp => new RegExp(`^${url.replace(/:\w+/g, '[^/]+').replace('*', '.*')}$`);
