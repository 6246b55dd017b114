/** Tests that a streamer plays by rules what the timeline says, to the frame: each picture has the number of its item and its own drawn in blocks. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { PlayedRule, ProgramItem } from '../../../src/core/resources/stream/playing.ts';
import { AUDIO_STEP_MS, openStudio, type Studio, VIDEO_STEP_MS } from '../../kit/make/onair.ts';
import { buildProgram, computeSteps, readPackets } from '../../kit/make/streamer.ts';
import { until } from '../../kit/wait.ts';
import { computeAired, expectAired } from './as-run.ts';
import { compareRun, planRun, runOnAir } from './real-run.ts';
import { buildRuled, FRAMES, IDS, makeRuled } from './ruled.ts';

let studio: Studio;
beforeAll(async () => {
  studio = await openStudio();
});
afterEach(() => studio?.cleanUp());
afterAll(() => studio?.close());

test('what viewers get is what the timeline says, to the frame, and as-run later, by a period, times, a count of items and windows, over an edit, a kill and a drain', async () => {
  const clips = await makeRuled(studio);
  // Whenever it begins, each of them is due within its time.
  const pace = {
    everySeconds: 20,
    eachItems: 3,
    at: '* * * * *',
    night: { cron: '* * * * *', seconds: 12 },
    day: { cron: '* * * * *', seconds: 40 },
  };
  const program = buildRuled(clips, pace);
  const edited = buildRuled(clips, { ...pace, version: 2 });
  const run = await runOnAir(studio, program, {
    ...{ key: 'rules', ids: IDS, forMs: 85_000 },
    happenings: [
      { atMs: 20_000, what: 'kill' },
      { atMs: 35_000, what: edited },
      { atMs: 60_000, what: 'drain' },
    ],
  });
  const expected = planRun(run, FRAMES);
  expect(run.recordings).toHaveLength(3);
  const { whole } = compareRun(run, expected);
  const aired = computeAired(run, FRAMES);
  expect(expectAired(run.recordings, aired)).toBeGreaterThan(8);
  expect(aired.every(({ isExact }) => isExact)).toBe(true);
  const rules = new Set(expected.filter(({ startMs }) => startMs < run.endMs).map(({ rule }) => rule));
  expect(rules).toEqual(new Set(['', 'news', 'jingle', 'spot', 'night', 'day', 'late']));
  expect(whole.length).toBeGreaterThan(5);
  expect([run.facts[0], run.facts.at(-1)]).toMatchObject([{ version: 1 }, { version: 2 }]);
  for (const { path } of run.recordings) {
    const packets = await readPackets(path);
    expect(computeSteps(packets, 'video')).toMatchObject({ notIncreasing: 0 });
    expect(computeSteps(packets, 'video').longestMs).toBeLessThanOrEqual(VIDEO_STEP_MS);
    expect(computeSteps(packets, 'audio').longestMs).toBeLessThanOrEqual(AUDIO_STEP_MS);
  }
});

test('a rule that is late at each border is reported with the moment at which it was due, and is left out', async () => {
  const [item, news] = [studio.items[0] as ProgramItem, studio.items[1] as ProgramItem];
  const hurried: PlayedRule = {
    ...{ name: 'hurried', when: { everySeconds: 10 }, items: [news] },
    ...{ start: 'Border', lateSeconds: 0, after: 'Resume', count: 1, pick: 'Next' },
  };
  const epochMs = Date.now();
  const program = buildProgram([item], {
    epoch: new Date(epochMs).toISOString(),
    video: { mode: 'sequential', items: [item], rules: [hurried] },
  });
  const stream = await studio.onAir(program, { main: [studio.rtmp.url, 'hurried'] });
  const [dropped] = await until('a rule was left out', async () => {
    const { droppedRules } = await stream.stats();
    return droppedRules?.length ? droppedRules : undefined;
  });
  expect(dropped).toMatchObject({ track: 'video', rule: 'hurried', reason: 'late' });
  expect(Date.parse(dropped?.dueAt ?? '')).toBeGreaterThan(epochMs);
  expect((await stream.stats()).currentItem?.id).toBe(item.id);
});
