/** GET /v1/status and /v1/openapi.json: open to everyone. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import type { Health } from '../../lib/health.ts';

const Component = Type.Enum(['ok', 'unavailable']);
const Status = Type.Object(
  {
    status: Type.Enum(['ok', 'degraded'], { description: 'degraded: a component is unavailable.' }),
    version: Type.String(),
    time: Type.String({ format: 'date-time' }),
    components: Type.Object({ kubernetes: Component, database: Component }),
  },
  { title: 'Status' },
);

export interface StatusDeps {
  health: Health;
  version: string;
}

interface Options extends StatusDeps {
  openApi: () => unknown;
}

export const statusRoutes: FastifyPluginAsyncTypebox<Options> = async (app, { health, version, openApi }) => {
  app.get(
    '/status',
    { schema: { operationId: 'getStatus', tags: ['meta'], summary: 'Health check', response: { 200: Status } } },
    async () => {
      const components = await health();
      const well = Object.values(components).every((component) => component === 'ok');
      const status: 'ok' | 'degraded' = well ? 'ok' : 'degraded';
      return { status, version, time: new Date().toISOString(), components };
    },
  );

  app.get(
    '/openapi.json',
    {
      schema: {
        operationId: 'getOpenApi',
        tags: ['meta'],
        summary: 'This description',
        response: { 200: Type.Unsafe<unknown>({ type: 'object' }) },
      },
    },
    async () => openApi(),
  );
};
