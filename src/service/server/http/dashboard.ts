/** Serves the built page at `/`, if there is one, and the response for every unknown path outside of the API. */
import fastifyStatic from '@fastify/static';
import type { FastifyInstance } from 'fastify';
import { isPagePath } from '../../lib/page-paths.ts';
import { answerError } from './errors.ts';
import type { Methods } from './methods.ts';
import { DOCS, findExplanation, isPageVisit, readPath } from './visits.ts';

const YEAR_SECONDS = 31_536_000;
/** The build puts a content hash into these names, so these files never change. */
const HASHED = /\/assets\//;

/** Documents that are served at other addresses than those of their files. */
const DOCUMENTS = ['docs.html', 'graphql.html', 'mcp.html'];

/** Sends a page to a browser that opens an address of programs. Must run before their routes, and before the hooks that ask who calls. */
export function explainToBrowsers(app: FastifyInstance, dir: string | undefined): void {
  if (dir === undefined) return;
  app.addHook('onRequest', (request, reply, done) => {
    const file = findExplanation(request);
    if (file === undefined) return done();
    reply.header('vary', 'accept').sendFile(file);
  });
}

/** The reference of the API, or its bare description where there are no pages. */
function serveReference(app: FastifyInstance, dir: string | undefined): void {
  const hidden = { schema: { hide: true } as object };
  for (const path of [DOCS, `${DOCS}/`])
    app.get(path, hidden, async (_request, reply) =>
      dir === undefined ? reply.redirect('/v1/openapi.json') : reply.sendFile('docs.html'),
    );
}

/** `dir` contains index.html and assets/. Without it only the API is served. */
export async function serveDashboard(app: FastifyInstance, dir: string | undefined, methods: Methods): Promise<void> {
  if (dir !== undefined) {
    await app.register(fastifyStatic, {
      root: dir,
      wildcard: false,
      // The build puts a compressed copy beside each file; it has no address of its own.
      preCompressed: true,
      globIgnore: ['**/*.{br,gz}', ...DOCUMENTS],
      cacheControl: false,
      setHeaders: (reply, path) => {
        const cache = HASHED.test(path) ? `public, max-age=${YEAR_SECONDS}, immutable` : 'no-cache';
        void reply.header('cache-control', cache);
        if (path.endsWith('.graphql')) void reply.type('text/plain; charset=utf-8');
      },
    });
  }
  serveReference(app, dir);
  app.setNotFoundHandler((request, reply) => {
    // The page itself says that there is nothing.
    if (dir !== undefined && isPageVisit(request))
      return reply.code(isPagePath(readPath(request.url)) ? 200 : 404).sendFile('index.html');
    return answerError(methods.nothingAt(request, reply), request, reply);
  });
}
