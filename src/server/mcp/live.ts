/** Tools: what is seen of a stream, on air and off. */

import { LiveStats } from '../../domain/stats/record.ts';
import type { StatsService } from '../../domain/stats/service.ts';
import { Readiness, StreamEvent } from '../../domain/streams/record.ts';
import type { StreamService } from '../../domain/streams/service.ts';
import { flatten, listOf } from '../http/page.ts';
import { Diagnosis, diagnose } from './diagnosis.ts';
import { idOf, PAGE, pageOf, sayPage } from './inputs.ts';
import { type Tool, tool } from './tool.ts';

const id = idOf('Stream id, as list_streams tells it.');
const LAST_EVENTS = 10;

export interface LiveDeps {
  streams: StreamService;
  stats: Pick<StatsService, 'live'>;
}

/** All that is known of a stream, and what to do about it. */
export async function diagnoseStream({ streams, stats }: LiveDeps, accountId: string, id: string): Promise<Diagnosis> {
  const [readiness, liveStats, events] = await Promise.all([
    streams.readiness(accountId, id),
    stats.live(accountId, id),
    // They alone are asked of Kubernetes; the rest is known while that is away.
    streams.events(accountId, id, { first: LAST_EVENTS }).then(
      (found) => flatten(found).data,
      () => null,
    ),
  ]);
  return diagnose({ stream: streams.get(accountId, id), readiness, liveStats, events });
}

export const liveTools = ({ streams, stats }: LiveDeps): Tool[] => [
  tool({
    name: 'get_stream_readiness',
    title: 'What would stop a stream from starting',
    description:
      'What is in the way of start_stream now: `issues`, each with a `fix`, and what it would go without: `warnings`. When `ready` is true it can be started; media that is being prepared becomes ready by itself.',
    operations: ['getStreamReadiness'],
    ...{ own: id, output: Readiness },
    say: ({ ready, issues, warnings }) =>
      ready
        ? ['It is ready.', ...warnings.map(({ message }) => message)].join(' ')
        : `It is not ready: ${issues.map(({ message, fix }) => `${message} ${fix}`).join(' ')}`,
    run: ({ accountId }, { id }) => streams.readiness(accountId, id),
  }),
  tool({
    name: 'get_stream_live_stats',
    title: 'Live numbers of a stream',
    description: 'Bit rate, frames, loops, what plays now and next, and how each destination takes it; nulls off air.',
    operations: ['getStreamLiveStats'],
    ...{ own: id, output: LiveStats },
    say: ({ live, bitrateKbps, loopCount, current }) =>
      live
        ? `It is live at ${Math.round(bitrateKbps ?? 0)} kbit/s, after ${loopCount ?? 0} loops; "${current?.name ?? 'nothing'}" plays.`
        : 'It is not live.',
    run: ({ accountId }, { id }) => stats.live(accountId, id),
  }),
  tool({
    name: 'list_stream_events',
    title: 'What happened to a stream',
    description: 'Starts, stops, lost connections, refusals and their reasons, newest first; kept for about an hour.',
    operations: ['listStreamEvents'],
    ...{ own: { ...id, ...PAGE }, output: listOf(StreamEvent, 'StreamEventList') },
    say: sayPage,
    run: async ({ accountId }, { id, ...page }) => flatten(await streams.events(accountId, id, pageOf(page))),
  }),
  tool({
    name: 'diagnose_stream',
    title: 'Find out what is wrong with a stream',
    description:
      'State, readiness, live numbers and the last events of a stream at once, and what to do about what is wrong: `findings`, each with a `fix` and the tool to call next.',
    operations: ['getStream', 'getStreamReadiness', 'getStreamLiveStats', 'listStreamEvents'],
    ...{ own: id, output: Diagnosis },
    say: ({ summary, findings }) =>
      [summary, ...findings.map(({ message, fix, tool }) => `- ${message} ${fix}${tool ? ` Call ${tool}.` : ''}`)].join(
        '\n',
      ),
    run: ({ accountId }, { id }) => diagnoseStream({ streams, stats }, accountId, id),
  }),
];
