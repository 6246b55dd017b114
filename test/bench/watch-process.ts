/** Watches addresses in a process of its own, whose cost is measured (watch.ts). Its first message says what to watch. */
import pino from 'pino';
import { systemClock } from '../../src/core/lib/clock.ts';
import type { PlatformTarget } from '../../src/core/platform/common/observer.ts';
import { createWatchObserver } from '../../src/core/platform/watch/observe.ts';
import { readEndedChildrenSeconds } from './processes.ts';

export interface Watched {
  key: string;
  url: string;
  podUrl: string;
}

export type FromWatcher = { verdict: { key: string; word: string } } | { cpuSeconds: number };

/** Long before now: the server has no excuse. */
const SINCE_MS = 600_000;

const over = new AbortController();
const say = (message: FromWatcher) => process.send?.(message);

process.on('message', (message: { ffmpeg: string; watched: Watched[] } | 'measure' | 'end') => {
  if (message === 'measure') {
    const { user, system } = process.cpuUsage();
    say({ cpuSeconds: (user + system) / 1e6 + readEndedChildrenSeconds() });
  } else if (message === 'end') over.abort();
  else watch(message);
});

function watch({ ffmpeg, watched }: { ffmpeg: string; watched: Watched[] }): void {
  const observer = createWatchObserver(
    {
      clock: systemClock,
      log: pino({ level: 'error' }),
      signal: over.signal,
      report: (key, { status, reason }) => say({ verdict: { key, word: reason ? `${status} ${reason}` : status } }),
    },
    { allowPrivate: true, ffmpeg, confine: 'auto' },
  );
  const sinceMs = Date.now() - SINCE_MS;
  const publishing = (podUrl: string) => ({ sinceMs, podUrl, readViewToken: async () => undefined });
  observer.update(
    watched.map(
      ({ key, url, podUrl }): PlatformTarget => ({
        key,
        uid: key,
        platform: { kind: 'watch', policy: 'Observe', url },
        publishing: publishing(podUrl),
      }),
    ),
  );
  void observer.ended.then(() => process.disconnect());
}
