/** Plans the targets and times of shots: the same for the same seed. Pure: no I/O, no clock. */

/**
 * - api, billing: roles of the service; postgres: the whole server; agent: the Kubernetes node's; anvil: the chain's node
 * - ffmpeg: the one that sends a stream; streamer: the process of a stream's pod
 * - receiver: tears a stream's connection off, and takes none for a while
 * - stop: nothing is killed, a stream is stopped and started as a customer does it
 */
export const KINDS = [
  'api',
  'billing',
  'postgres',
  'agent',
  'anvil',
  'ffmpeg',
  'streamer',
  'receiver',
  'stop',
] as const;
export type Kind = (typeof KINDS)[number];

export interface Shot {
  atMs: number;
  kind: Kind;
  /** A number from 0 to 1, to choose between several targets. */
  lot: number;
}

/** Returns numbers from 0 to 1, the same for the same seed (mulberry32). */
export function lots(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/**
 * A node doubles the wait before each restart of a pod, as Kubernetes does: more kills of its processes would leave nothing on air to hit.
 */
const MOST: Partial<Record<Kind, number>> = { agent: 2, streamer: 2 };
const PAUSE_MS = { least: 3000, most: 8000 };

/** Each kind comes once before any comes twice, where there is time for it. */
export function planShots(seed: number, seconds: number): Shot[] {
  const lot = lots(seed);
  const left: Kind[] = [];
  const fired = new Map<Kind, number>();
  const next = (): Kind => {
    if (left.length === 0) left.push(...KINDS.filter((kind) => (fired.get(kind) ?? 0) < (MOST[kind] ?? Infinity)));
    const [kind = 'billing'] = left.splice(Math.floor(lot() * left.length), 1);
    fired.set(kind, (fired.get(kind) ?? 0) + 1);
    return kind;
  };
  const shots: Shot[] = [];
  for (let atMs = PAUSE_MS.least; ; ) {
    atMs += PAUSE_MS.least + lot() * (PAUSE_MS.most - PAUSE_MS.least);
    if (atMs > seconds * 1000) return shots;
    shots.push({ atMs, kind: next(), lot: lot() });
  }
}
