/** Declares the operations on events. Pure: no I/O, no clock. */
import { Type } from 'typebox';
import { DEGRADATIONS } from '../../../core/lib/codes/streams.ts';
import { validationFailed } from '../../lib/errors.ts';
import { createOperationBuilder, page } from '../../lib/operation.ts';
import { readSort } from '../../lib/paging/noun-list.ts';
import type { Scope } from '../../lib/scopes.ts';
import { AccountEvent, type AccountEventType, listMeanings, NO_DATA, OPT_IN_TYPES, RECORDED_TYPES } from './record.ts';
import type { AccountEventOrder, EventFilter, EventService } from './service.ts';

export interface EventServices {
  events: EventService;
}

const operation = createOperationBuilder<EventServices>({ tag: 'events' });

const ONE_TYPE = RECORDED_TYPES.join('|').replaceAll('.', '\\.');

/** The query of a feed of events, also where it is read without end. */
export const eventQuery = {
  after: Type.Optional(
    Type.String({
      pattern: '^(?:now|evt_[A-Za-z0-9_]{1,120})$',
      description:
        'Id of the last event that you know: events behind it follow. `now` stands for the last one. Without it, the oldest ' +
        'that is kept comes first.',
    }),
  ),
  types: Type.Optional(
    Type.String({
      pattern: `^(?:${ONE_TYPE})(?:,(?:${ONE_TYPE}))*$`,
      description: `Types of events, with commas between them. Without it, all types but ${OPT_IN_TYPES.filter((type) =>
        RECORDED_TYPES.includes(type),
      )
        .map((type) => `\`${type}\``)
        .join(', ')}.`,
    }),
  ),
  objectID: Type.Optional(Type.String({ maxLength: 100, description: 'Id of the object whose events are asked for.' })),
};

/** The filter of a query by a reader with these scopes. */
export const readFilter = (
  { types, objectID }: { types?: string; objectID?: string },
  scopes: ReadonlySet<Scope>,
): EventFilter => ({ types: types?.split(',') as AccountEventType[] | undefined, objectID, scopes });

const { DestinationReconnecting } = DEGRADATIONS;

export const exampleEvent: AccountEvent = {
  id: 'evt_0c9b4a3c5d1f4f1e8b2a7d6e5f4c3b2a_7',
  type: 'stream.off_air',
  timestamp: '2027-01-31T18:00:07Z',
  object: 'stream',
  objectID: 'str-01k8zq4v7h2m9x3c5b6n7p8r9t',
  seq: 7,
  data: {
    ...NO_DATA,
    name: 'Lofi radio',
    code: DestinationReconnecting.code,
    message: 'Destination "Main" does not accept the stream.',
    fix: DestinationReconnecting.fix,
  },
  snapshot: { id: 'str-01k8zq4v7h2m9x3c5b6n7p8r9t', name: 'Lofi radio', status: 'reconnecting' },
};

const ORDERS = ['recorded', '-recorded'];
const sort = Type.Optional(
  Type.Enum(ORDERS, {
    type: 'string',
    title: 'EventOrder',
    description:
      'Order of the list: `recorded`, oldest first, or newest first with a minus sign. Then older events follow `after`, and ' +
      'nothing is waited for. Defaults to `recorded`.',
  }),
);
/** The name of `sort` before all lists had the same words. */
const orderBy = Type.Optional(
  Type.Enum(ORDERS, { type: 'string', title: 'EventOrder', description: 'The same as sort.' }),
);

/** The order of the list of GraphQL, too. */
export const eventSort = { sort };

function readOrder({ sort: asked, orderBy: old }: { sort?: string; orderBy?: string }) {
  if (asked !== undefined && old !== undefined && asked !== old)
    throw validationFailed([
      { path: '/orderBy', message: 'differs from sort, which is the same parameter; give one of the two' },
    ]);
  return readSort<AccountEventOrder>({}, asked ?? old ?? 'recorded').orderBy;
}

const wait = Type.Optional(
  Type.Integer({
    minimum: 0,
    maximum: 60,
    default: 0,
    description: 'Time to wait for an event where there is none, in seconds.',
  }),
);

export const eventOperations = [
  operation({
    id: 'watchEvents',
    scope: 'read',
    http: 'GET /events',
    summary: 'List events, oldest first, or stream them without end',
    description:
      'Returns what happened to the objects of the account within seven days. Pass the id of the last event that you ' +
      'know as `after` to get what followed. With `Accept: text/event-stream`, the events come as server-sent events ' +
      'without end, and a client that reconnects sends the last id as `Last-Event-ID`. Each event comes at least once: ' +
      'drop an `id` that you know. `seq` counts the events of one object. Events of credit, invoices, deposits and API keys come ' +
      `with the scope billing alone. Types: ${listMeanings()}`,
    query: { ...eventQuery, sort, orderBy, wait },
    output: page(AccountEvent, 'EventList', { alsoAs: { 'text/event-stream': AccountEvent } }),
    errors: ['event_not_found', 'too_many_feeds', 'server_busy'],
    isUncached: true,
    examples: {
      output: exampleEvent,
      parameters: {
        types: 'stream.off_air,stream.recovered',
        after: exampleEvent.id,
        objectID: exampleEvent.objectID,
        sort: 'recorded',
        orderBy: 'recorded',
        wait: 30,
      },
      content: { 'text/event-stream': exampleEvent },
    },
    mcp: {
      title: 'Watch events',
      description:
        'Returns what happened to the objects of the account within seven days, oldest first, such as a stream that went ' +
        'off air. With `wait`, returns once something has happened. Pass the last id as `after` to go on.',
      wait: { until: 'something happens', summarize: () => 'Nothing has happened yet.' },
    },
    client: { noun: 'events', method: 'list' },
    run: ({ events }, { accountId, principal, page, query, watch }) => {
      const isPaged = Boolean(page.after);
      const order = readOrder(query);
      const place = {
        ...page,
        after: page.after ?? query.after,
        afterPath: isPaged ? '/cursor' : '/after',
        orderBy: order,
      };
      const filter = readFilter(query, principal.scopes);
      return events.page(accountId, place, {
        filter,
        waitMs: order?.descending ? 0 : (query.wait ?? 0) * 1000,
        ...watch,
      });
    },
  }),
] as const;
