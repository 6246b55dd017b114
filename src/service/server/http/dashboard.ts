/** Serves the built page at `/`, if there is one, and the response for every unknown path outside of the API. */
import fastifyStatic from '@fastify/static';
import type { FastifyInstance } from 'fastify';
import { isPagePath } from '../../lib/page-paths.ts';
import { answerError } from './errors.ts';
import type { Methods } from './methods.ts';
import { isPageVisit, readPath } from './visits.ts';

const YEAR_SECONDS = 31_536_000;
/** The build puts a content hash into these names, so these files never change. */
const HASHED = /\/assets\//;

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
    // The page itself says that there is nothing.
    if (dir !== undefined && isPageVisit(request))
      return reply.code(isPagePath(readPath(request.url)) ? 200 : 404).sendFile('index.html');
    return answerError(methods.nothingAt(request, reply), request, reply);
  });
}
