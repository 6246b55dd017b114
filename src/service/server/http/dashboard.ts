/** Serves the built page at `/`, if there is one, and the response for every unknown path outside of the API. */
import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { answerError } from './errors.ts';
import type { Methods } from './methods.ts';

const YEAR_SECONDS = 31_536_000;
/** The build puts a content hash into these names, so these files never change. */
const HASHED = /\/assets\//;

/** A person's browser requests a page of ours: the page itself knows its paths. */
const wantsPage = ({ method, url, headers }: FastifyRequest): boolean =>
  (method === 'GET' || method === 'HEAD') &&
  (headers.accept ?? '').includes('text/html') &&
  !/^\/(v1|graphql|docs|api|mcp|assets|\.well-known)(\/|\?|$)/.test(url);

/** `dir` contains index.html and assets/. Without it only the API is served. */
export async function serveDashboard(app: FastifyInstance, dir: string | undefined, methods: Methods): Promise<void> {
  if (dir !== undefined) {
    await app.register(fastifyStatic, {
      root: dir,
      wildcard: false,
      // The build puts a compressed copy beside each file; it has no address of its own.
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
