/** Finds why a stream that should be on air is not there yet. Pure: no I/O, no clock. */
import type { LiveStats, Readiness, Stream } from '../../src/service/client/index.ts';

export interface WaitFacts {
  stream: Pick<Stream, 'status' | 'degraded'>;
  readiness: Pick<Readiness, 'issues' | 'warnings'>;
  stats: Pick<LiveStats, 'live' | 'destinations'>;
}

/** The API's own sentence, the one that keeps the stream off air longest first; undefined when the API knows no reason. */
export function findWaitReason({ stream, readiness, stats }: WaitFacts): string | undefined {
  const refusal = stats.destinations.find(({ connected, lastError }) => !connected && lastError)?.lastError;
  const found = readiness.issues[0] ?? refusal ?? stream.degraded ?? readiness.warnings[0];
  // The pod starts before it has its settings.
  return found?.code === 'not_configured' ? 'It waits for the destination.' : found?.message;
}
