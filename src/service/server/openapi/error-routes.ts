/** Serves the pages about error codes: /docs/errors and /docs/errors/<code>. */
import type { FastifyInstance } from 'fastify';
import { errorPageHeaders } from '../http/headers.ts';
import { DOCS } from '../http/visits.ts';
import type { OpenApi } from './document.ts';
import { listErrorDocs } from './errordocs.ts';
import { errorIndex, errorPage } from './errorpages.ts';

export function serveErrorPages(app: FastifyInstance, openApi: () => OpenApi): void {
  const hidden = { schema: { hide: true } as object, onRequest: errorPageHeaders };
  app.get(`${DOCS}/errors`, hidden, async (_request, reply) =>
    reply.type('text/html').send(errorIndex(listErrorDocs(openApi()))),
  );
  app.get(`${DOCS}/errors/:code`, hidden, async (request, reply) => {
    const { code } = request.params as { code: string };
    const found = listErrorDocs(openApi()).find((doc) => doc.code === code);
    return found ? reply.type('text/html').send(errorPage(found)) : reply.callNotFound();
  });
}
