/** Declares the operations on the uptime of streams. Pure: no I/O, no clock. */
import { Type } from 'typebox';
import { DEGRADATIONS } from '../../../core/lib/codes/streams.ts';
import { EXAMPLE } from '../../lib/examples.ts';
import { content, createOperationBuilder, FORMAT } from '../../lib/operation.ts';
import { BADGE_SHOWS, describeUptime, drawBadge, MAX_BADGE_DAYS } from './badge.ts';
import { DEFAULT_DAYS, MAX_DAYS } from './range.ts';
import { MAX_OUTAGES, StreamUptime, UPTIME_SOURCES } from './record.ts';
import type { UptimeService } from './service.ts';

export interface UptimeServices {
  uptime: UptimeService;
}

const operation = createOperationBuilder<UptimeServices>({
  tag: 'streams',
  isOpenToLimitedKeys: true,
  object: {
    idName: 'Stream id',
    listTool: 'list_streams',
    exampleId: EXAMPLE.stream,
    notFound: 'stream_not_found',
  },
});

const range = {
  from: Type.Optional(
    Type.String({
      maxLength: 40,
      description: `Begin, as a time or a day: ${DEFAULT_DAYS} days before \`to\` by default, ${MAX_DAYS} at most.`,
    }),
  ),
  to: Type.Optional(Type.String({ maxLength: 40, description: 'End, as a time or a day. By default now.' })),
};

const asked = {
  ...range,
  by: Type.Optional(
    Type.Enum(UPTIME_SOURCES, {
      title: 'UptimeSource',
      description:
        '`viewers`: by what viewers see. `ingest`: by what destinations take. By default `viewers`, where that was known at a time of the range.',
    }),
  ),
};

const { code, fix } = DEGRADATIONS.DestinationReconnecting;
const message = 'Destination "Main" does not accept the stream.';

const EXAMPLE_TOKEN = 'AAECAwQFBgcICQoLDA0OD_ESExQVFhcYGRobHB0eHyA';

export const exampleUptime: StreamUptime = {
  from: '2027-01-01T00:00:00.000Z',
  to: '2027-01-31T00:00:00.000Z',
  by: 'ingest',
  wantedSeconds: 2_592_000,
  onAirSeconds: 2_591_481.6,
  offAirSeconds: 518.4,
  unknownSeconds: 0,
  uptimePercent: 99.98,
  outageCount: 1,
  outages: [
    {
      startedAt: '2027-01-17T04:00:00.000Z',
      endedAt: '2027-01-17T04:08:38.400Z',
      seconds: 518.4,
      code,
      message,
      fix,
    },
  ],
  badgeUrl: `https://loopstream.example/v1/badges/${EXAMPLE_TOKEN}.svg`,
};

const exampleCsv = [
  'state,startedAt,endedAt,seconds,code,message',
  'on_air,2027-01-01T00:00:00.000Z,2027-01-17T04:00:00.000Z,1396800,,',
  `off_air,2027-01-17T04:00:00.000Z,2027-01-17T04:08:38.400Z,518.4,${code},"${message.replaceAll('"', '""')}"`,
  'on_air,2027-01-17T04:08:38.400Z,,1194681.6,,',
  '',
].join('\r\n');

const describePercent = ({ by, uptimePercent, outageCount, from, to }: StreamUptime): string =>
  uptimePercent === null
    ? `The stream was not meant to be on air from ${from} to ${to}.`
    : `From ${from} to ${to}, the stream was on air${by === 'viewers' ? ' for viewers' : ''} for ${uptimePercent} % of the time in which it was meant to be, with ${outageCount} outages.`;

export const uptimeOperations = [
  operation({
    id: 'getStreamUptime',
    scope: 'read',
    http: 'GET /streams/{id}/uptime',
    summary: 'Get the uptime of a stream, and its outages',
    description:
      'Returns for how long the stream was on air, of the time in which it was meant to be, and each outage with its cause. `by` says ' +
      'whether that is by what viewers see, or by what destinations take. A stop, and the end of a schedule, are no outages. A start counts from its first media on. JSON lists the ' +
      `latest ${MAX_OUTAGES} outages. CSV (RFC 4180) has a line for each time on air, off air or unknown. Changes are kept for ${MAX_DAYS} days.`,
    query: { ...asked, ...FORMAT },
    output: content<StreamUptime>({
      'application/json': StreamUptime,
      'text/csv': Type.String({ title: 'StreamUptimeCsv' }),
    }),
    examples: {
      parameters: { from: '2027-01-01', to: '2027-01-31', by: 'ingest', format: 'json' },
      content: { 'application/json': exampleUptime, 'text/csv': exampleCsv },
    },
    mcp: {
      title: 'Get the uptime of a stream',
      description:
        'Returns for how much of the wanted time the stream was on air, and outages with cause and fix, newest first.',
      query: asked,
      summarize: describePercent,
    },
    graphql: {
      description: 'The uptime of a stream, and its outages, newest first.',
      query: asked,
    },
    client: { method: 'uptime' },
    run: ({ uptime }, { accountId, id, query: { from, to, by } }) => uptime.get(accountId, id, { from, to, by }),
  }),
] as const;

/** Pages show it to anyone, so it needs no key. */
export const badgeOperations = [
  createOperationBuilder<UptimeServices>({ tag: 'streams' })({
    id: 'getUptimeBadge',
    scope: null,
    http: 'GET /badges/{token}.svg',
    summary: 'Get the badge of a stream as an image',
    description:
      'Returns an SVG image with the uptime of a stream, or with whether it is on air. Needs no key: `badgeUrl` of the uptime ' +
      'has the address, which nobody can guess. The image names neither the stream nor its account.',
    path: { token: Type.String({ maxLength: 200, description: 'The secret part of the address.' }) },
    query: {
      show: Type.Optional(
        Type.Enum(BADGE_SHOWS, {
          title: 'BadgeShow',
          default: 'uptime',
          description: '`uptime`: the uptime in percent. `status`: whether the stream is on air now.',
        }),
      ),
      days: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: MAX_BADGE_DAYS,
          default: DEFAULT_DAYS,
          description: 'Of how many days the uptime is.',
        }),
      ),
    },
    output: content({ 'image/svg+xml': Type.String({ title: 'UptimeBadge' }) }),
    errors: ['stream_not_found'],
    isUncached: true,
    examples: {
      parameters: { token: EXAMPLE_TOKEN, show: 'uptime', days: 30 },
      content: { 'image/svg+xml': drawBadge(describeUptime({ uptimePercent: 99.98 }, 30)) },
    },
    client: false,
  }),
] as const;
