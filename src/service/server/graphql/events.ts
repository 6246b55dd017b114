/** Defines the GraphQL fields of events. */
import { eventSort } from '../../domain/events/operations.ts';
import {
  type AccountEvent as AccountEventRecord,
  AccountEvent as AccountEventSchema,
  EVENT_OBJECTS,
  EVENT_TYPE_NAMES,
  EventData as EventDataSchema,
  StartedItem,
} from '../../domain/events/record.ts';
import type { AccountEventOrder } from '../../domain/events/service.ts';
import { readSort } from '../../lib/paging/noun-list.ts';
import type { Services } from '../setup/services.ts';
import { listArguments } from './adapter.ts';
import { outputType } from './output.ts';
import { connectionField, type GraphqlFields } from './relay.ts';
import { enumType, JSONObject, StreamTrack } from './scalars.ts';
import { filtersOf, whereInput } from './where.ts';

/** `stream.off_air` is STREAM_OFF_AIR here. */
export const EventType = enumType('EventType', EVENT_TYPE_NAMES);

const AccountEvent = outputType<AccountEventRecord>('AccountEvent', AccountEventSchema, {
  types: {
    type: EventType,
    object: enumType('EventObject', EVENT_OBJECTS),
    data: outputType('EventData', EventDataSchema, {
      types: { item: outputType('StartedItem', StartedItem, { types: { track: StreamTrack } }) },
    }),
    snapshot: JSONObject,
  },
});

const where = whereInput<AccountEventRecord>(
  'AccountEventWhereInput',
  filtersOf(AccountEvent, ['type', 'objectID', 'timestamp']),
);

const listing = listArguments('events', eventSort);

export const eventFields = ({ events }: Pick<Services, 'events'>): GraphqlFields => ({
  // The database filters the events, as there may be too many to read.
  events: connectionField<AccountEventRecord, AccountEventOrder>({
    type: AccountEvent,
    operation: 'watchEvents',
    description: 'Lists events of the last seven days, oldest first unless orderBy says otherwise.',
    where,
    order: { RECORDED: { value: 'recorded', description: 'Order of recording.' } },
    args: listing.args,
    list: ({ principal }, page, _matching, args) =>
      events.list(principal.accountId, readSort(page, listing.read(args).sort), {
        scopes: principal.scopes,
        where: (args.where as never) ?? undefined,
        isCounted: true,
      }),
  }),
});
