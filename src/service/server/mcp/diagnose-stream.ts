/** Defines the tool that diagnoses a stream by several operations at once. */
import type { DestinationService } from '../../domain/destinations/service.ts';
import type { StatsService } from '../../domain/stats/service.ts';
import type { StreamService } from '../../domain/streams/service.ts';
import { AppError } from '../../lib/errors.ts';
import { flatten } from '../../lib/paging/list.ts';
import { Diagnosis, diagnose } from './diagnosis.ts';
import { idArgument } from './inputs.ts';
import { type Tool, tool } from './tool.ts';

const id = idArgument('Stream id, as list_streams returns it.');
const LAST_EVENTS = 10;

export interface DiagnosisDeps {
  streams: StreamService;
  stats: Pick<StatsService, 'live'>;
  destinations: Pick<DestinationService, 'get'>;
}

/** Collects the facts of a stream, and advice. */
export async function diagnoseStream(
  { streams, stats, destinations }: DiagnosisDeps,
  accountId: string,
  id: string,
): Promise<Diagnosis> {
  const [readiness, liveStats, events] = await Promise.all([
    streams.readiness(accountId, id),
    stats.live(accountId, id),
    // Events alone come from Kubernetes; the rest is cached while that is unavailable.
    streams.events(accountId, id, { first: LAST_EVENTS }).then(
      (found) => flatten(found).data,
      () => null,
    ),
  ]);
  const stream = streams.get(accountId, id);
  const found = stream.destinationIDs.flatMap((one) => readDestination(destinations, accountId, one) ?? []);
  return diagnose({ stream, readiness, liveStats, events }, found);
}

/** Undefined for one that is deleted meanwhile: readiness says so. */
function readDestination(destinations: DiagnosisDeps['destinations'], accountId: string, id: string) {
  try {
    return destinations.get(accountId, id);
  } catch (error) {
    if (error instanceof AppError) return undefined;
    throw error;
  }
}

export const diagnosisTool = (deps: DiagnosisDeps): Tool =>
  tool({
    name: 'diagnose_stream',
    title: 'Find out what is wrong with a stream',
    description:
      'Returns state, readiness, live statistics and the last events of a stream, with `findings`: each has a `fix` ' +
      'and names the tool to call next.',
    operations: ['getStream', 'getStreamReadiness', 'getStreamLiveStats', 'listStreamEvents', 'getDestination'],
    own: id,
    output: Diagnosis,
    summarize: ({ summary, findings }) =>
      [summary, ...findings.map(({ message, fix, tool }) => `- ${message} ${fix}${tool ? ` Call ${tool}.` : ''}`)].join(
        '\n',
      ),
    run: ({ accountId }, { id }) => diagnoseStream(deps, accountId, id),
  });
