/** Declares the operations on the service itself, and the feed of changes. */
import { type Static, Type } from 'typebox';
import type { Health } from '../../lib/health.ts';
import { content, operationsOf, record } from '../../lib/operation.ts';

export interface MetaServices {
  health: Health;
  version: string;
  openApi: () => unknown;
}

const operation = operationsOf<MetaServices>({ tag: 'meta' });

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

export const metaOperations = [
  operation({
    id: 'getStatus',
    scope: null,
    http: 'GET /status',
    summary: 'Health check',
    description:
      'Whether the parts that the service needs answer. It needs no key, and is `degraded` rather than an error.',
    output: record(Status),
    examples: {
      output: {
        status: 'ok',
        version: '0.1.0',
        time: '2027-01-31T18:00:02Z',
        components: { kubernetes: 'ok', database: 'ok' },
      },
    },
    run: async ({ health, version }): Promise<Static<typeof Status>> => {
      const components = await health();
      const isWell = Object.values(components).every((component) => component === 'ok');
      return { status: isWell ? 'ok' : 'degraded', version, time: new Date().toISOString(), components };
    },
  }),

  operation({
    id: 'getOpenApi',
    scope: null,
    http: 'GET /openapi.json',
    summary: 'This description',
    description: 'This document, for generators of clients and for tools. It needs no key.',
    output: record(Type.Unsafe<unknown>({ type: 'object' })),
    run: ({ openApi }) => openApi(),
  }),
] as const;

/** An event after parsing; OpenAPI cannot describe an endless body otherwise. */
const Event = Type.Object(
  {
    event: Type.Enum(['reset', 'change']),
    data: Type.String({
      description:
        'JSON: of `change` the noun, the id and what has become of it; of `reset` an empty object. Nouns are stream, destination, ' +
        'upload and playlist, and with the scope billing balance, topUp, invoice and deposit.',
    }),
  },
  { title: 'ChangeEvent' },
);

/** The response is endless, so its route is written by hand. */
export const watchChanges = operationsOf({ tag: 'account' })({
  id: 'watchChanges',
  scope: 'read',
  http: 'GET /changes',
  summary: 'What changes, as it changes',
  description:
    'Server-sent events without an end. `reset` comes first, and whenever changes were left out: what was read before ' +
    'may be old. `change` has a Change as its data: read what it names. Lines that begin with a colon show that the ' +
    'connection is alive, every ten seconds. It ends with the server, and when the credentials are no longer ' +
    'accepted; connect again, with pauses. To follow with EventSource is possible where a cookie is sent; others read ' +
    'the body as it comes.',
  output: content({ 'text/event-stream': Type.Unsafe<unknown>(Event) }),
  errors: ['too_many_feeds', 'server_busy'],
  isUncached: true,
});
