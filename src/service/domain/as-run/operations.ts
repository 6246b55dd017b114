/** Declares the operations on what streams have played. Pure: no I/O, no clock. */
import { Type } from 'typebox';
import { EXAMPLE } from '../../lib/examples.ts';
import { content, createOperationBuilder, FORMAT, record } from '../../lib/operation.ts';
import { TimelineTrack } from '../timeline/record.ts';
import { MAX_DAYS } from '../uptime/range.ts';
import { StreamAsRun, type StreamAsRunItem, StreamAsRunTotals } from './record.ts';
import { AS_RUN_DAYS, type AsRunService, DEFAULT_AS_RUN_ITEMS, MAX_AS_RUN_ITEMS } from './service.ts';
import { addPlays, asRunCsv, totalsCsv } from './show.ts';

export interface AsRunServices {
  asRun: AsRunService;
}

const operation = createOperationBuilder<AsRunServices>({
  tag: 'streams',
  isOpenToLimitedKeys: true,
  object: {
    idName: 'Stream id',
    listTool: 'list_streams',
    exampleId: EXAMPLE.stream,
    notFound: 'stream_not_found',
  },
});

const span = {
  from: Type.Optional(
    Type.String({
      maxLength: 40,
      description: `Begin, as a time or a day: a day before \`to\` by default, ${AS_RUN_DAYS.most} days at most.`,
    }),
  ),
  to: Type.Optional(Type.String({ maxLength: 40, description: 'End, as a time or a day. By default now.' })),
  track: Type.Optional(TimelineTrack),
};
const asked = {
  ...span,
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_AS_RUN_ITEMS,
      default: DEFAULT_AS_RUN_ITEMS,
      description: 'Number of items at most.',
    }),
  ),
};

const exampleItem: StreamAsRunItem = {
  startAt: '2027-01-31T18:00:00.000Z',
  endAt: '2027-01-31T18:03:20.000Z',
  seconds: 200,
  cut: false,
  id: EXAMPLE.upload,
  name: 'Rain',
  title: 'Rain',
  artist: 'Example Artist',
  isrc: 'QZES82027001',
  label: 'Example Records',
  license: 'CC BY 4.0',
  licenseUrl: 'https://creativecommons.org/licenses/by/4.0/',
  playlistID: EXAMPLE.playlist,
  index: 0,
  rule: null,
  exact: true,
};
const exampleSpan = { from: '2027-01-31T18:00:00.000Z', to: '2027-01-31T19:00:00.000Z', track: 'video' as const };
const exampleAsRun: StreamAsRun = {
  ...exampleSpan,
  items: [exampleItem],
  gaps: [{ startAt: exampleItem.endAt, endAt: exampleSpan.to, reason: 'stopped' }],
  nextFrom: null,
};
const exampleTotals: StreamAsRunTotals = { ...exampleSpan, exact: true, items: addPlays([exampleItem]) };

const describeAsRun = ({ items, gaps, from, to, nextFrom }: StreamAsRun): string =>
  `From ${from} to ${nextFrom ?? to}, ${items.length} items were on air, with ${gaps.length} gaps.`;

const KEPT = `The record is kept for ${MAX_DAYS} days.`;

export const asRunOperations = [
  operation({
    id: 'getStreamAsRun',
    scope: 'read',
    http: 'GET /streams/{id}/as-run',
    summary: 'Get what a stream has played',
    description:
      'Returns the items that were on air in a span, with the item that played at its begin, and the times without items. It is computed from ' +
      'each move of the list, and from when destinations took media. A later edit or deletion of an upload leaves it as it was. ' +
      KEPT,
    query: asked,
    output: record(StreamAsRun),
    examples: { output: exampleAsRun, parameters: { ...exampleSpan, limit: 100 } },
    mcp: {
      title: 'Get what a stream has played',
      description: 'Returns which items were on air when. `nextFrom` is the `from` of the next page.',
      summarize: describeAsRun,
    },
    graphql: { description: 'What a stream has played in a span of time.', isNullable: true },
    run: ({ asRun }, { accountId, id, query }) => asRun.get(accountId, id, query),
  }),

  operation({
    id: 'exportStreamAsRun',
    scope: 'read',
    http: 'GET /streams/{id}/as-run.csv',
    summary: 'Get what a stream has played, as CSV',
    description: `Returns all items of a span in one file (RFC 4180), a line for each. ${KEPT}`,
    query: span,
    output: content({ 'text/csv': Type.String({ title: 'StreamAsRunCsv' }) }),
    examples: { parameters: exampleSpan, content: { 'text/csv': asRunCsv([exampleItem]) } },
    client: false,
  }),

  operation({
    id: 'getStreamAsRunTotals',
    scope: 'read',
    http: 'GET /streams/{id}/as-run/totals',
    summary: 'Get how often and how long a stream has played each item',
    description:
      'Returns the number of plays and the seconds on air of each item of a span, for reports to rights holders. A play counts in the span in ' +
      `which it began, so the totals of two spans add up. ${KEPT}`,
    query: { ...span, ...FORMAT },
    output: content<StreamAsRunTotals>({
      'application/json': StreamAsRunTotals,
      'text/csv': Type.String({ title: 'StreamAsRunTotalsCsv' }),
    }),
    examples: {
      parameters: { ...exampleSpan, format: 'json' },
      content: { 'application/json': exampleTotals, 'text/csv': totalsCsv(exampleTotals.items) },
    },
    graphql: { description: 'How often and how long a stream has played each item.', query: span, isNullable: true },
    client: { method: 'asRunTotals' },
    run: ({ asRun }, { accountId, id, query: { from, to, track } }) => asRun.totals(accountId, id, { from, to, track }),
  }),
] as const;
