/** Declares the operations on what streams play when. Pure: no I/O, no clock. */
import { Type } from 'typebox';
import { formatTimeline, TIMELINE_FORMATS } from '../../../core/programme/formats.ts';
import { EXAMPLE } from '../../lib/examples.ts';
import { content, createOperationBuilder, record } from '../../lib/operation.ts';
import { DEFAULT_SPAN_HOURS, MAX_SPAN_DAYS } from './range.ts';
import { StreamExplanation, StreamNow, StreamTimeline, type StreamTimelineItem, TimelineTrack } from './record.ts';
import { DEFAULT_TIMELINE_ITEMS, MAX_TIMELINE_ITEMS, type TimelineService } from './service.ts';

export interface TimelineServices {
  timeline: TimelineService;
}

const operation = createOperationBuilder<TimelineServices>({
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
  from: Type.Optional(Type.String({ maxLength: 40, description: 'Begin, as a time or a day. By default now.' })),
  to: Type.Optional(
    Type.String({
      maxLength: 40,
      description: `End, as a time or a day: ${DEFAULT_SPAN_HOURS} hours after \`from\` by default, ${MAX_SPAN_DAYS} days at most.`,
    }),
  ),
};
const track = { track: Type.Optional(TimelineTrack) };
const asked = {
  ...span,
  ...track,
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_TIMELINE_ITEMS,
      default: DEFAULT_TIMELINE_ITEMS,
      description: 'Number of items at most.',
    }),
  ),
};

const item = (startAt: string, endAt: string, name: string, index: number): StreamTimelineItem => ({
  startAt,
  endAt,
  durationSeconds: 1800,
  id: EXAMPLE.upload,
  name,
  playlistID: EXAMPLE.playlist,
  index,
  rule: null,
  exact: true,
});
const first = item('2027-01-31T18:00:00.000Z', '2027-01-31T18:30:00.000Z', 'Fireplace', 0);
const second = item('2027-01-31T18:30:00.000Z', '2027-01-31T19:00:00.000Z', 'Rain', 1);

const exampleTimeline: StreamTimeline = {
  from: '2027-01-31T18:00:00.000Z',
  to: '2027-01-31T19:00:00.000Z',
  onAir: true,
  track: 'video',
  exactUntil: null,
  items: [first, second],
  nextFrom: null,
};

const exampleNow: StreamNow = {
  onAir: true,
  track: 'video',
  exactUntil: null,
  current: second,
  elapsedSeconds: 600,
  remainingSeconds: 1200,
  next: [],
  last: [first],
};

const exampleExplanation: StreamExplanation = {
  at: '2027-01-31T18:05:00.000Z',
  track: 'video',
  rule: 'news',
  uploadObjectID: null,
  code: 'rule_late',
  message:
    'The rule "news" was due at 2027-01-31T18:05:00Z and was left out: "Fireplace" played until 2027-01-31T18:30:00Z, and the rule may be ' +
    '120 s late at most. Raise `lateSeconds` of the rule to at least 1500, or set its `start` to `Cut`.',
  exact: true,
  dueAt: '2027-01-31T18:05:00.000Z',
  turn: null,
  by: first,
  lastAt: '2027-01-31T17:05:00.000Z',
  nextAt: null,
  windowStartAt: null,
  windowEndAt: null,
};

const writeExample = (format: (typeof TIMELINE_FORMATS)[number]): string =>
  formatTimeline(format, { id: EXAMPLE.stream, name: 'Night fireplace', now: new Date(EXAMPLE.since) }, [first]);

/** A span and a track, as examples of parameters. */
const exampleAsked = { from: exampleTimeline.from, to: exampleTimeline.to, track: 'video' };

const describeTimeline = ({ onAir, items, to, nextFrom, exactUntil }: StreamTimeline): string => {
  if (!onAir) return 'The stream is off air, so it plays nothing.';
  const estimate = exactUntil === null ? '' : ` Times after ${exactUntil} are estimates.`;
  return `${items.length} items play until ${nextFrom ?? to}.${estimate}`;
};

const COMPUTED =
  'The list on air is computed ahead, so its times are those at which the stream plays, to the millisecond';

export const timelineOperations = [
  operation({
    id: 'getStreamTimeline',
    scope: 'read',
    http: 'GET /streams/{id}/timeline',
    summary: 'Get what a stream plays when',
    description:
      `Returns the items of a span, with the item that plays at its begin. ${COMPUTED}, until a skip or an edit. Items whose length ` +
      'is not known before they are prepared make later times an estimate: see `exact`. The past is known as far back as the ' +
      'last such change. A stream off air plays nothing.',
    query: asked,
    output: record(StreamTimeline),
    examples: { output: exampleTimeline, parameters: { ...exampleAsked, limit: 100 } },
    mcp: {
      title: 'Get what a stream plays when',
      description:
        'Returns which items play when, from now on or in a span. `nextFrom` is the `from` of the next page.',
      summarize: describeTimeline,
    },
    graphql: { description: 'What a stream plays in a span of time.', isNullable: true },
    run: ({ timeline }, { accountId, id, query }) => timeline.get(accountId, id, query),
  }),

  operation({
    id: 'getStreamExplanation',
    scope: 'read',
    http: 'GET /streams/{id}/explain',
    summary: 'Explain why a rule or an upload plays at a time, or does not',
    description:
      'Returns the decision on a rule of a playlist, or on an upload, at a time: it plays, or what was on air instead, when it is due, and ' +
      'what to change. The decision is that by which the stream plays. The past is known as far back as in the timeline.',
    query: {
      at: Type.Optional(
        Type.String({
          maxLength: 40,
          description: `A time or a day, ${MAX_SPAN_DAYS} days from now at most. By default now.`,
        }),
      ),
      rule: Type.Optional(Type.String({ maxLength: 320, description: 'Name of the rule, as the timeline has it.' })),
      uploadObjectID: Type.Optional(Type.String({ maxLength: 253, description: 'Upload, in the place of a rule.' })),
      ...track,
    },
    output: record(StreamExplanation),
    examples: {
      output: exampleExplanation,
      parameters: { at: exampleExplanation.at, rule: 'news', uploadObjectID: EXAMPLE.upload, track: 'video' },
    },
    mcp: {
      title: 'Explain what a stream plays at a time',
      description: 'Returns why a rule or an upload plays at a time, or does not.',
      summarize: ({ message }) => message,
    },
    graphql: { description: 'Why a rule or an upload plays at a time, or does not.', isNullable: true },
    client: { method: 'explain' },
    run: ({ timeline }, { accountId, id, query }) => timeline.explain(accountId, id, query),
  }),

  operation({
    id: 'exportStreamTimeline',
    scope: 'read',
    http: 'GET /streams/{id}/timeline.{format}',
    summary: 'Get what a stream plays when, as XMLTV, iCalendar or CSV',
    description:
      'Returns all items of a span in one file: XMLTV for programme guides, iCalendar (RFC 5545) for calendars, CSV (RFC 4180). ' +
      'XMLTV and iCalendar have whole seconds.',
    path: {
      format: Type.Enum(TIMELINE_FORMATS, { title: 'TimelineFormat', description: 'Format: `xmltv`, `ics` or `csv`.' }),
    },
    query: { ...span, ...track },
    output: content({
      'application/xml': Type.String({ title: 'StreamTimelineXmltv' }),
      'text/calendar': Type.String({ title: 'StreamTimelineCalendar' }),
      'text/csv': Type.String({ title: 'StreamTimelineCsv' }),
    }),
    examples: {
      parameters: { ...exampleAsked, format: 'xmltv' },
      content: {
        'application/xml': writeExample('xmltv'),
        'text/calendar': writeExample('ics'),
        'text/csv': writeExample('csv'),
      },
    },
    client: false,
  }),

  operation({
    id: 'getStreamNow',
    scope: 'read',
    http: 'GET /streams/{id}/now',
    summary: 'Get what a stream plays now',
    description:
      'Returns the item that plays, the next 3 and the last 10. The `ETag` changes with the item: a request with `If-None-Match` ' +
      'is answered with 304 until then. `startAt` and `endAt` stay right meanwhile.',
    query: track,
    output: content<StreamNow>({ 'application/json': StreamNow }),
    examples: { parameters: { track: 'video' }, content: { 'application/json': exampleNow } },
    graphql: { description: 'What a stream plays now, next and before.', isNullable: true },
    client: { method: 'now' },
    run: ({ timeline }, { accountId, id, query }) => timeline.now(accountId, id, query),
  }),
] as const;
