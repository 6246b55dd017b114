/**
 * Runs taps (tap.ts) in a process with a higher priority: their times are those of the media's arrival, however busy the machine is. It
 * reports over IPC.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { constants, setPriority } from 'node:os';
import { type Publish, startTap, type Tap } from './tap.ts';

type Asked = { open: number } | { cut: string; ms: number } | { read: string };
type Answer = string | boolean | Publish[];

/** A Tap over IPC. */
export interface FarTap {
  url: string;
  publishes(): Promise<Publish[]>;
  cut(forMs: number): Promise<boolean>;
}

export interface Taps {
  open(port: number): Promise<FarTap>;
  close(): Promise<void>;
}

export async function startTaps(): Promise<Taps> {
  const child: ChildProcess = fork(import.meta.filename, { detached: true });
  await once(child, 'message');
  // Calls run one at a time, so that answers need no ids.
  let last: Promise<unknown> = Promise.resolve();
  const ask = <T extends Answer>(asked: Asked): Promise<T> => {
    const answer = last.then(async () => {
      child.send(asked);
      const [told] = (await once(child, 'message')) as [T];
      return told;
    });
    last = answer.catch(() => undefined);
    return answer;
  };
  return {
    async open(port) {
      const url = await ask<string>({ open: port });
      return {
        url,
        publishes: () => ask<Publish[]>({ read: url }),
        cut: (ms) => ask<boolean>({ cut: url, ms }),
      };
    },
    async close() {
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    },
  };
}

if (import.meta.main) {
  try {
    setPriority(constants.priority.PRIORITY_HIGHEST);
  } catch {
    // Only root may raise a priority.
  }
  const taps = new Map<string, Tap>();
  const answer = async (asked: Asked): Promise<Answer> => {
    if ('open' in asked) {
      const tap = await startTap(asked.open);
      taps.set(tap.url, tap);
      return tap.url;
    }
    if ('cut' in asked) return taps.get(asked.cut)?.cut(asked.ms) ?? false;
    return taps.get(asked.read)?.publishes ?? [];
  };
  process.on('message', (asked: Asked) => void answer(asked).then((told) => process.send?.(told)));
  process.on('disconnect', () => process.exit());
  process.send?.('ready');
}
