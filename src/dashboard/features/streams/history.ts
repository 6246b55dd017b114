/** The last minutes of a stream's numbers, as they were read. */
import { useEffect, useState } from 'react';
import type { LiveStats } from '../../api/api.ts';

export interface Reading {
  /** Milliseconds since the Unix epoch. */
  at: number;
  bitrateKbps: number | null;
  fps: number | null;
  avSkewMs: number | null;
}

/** Five minutes of readings each two seconds. */
const KEPT = 150;

/** `readAt` tells one reading from the next. */
export function useHistory(stats: LiveStats | undefined, readAt: number): readonly Reading[] {
  const [history, setHistory] = useState<readonly Reading[]>([]);
  useEffect(() => {
    if (!stats?.live || readAt === 0) return;
    const { bitrateKbps, fps, avSkewMs } = stats;
    setHistory((before) =>
      before.at(-1)?.at === readAt ? before : [...before.slice(1 - KEPT), { at: readAt, bitrateKbps, fps, avSkewMs }],
    );
  }, [stats, readAt]);
  return history;
}
