/** Describes a file on its way to the server. Pure: no I/O, no clock. */
import { formatBytes, formatTimeLeft } from '../../lib/format.ts';
import type { Sending } from './sender.ts';
import { secondsLeft } from './speed.ts';

/** `34 % · 120 MB of 350 MB · 12.0 MB/s · about 20 s left`. */
export function formatProgress({ state, sizeBytes, sentBytes, speed }: Sending): string {
  const percent = sizeBytes === 0 ? 0 : Math.floor((sentBytes / sizeBytes) * 100);
  const amount = `${formatBytes(sentBytes)} of ${formatBytes(sizeBytes)}`;
  if (state === 'waiting') return `Waiting to start · ${formatBytes(sizeBytes)}`;
  if (state === 'paused') return `Paused at ${percent} % · ${amount}`;
  if (state === 'failed') return `Stopped at ${percent} % · ${amount}`;
  return [
    `${percent} %`,
    amount,
    speed !== undefined && `${formatBytes(speed)}/s`,
    formatTimeLeft(secondsLeft(sizeBytes - sentBytes, speed)),
  ]
    .filter(Boolean)
    .join(' · ');
}
