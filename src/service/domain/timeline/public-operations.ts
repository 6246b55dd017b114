/** Declares the operations on what a stream plays now as anyone may see it. Pure: no I/O, no clock. */
import { Type } from 'typebox';
import { EXAMPLE } from '../../lib/examples.ts';
import { content, createOperationBuilder, record } from '../../lib/operation.ts';
import type { PublicNowService } from './public-now.ts';
import { PublicNow, type PublicNowItem, StreamPublicNow, StreamPublicNowUpdate, TimelineTrack } from './record.ts';

export interface PublicNowServices {
  publicNow: PublicNowService;
}

const operation = createOperationBuilder<PublicNowServices>({
  tag: 'streams',
  isOpenToLimitedKeys: true,
  object: {
    idName: 'Stream id',
    listTool: 'list_streams',
    exampleId: EXAMPLE.stream,
    notFound: 'stream_not_found',
  },
});

const EXAMPLE_TOKEN = 'lsn_TOKEN';
const exampleAccess: StreamPublicNow = {
  enabled: true,
  url: `https://loops.example.com/v1/public/now/${EXAMPLE_TOKEN}`,
  since: EXAMPLE.createdAt,
};

const exampleItem: PublicNowItem = {
  startAt: '2027-01-31T18:00:00.000Z',
  endAt: '2027-01-31T18:30:00.000Z',
  durationSeconds: 1800,
  title: 'Fireplace in winter',
  artist: 'Example Films',
  exact: true,
};

const exampleNow: PublicNow = {
  onAir: true,
  track: 'video',
  exactUntil: null,
  current: exampleItem,
  elapsedSeconds: 600,
  remainingSeconds: 1200,
  next: [],
  last: [],
};

export const publicNowOperations = [
  operation({
    id: 'getStreamPublicNow',
    scope: 'read',
    http: 'GET /streams/{id}/public-now',
    summary: 'Get whether anyone may read what a stream plays now',
    description: 'Returns the address for pages of others, where it is on.',
    output: record(StreamPublicNow),
    examples: { output: exampleAccess },
    graphql: { description: 'Whether anyone may read what a stream plays now, and the address.', isNullable: true },
    client: { method: 'publicNow' },
    run: ({ publicNow }, { accountId, id }) => publicNow.get(accountId, id),
  }),

  operation({
    id: 'updateStreamPublicNow',
    scope: 'write',
    http: 'PATCH /streams/{id}/public-now',
    summary: 'Let anyone read what a stream plays now',
    description:
      'Turns an address on that needs no key, for a page or an app of yours, or turns it off for good. The address shows titles and times, and ' +
      'never ids, names of files, or the name of the stream. To replace it, turn it off and on.',
    input: StreamPublicNowUpdate,
    output: record(StreamPublicNow),
    errors: ['conflict'],
    examples: { input: { enabled: true }, output: exampleAccess },
    graphql: { description: 'Lets anyone who has an address read what a stream plays now, or ends that.' },
    client: { method: 'updatePublicNow' },
    run: ({ publicNow }, { accountId, id, input }) => publicNow.update(accountId, id, input),
  }),
] as const;

/** Pages of others read it, so it needs no key. */
export const publicOperations = [
  createOperationBuilder<PublicNowServices>({ tag: 'streams' })({
    id: 'getPublicNow',
    scope: null,
    http: 'GET /public/now/{token}',
    summary: 'Get what a stream plays now, without a key',
    description:
      'Returns the item that plays, the next 3 and the last 10, with their titles. Pages of all origins may read it. The `ETag` changes with ' +
      'the item: a request with `If-None-Match` is answered with 304 until then. `url` of the stream’s public-now has the address.',
    path: { token: Type.String({ maxLength: 200, description: 'The secret part of the address.' }) },
    query: { track: Type.Optional(TimelineTrack) },
    output: content<PublicNow>({ 'application/json': PublicNow }),
    errors: ['stream_not_found'],
    isUncached: true,
    examples: {
      parameters: { token: EXAMPLE_TOKEN, track: 'video' },
      content: { 'application/json': exampleNow },
    },
    client: false,
  }),
] as const;
