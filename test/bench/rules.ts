/**
 * Measures the cost of rules: streams whose list has twenty, of all kinds, beside the same streams without. All items are of one length, so
 * that both sides open as many of them: what differs is the fold that chooses.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { PlayedRule, ProgramItem } from '../../src/core/resources/stream/playing.ts';
import type { CostOptions } from './cost.ts';
import { makeMedia } from './media.ts';
import { measureBeside } from './pair.ts';
import type { Row } from './report.ts';
import type { Media } from './senders.ts';

const CLIPS = Array.from({ length: 4 }, (_, i) => ({
  ...{ frames: 600, size: '1280x720', bitrateKbps: 1600, hertz: 330 + 110 * i },
}));
/** Of the list; some of them are played by rules too. */
const ITEMS = 500;

/** Five of each kind: every 5 to 25 minutes, at times of the hour, each so many items, and windows of the day in turn. */
function makeRules(items: readonly ProgramItem[]): PlayedRule[] {
  const zone = { timeZone: 'Europe/Berlin' };
  const shared = { lateSeconds: 120, after: 'Resume', count: 1, pick: 'Next' } as const;
  return Array.from({ length: 5 }, (_, i) => i).flatMap((i): PlayedRule[] => [
    {
      name: `every${i}`,
      when: { everySeconds: 300 * (i + 1) },
      start: 'Border',
      ...shared,
      items: items.slice(i, i + 3),
    },
    {
      name: `at${i}`,
      when: { at: { cron: `${i * 12} * * * *`, ...zone } },
      start: 'Cut',
      ...shared,
      items: items.slice(0, 1),
    },
    {
      name: `each${i}`,
      when: { eachItems: 3 + 2 * i },
      start: 'Border',
      ...shared,
      pick: 'Shuffle',
      items: items.slice(0, 9),
    },
    {
      ...{ name: `window${i}`, when: { window: { cron: `0 ${i * 4} * * *`, ...zone, durationSeconds: 7200 } } },
      ...{ start: 'Border', ...shared, items: items.slice(20 * i, 20 * i + 20) },
    },
  ]);
}

async function makeLongList(dir: string): Promise<Media> {
  const media = await makeMedia(dir, 'ruled', CLIPS);
  const items = Array.from({ length: ITEMS }, (_, i) => ({
    ...(media.items[i % CLIPS.length] as ProgramItem),
    id: `i${i}`,
  }));
  return { ...media, items };
}

export async function measureRules(root: string, options: CostOptions): Promise<Row[]> {
  const dir = join(root, 'rules');
  await mkdir(dir);
  const plain = await makeLongList(dir);
  const rules = makeRules(plain.items);
  const what = `${ITEMS} items of 20 s, ${rules.length} rules`;
  const words = { what, beside: 'the same without rules', cpuBar: '0.98 to 1.02×' };
  return measureBeside(dir, { changed: { ...plain, rules }, plain }, { ...options, ...words });
}
