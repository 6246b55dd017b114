/** The description of the API without a server: docs/openapi.json and docs/errors/ are made from it. */
import swagger from '@fastify/swagger';
import Fastify from 'fastify';
import { V1 } from '../rest/adapter.ts';
import { nounRoutes, type RouteDeps } from '../rest/routes.ts';
import type { OpenApi } from './document.ts';
import { completeOpenApi, OPENAPI } from './openapi.ts';

/** Stands for everything that routes only use once they are asked: whatever is read of it or called is it again. */
const NOTHING: unknown = new Proxy(() => NOTHING, { get: (_target, name) => (name === 'then' ? undefined : NOTHING) });

/** The document that GET /v1/openapi.json answers with; `scopePrefix` is the first word of the scopes. */
export async function describeApi(scopePrefix = 'service'): Promise<OpenApi> {
  const app = Fastify();
  try {
    app.setValidatorCompiler(() => () => true);
    app.setSerializerCompiler(() => JSON.stringify);
    await app.register(swagger, OPENAPI);
    await app.register(async (v1) => nounRoutes(v1, NOTHING as RouteDeps), { prefix: V1 });
    await app.ready();
    return completeOpenApi(app.swagger(), scopePrefix);
  } finally {
    await app.close();
  }
}
