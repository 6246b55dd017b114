/** Declares the operation on the sessions of a stream. Pure: no I/O, no clock. */
import { Type } from 'typebox';
import { SESSION_ENDS } from '../../../core/lib/codes/streams.ts';
import { EXAMPLE } from '../../lib/examples.ts';
import { createOperationBuilder, FORMAT, PAGED, page } from '../../lib/operation.ts';
import { StreamSession } from './record.ts';
import { sessionsCsv } from './session-history.ts';
import type { SessionService } from './session-service.ts';

const operation = createOperationBuilder<{ streamSessions: SessionService }>({
  tag: 'streams',
  isOpenToLimitedKeys: true,
  object: {
    idName: 'Stream id',
    listTool: 'list_streams',
    exampleId: EXAMPLE.stream,
    notFound: 'stream_not_found',
  },
});

const { code, meaning: message, fix } = SESSION_ENDS.ScheduleEnded;

export const exampleSession: StreamSession = {
  number: 7,
  startedAt: '2027-01-31T18:00:02.000Z',
  endedAt: '2027-01-31T20:00:00.000Z',
  onAirSeconds: 7198.4,
  credits: '599',
  creditsEstimated: false,
  end: { code, message, fix },
};

export const sessionOperations = [
  operation({
    id: 'listStreamSessions',
    scope: 'read',
    http: 'GET /streams/{id}/sessions',
    summary: 'List the sessions of a stream, newest first',
    description:
      'A session is the time from the first media that a destination takes until the process that sends it ends. Returns the latest ' +
      'sessions with their time on air, their cost, and why they ended: up to 5,000, and with billing off up to 32. The costs of ended ' +
      `sessions add up to the charges of the stream in the ledger. As CSV (RFC 4180), all of them are in one response. ${PAGED}`,
    query: FORMAT,
    output: page(StreamSession, 'StreamSessionList', {
      alsoAs: { 'text/csv': Type.String({ title: 'StreamSessionCsv' }) },
    }),
    examples: {
      output: exampleSession,
      parameters: { format: 'json' },
      content: { 'text/csv': sessionsCsv([exampleSession]) },
    },
    mcp: {
      title: 'List the sessions of a stream',
      description:
        'Lists when a stream was on air, newest first, with seconds, cost in credits, and why each session ended. `end` is null for the one on air.',
      query: {},
    },
    graphql: {
      description: 'Lists the sessions of a stream, newest first unless orderBy says otherwise.',
      field: 'streamSessions',
    },
    run: ({ streamSessions }, { accountId, id, page, where }) => streamSessions.list(accountId, id, page, where),
  }),
] as const;
