/** The built page at `/`, where there is one, and the answer to every path outside of the API that does not exist. */
import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { answerError } from './errors.ts';
import type { Methods } from './methods.ts';

const YEAR_SECONDS = 31_536_000;
/** The build puts a hash of the content into these names, so what is there never changes. */
const HASHED = /\/assets\//;

/** A person's browser asking for a page of ours: the page itself knows its paths. */
const wantsPage = ({ method, url, headers }: FastifyRequest): boolean =>
  (method === 'GET' || method === 'HEAD') &&
  (headers.accept ?? '').includes('text/html') &&
  !/^\/(v1|graphql|docs|api|mcp|assets|\.well-known)(\/|\?|$)/.test(url);

/** `dir` holds index.html and assets/. Without it only the API is served. */
export async function serveDashboard(app: FastifyInstance, dir: string | undefined, methods: Methods): Promise<void> {
  if (dir !== undefined) {
    await app.register(fastifyStatic, {
      root: dir,
      wildcard: false,
      // The build has put what is packed beside each file; it is no address of its own.
      preCompressed: true,
      globIgnore: ['**/*.{br,gz}'],
      cacheControl: false,
      setHeaders: (reply, path) => {
        const cache = HASHED.test(path) ? `public, max-age=${YEAR_SECONDS}, immutable` : 'no-cache';
        void reply.header('cache-control', cache);
      },
    });
  }
  app.setNotFoundHandler((request, reply) => {
    if (dir !== undefined && wantsPage(request)) return reply.sendFile('index.html');
    return answerError(methods.nothingAt(request, reply), request, reply);
  });
}
