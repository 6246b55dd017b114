/** Serves a bare Fastify's answer behind the API's guards of each request; on Postgres. */
import Fastify from 'fastify';
import { openAuth } from '../../../src/service/auth/open.ts';
import type { AuthService, Credentials } from '../../../src/service/auth/service.ts';
import { serveAuth } from '../../../src/service/server/auth/serve.ts';
import { handleErrors } from '../../../src/service/server/http/errors.ts';
import { guard } from '../../../src/service/server/http/guard.ts';
import { createMethods } from '../../../src/service/server/http/methods.ts';
import { apiConfig } from '../../../src/service/server/setup/settings.ts';
import { serve } from '../api/worker.ts';

const NO_LIMIT = '1000000000';
type Known = Credentials & { headers: Record<string, string> };
let service: AuthService | undefined;
let url = '';

/** `environment` is that of an API server. It returns `answer` at /v1/answer to credentials that may read. */
async function start(environment: Record<string, string>, answer: unknown): Promise<string> {
  const config = apiConfig({ ...environment, LOOPSTREAM_RATE_LIMIT_REQUESTS: NO_LIMIT });
  const opened = openAuth(config);
  service = opened.service;
  const app = Fastify();
  handleErrors(app, config.publicUrl);
  await app.register(async (api) => {
    await guard(api, { auth: opened.service, ...config });
    api.get('/v1/answer', { schema: { operationId: 'listStreams' } }, async () => answer);
  });
  const server = { library: opened.library, documents: opened.documents, ...opened.service };
  await app.register(async (auth) =>
    serveAuth(auth, server, { config, auth: opened.service, methods: createMethods() }),
  );
  url = await app.listen({ host: '127.0.0.1', port: config.port });
  return url;
}

/** Returns the microseconds to authenticate a recently seen credential; expired cache entries are refreshed uncounted. */
async function check({ headers, ...credentials }: Known, times: number): Promise<number> {
  if (!service) throw new Error('it has not begun');
  let spent = 0;
  let known = 0;
  while (known < times) {
    await fetch(`${url}/v1/answer`, { headers });
    const [since, before] = [performance.now(), known];
    while (known - before < 1000 && service.known(credentials)) known += 1;
    spent += performance.now() - since;
  }
  return (1000 * spent) / known;
}

const jobs = { start, check };
export type GuardedJobs = typeof jobs;
serve(jobs);
