import { expect, test } from 'vitest';
import { rebase, type TrackListing, take } from '../../../../../../src/core/pods/streamer/tracks/listing.ts';
import { compileRule, readStanding, recordStanding } from '../../../../../../src/core/programme/program-rules.ts';
import { type RuledLoop, startStanding, takeTurns } from '../../../../../../src/core/programme/rules.ts';
import { TICKS_PER_SECOND } from '../../../../../../src/core/programme/ticks.ts';

const EXPECTED_MS = Date.parse('2026-03-01T00:00:00Z');
const GRID_TICKS = 2 * TICKS_PER_SECOND;

const rule = compileRule(
  {
    ...{ name: 'news', when: { everySeconds: 10 }, start: 'Cut', lateSeconds: 120, after: 'Resume', count: 1 },
    ...{ pick: 'Next', items: [] },
  },
  { durations: [3 * TICKS_PER_SECOND] },
  7,
  () => undefined,
);
const loop: RuledLoop = {
  ...{ mode: 'sequential', seed: 7, durations: [60 * TICKS_PER_SECOND], gridTicks: GRID_TICKS },
  rules: [rule],
};

test('an item that begins at another moment than was expected is cut where the reported place of the list says', () => {
  // The rule is due 8 s after the expected begin, on a keyframe.
  const [own] = startStanding(loop, EXPECTED_MS - 2000).rules;
  const standing = { ...startStanding(loop, EXPECTED_MS), rules: own ? [own] : [] };
  const listing: TrackListing = {
    ...{
      version: 2,
      programme: 'abc',
      epochMs: undefined,
      expectedEpochMs: EXPECTED_MS,
      items: [],
      lists: [],
      rules: [],
    },
    ...{ playsSounds: false, loop, origin: standing, delayTicks: 0, unanswered: false },
  };
  const expected = take(listing, standing);
  expect(expected.endTicks).toBe(4 * GRID_TICKS);
  listing.epochMs = EXPECTED_MS - 3;
  const begun = rebase(listing, expected);
  expect(begun).toMatchObject({ startTicks: 0, endTicks: 5 * GRID_TICKS, isCut: true });
  if (!listing.origin) throw new Error('the list has no origin');
  const written = JSON.parse(JSON.stringify(recordStanding(loop, listing.origin)));
  const told = takeTurns(loop, readStanding(loop, written, listing.epochMs), listing.epochMs).next().value;
  expect(told).toMatchObject({ item: begun.item, offsetTicks: begun.offsetTicks, endTicks: begun.endTicks });
});
