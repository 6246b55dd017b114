/** Builds the API's description without a server, for docs/openapi.json and docs/errors/. */
import swagger from '@fastify/swagger';
import Fastify from 'fastify';
import { V1 } from '../rest/adapter.ts';
import { nounRoutes, type RouteDeps } from '../rest/routes.ts';
import type { OpenApi } from './document.ts';
import { completeOpenApi, OPENAPI } from './openapi.ts';

/** Stands in for every dependency that routes use only at request time: each property and result is the same proxy. */
const NOTHING: unknown = new Proxy(() => NOTHING, { get: (_target, name) => (name === 'then' ? undefined : NOTHING) });

/** Returns the document of GET /v1/openapi.json; `scopePrefix` is the first part of the scopes. */
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
