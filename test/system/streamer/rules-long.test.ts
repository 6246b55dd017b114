/** Tests for twenty minutes what rules.test.ts tests for one and a half, and that the pictures keep to the clock. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { openStudio, type Studio } from '../../kit/make/onair.ts';
import { compareRun, planRun, runOnAir } from './real-run.ts';
import { buildRuled, FRAMES, IDS, makeRuled } from './ruled.ts';

const MINUTE_MS = 60_000;
/**
 * A streamer that joins further behind its clock moves its epoch (6 s), and one that has lost more than 1 s does later. A machine that ran
 * other tests, too, was 3.6 s behind.
 */
const OFF_CLOCK_MS = 6000 + 1000;

let studio: Studio;
beforeAll(async () => {
  studio = await openStudio();
});
afterEach(() => studio?.cleanUp());
afterAll(() => studio?.close());

test('for twenty minutes, viewers get what the timeline says, to the frame and by the clock, over five kills, two drains and two edits', async () => {
  const clips = await makeRuled(studio);
  const pace = {
    everySeconds: 60,
    eachItems: 5,
    at: '*/3 * * * *',
    night: { cron: '*/5 * * * *', seconds: 70 },
    day: { cron: '2-59/4 * * * *', seconds: 60 },
  };
  const version = (nth: number) => buildRuled(clips, { ...pace, version: nth });
  const run = await runOnAir(studio, version(1), {
    ...{ key: 'rules-long', ids: IDS, forMs: 20 * MINUTE_MS },
    happenings: [
      { atMs: 2 * MINUTE_MS, what: 'kill' },
      { atMs: 4.5 * MINUTE_MS, what: 'drain' },
      { atMs: 6 * MINUTE_MS, what: 'kill' },
      { atMs: 8 * MINUTE_MS, what: version(2) },
      { atMs: 10 * MINUTE_MS, what: 'kill' },
      { atMs: 12.2 * MINUTE_MS, what: 'drain' },
      { atMs: 14 * MINUTE_MS, what: 'kill' },
      { atMs: 16 * MINUTE_MS, what: { ...version(1), version: 3 } },
      { atMs: 18 * MINUTE_MS, what: 'kill' },
    ],
  });
  const expected = planRun(run, FRAMES);
  expect(run.recordings).toHaveLength(8);
  const { whole, behindMs, aheadMs } = compareRun(run, expected);
  expect(new Set(whole.map(({ rule }) => rule))).toEqual(
    new Set(['', 'news', 'jingle', 'spot', 'night', 'day', 'late']),
  );
  expect(whole.length).toBeGreaterThan(100);
  expect(behindMs).toBeLessThanOrEqual(OFF_CLOCK_MS);
  expect(aheadMs).toBeLessThanOrEqual(OFF_CLOCK_MS);
}, 2_400_000);
