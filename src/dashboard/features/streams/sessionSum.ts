/** Adds up the sessions of a stream. Pure: no I/O, no clock. */
import type { StreamSession } from '../../../service/client/index.ts';

interface SessionSum {
  onAirSeconds: number;
  /** Null where streams cost nothing. */
  credits: string | null;
}

export function sumSessions(sessions: readonly StreamSession[]): SessionSum {
  const costs = sessions.flatMap(({ credits }) => (credits === null ? [] : [BigInt(credits)]));
  return {
    onAirSeconds: sessions.reduce((sum, { onAirSeconds }) => sum + onAirSeconds, 0),
    credits: costs.length === 0 ? null : String(costs.reduce((sum, cost) => sum + cost, 0n)),
  };
}
