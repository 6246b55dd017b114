/** Declares the operations on the service itself, and the feed of changes. */
import { Type } from 'typebox';
import { Status } from '../../domain/status/record.ts';
import type { ProcessHealth } from '../../lib/health.ts';
import { content, createOperationBuilder, record } from '../../lib/operation.ts';

export interface MetaServices {
  health: ProcessHealth;
  version: string;
  openApi: () => unknown;
}

const operation = createOperationBuilder<MetaServices>({ tag: 'meta' });

export const metaOperations = [
  operation({
    id: 'getStatus',
    scope: null,
    http: 'GET /status',
    summary: 'Health check',
    description:
      'Reports whether the components of the service respond. Needs no key. A failed component makes the status ' +
      '`degraded`; the request itself succeeds.',
    output: record(Status),
    examples: {
      output: {
        status: 'ok',
        version: '0.1.0',
        time: '2027-01-31T18:00:02Z',
        components: { kubernetes: 'ok', database: 'ok' },
      },
    },
    run: async ({ health, version }): Promise<Status> => {
      const components = await health();
      const isWell = Object.values(components).every((component) => component === 'ok');
      return { status: isWell ? 'ok' : 'degraded', version, time: new Date().toISOString(), components };
    },
  }),

  operation({
    id: 'getOpenApi',
    scope: null,
    http: 'GET /openapi.json',
    summary: 'Get this API description',
    description: 'Returns this document, for client generators and other tools. Needs no key.',
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
        'JSON. For `change`: the noun, the id and the kind of change. For `reset`: an empty object. Nouns are stream, ' +
        'destination, upload and playlist, and with the scope billing also balance, topUp, invoice and deposit.',
    }),
  },
  { title: 'ChangeEvent' },
);

/** The response is endless, so its route is written by hand. */
export const watchChanges = createOperationBuilder({ tag: 'account' })({
  id: 'watchChanges',
  scope: 'read',
  http: 'GET /changes',
  summary: 'Stream changes as they happen',
  description:
    'Sends server-sent events without end. `reset` comes first, and again whenever changes were lost: data read ' +
    'before may be stale. `change` carries a Change: read the object that it names. A line that begins with a ' +
    'colon every ten seconds shows that the connection is alive. The connection ends when the server stops, or ' +
    'when the credentials are no longer accepted: reconnect with backoff. EventSource works only with a cookie. ' +
    'Other clients read the body as it arrives.',
  output: content({ 'text/event-stream': Type.Unsafe<unknown>(Event) }),
  errors: ['too_many_feeds', 'server_busy'],
  isUncached: true,
});
