/** Makes the day of a stream for pictures: a few uploads in turn, the last of which are not prepared yet. Pure: no I/O, no clock. */
import type { StreamPublicNow, StreamTimeline, Upload } from '../../../src/service/client/index.ts';
import { NOW, uploads } from './account.ts';

const MINUTES = [48, 35, 90, 12, 64, 27];
const DAY_MS = 86_400_000;
/** Items behind this time are estimates. */
const EXACT_MS = 0.75 * DAY_MS;

function listItems(): StreamTimeline['items'] {
  const items: StreamTimeline['items'] = [];
  const end = NOW.getTime() + DAY_MS;
  for (let ms = NOW.getTime() - 11 * 60_000; ms < end; ) {
    const n = items.length % MINUTES.length;
    const { objectID: id = '', name = '' } = uploads[n] ?? {};
    const durationSeconds = (MINUTES[n] ?? 1) * 60;
    const startAt = new Date(ms).toISOString();
    ms += durationSeconds * 1000;
    const exact = ms <= NOW.getTime() + EXACT_MS;
    items.push({
      startAt,
      endAt: new Date(ms).toISOString(),
      durationSeconds,
      id,
      name,
      playlistID: 'pls-1',
      index: n,
      rule: n === 1 ? 'jingle' : null,
      exact,
    });
  }
  return items;
}

export const timeline: StreamTimeline = {
  from: NOW.toISOString(),
  to: new Date(NOW.getTime() + DAY_MS).toISOString(),
  onAir: true,
  track: 'video',
  exactUntil: new Date(NOW.getTime() + EXACT_MS).toISOString(),
  items: listItems(),
  nextFrom: null,
};

export const publicNow: StreamPublicNow = {
  enabled: true,
  url: 'https://loops.example.com/v1/public/now/lsn_5TqZ0mW1xYbR8dKcN3vLhE7uGfJ2sPaQoI9tXyD4eB1mVh',
  since: NOW.toISOString(),
};

export const quarantine: NonNullable<Upload['quarantine']> = {
  reason: 'A copyright claim is being checked.',
  since: new Date(NOW.getTime() - 3_600_000).toISOString(),
  cut: true,
};
