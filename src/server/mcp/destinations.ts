/** Tools: destinations. */
import {
  Destination,
  DestinationCreate,
  type Destination as DestinationRecord,
  DestinationTest,
  DestinationUpdate,
} from '../../domain/destinations/record.ts';
import type { DestinationService } from '../../domain/destinations/service.ts';
import { flatten, listOf } from '../http/page.ts';
import { Deleted, idOf, PAGE, pageOf, sayDeleted, sayPage } from './inputs.ts';
import { type Tool, tool } from './tool.ts';

const id = idOf('Destination id, as list_destinations tells it.');

const sayDestination = ({ name, id, rtmpUrl }: DestinationRecord): string =>
  `Destination "${name}" (${id}) is ${rtmpUrl}; its stream key is kept and not shown.`;

export const destinationTools = (destinations: DestinationService): Tool[] => [
  tool({
    name: 'create_destination',
    title: 'Create a destination',
    description:
      'A place to stream to: the ingest URL and the stream key, which the platform shows. A server that asks for a login gets rtmpUser and rtmpPassword too. Key and login are never told again. Call test_destination to see whether it is right.',
    operations: ['createDestination'],
    ...{ body: DestinationCreate, output: Destination, keyed: true },
    say: sayDestination,
    run: ({ accountId }, _own, body) => destinations.create(accountId, body),
  }),
  tool({
    name: 'list_destinations',
    title: 'List destinations',
    description: 'Destinations of the account, newest first; of a stream key only the last four characters are told.',
    operations: ['listDestinations'],
    ...{ own: PAGE, output: listOf(Destination, 'DestinationList') },
    say: sayPage,
    run: ({ accountId }, page) => flatten(destinations.list(accountId, pageOf(page))),
  }),
  tool({
    name: 'get_destination',
    title: 'Look at a destination',
    description:
      'One destination; of its stream key only the last four characters are told. test_destination tries it.',
    operations: ['getDestination'],
    ...{ own: id, output: Destination },
    say: sayDestination,
    run: ({ accountId }, { id }) => destinations.get(accountId, id),
  }),
  tool({
    name: 'update_destination',
    title: 'Change a destination',
    description:
      'Sets name, URL, key or login anew; an empty rtmpUser and rtmpPassword end the login. A stream on air is published again with what is new, which viewers may see as a short break.',
    operations: ['updateDestination'],
    ...{ own: id, body: DestinationUpdate, output: Destination, repeatable: true, takesAway: true },
    say: sayDestination,
    run: ({ accountId }, { id }, body) => destinations.update(accountId, id, body),
  }),
  tool({
    name: 'delete_destination',
    title: 'Delete a destination',
    description: 'Deletes a destination and its stream key. Refused while a stream sends to it.',
    operations: ['deleteDestination'],
    ...{ own: id, output: Deleted },
    say: sayDeleted,
    run: async ({ accountId }, { id }) => {
      await destinations.delete(accountId, id);
      return { id, done: true };
    },
  }),
  tool({
    name: 'test_destination',
    title: 'Test a destination',
    description:
      'Publishes black pictures and silence for two seconds and tells how far that came; it may take half a minute. Refused while a stream is sent there.',
    operations: ['testDestination'],
    ...{ own: id, output: DestinationTest, keyed: true, reachesOut: true },
    say: ({ ok, stage, message }) => (ok ? `It works. ${message}` : `It came as far as ${stage}. ${message}`),
    run: ({ accountId }, { id }) => destinations.test(accountId, id),
  }),
];
