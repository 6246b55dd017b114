/** Makes programmes with rules, and tries whether the timelines of two parts of a span are that of the whole. */
import fc from 'fast-check';
import { expect } from 'vitest';
import { findMoment } from '../../../../src/core/programme/moments.ts';
import { compileRule, readStanding, recordStanding } from '../../../../src/core/programme/program-rules.ts';
import { startStanding, type Turn, takeTurns } from '../../../../src/core/programme/rules.ts';
import { TICKS_PER_SECOND, ticksToMs } from '../../../../src/core/programme/ticks.ts';
import { anchorAt, type Programme, timeline } from '../../../../src/core/programme/timeline.ts';
import type { RuleTerms } from '../../../../src/core/resources/playlist/rules.ts';

export const seconds = (list: readonly number[]): number[] => list.map((one) => Math.round(one * TICKS_PER_SECOND));
const terms = (given: Partial<RuleTerms> & Pick<RuleTerms, 'when'>): RuleTerms => ({
  ...{ name: 'rule', start: 'Border', lateSeconds: 120, after: 'Resume', count: 1, pick: 'Next' },
  ...given,
});
type GivenRule = Parameters<typeof terms>[0] & { lengths: number[] };
export const programme = (items: number[], rules: GivenRule[], more: Partial<Programme> = {}): Programme => ({
  ...{ mode: 'sequential', seed: 7, durations: seconds(items), estimated: new Set() },
  gridTicks: 2 * TICKS_PER_SECOND,
  rules: rules.map(({ lengths, ...given }, index) =>
    compileRule(
      { items: [], ...terms({ name: `rule-${index}`, ...given }) },
      { durations: seconds(lengths) },
      7,
      findMoment,
    ),
  ),
  ...more,
});
export function takeFirst(turns: Iterable<Turn>, count: number): Turn[] {
  const found: Turn[] = [];
  for (const turn of turns) if (found.push(turn) === count) break;
  return found;
}
const HOUR_MS = 3_600_000;

const ZONES = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'Australia/Lord_Howe',
  'Asia/Kathmandu',
  'Africa/Casablanca',
];
const zone = fc.constantFrom(...ZONES);
const cron = fc.constantFrom('*/7 * * * *', '0 * * * *', '30 1,2 * * *', '15 2 * * 0', '0 0 30 2 *');
const when: fc.Arbitrary<RuleTerms['when']> = fc.oneof(
  fc.record({ everySeconds: fc.integer({ min: 10, max: 4000 }) }),
  fc.record({ eachItems: fc.integer({ min: 1, max: 6 }) }),
  fc.record({ at: fc.record({ cron, timeZone: zone }) }),
  fc.record({ window: fc.record({ cron, timeZone: zone, durationSeconds: fc.integer({ min: 60, max: 5000 }) }) }),
);
const length = fc.oneof(
  { weight: 5, arbitrary: fc.integer({ min: 1, max: 900 }) },
  { weight: 1, arbitrary: fc.constant(0) },
);
const rule: fc.Arbitrary<GivenRule> = fc.record({
  when,
  start: fc.constantFrom('Border' as const, 'Cut' as const),
  after: fc.constantFrom('Resume' as const, 'Next' as const, 'Restart' as const),
  pick: fc.constantFrom('Next' as const, 'Shuffle' as const),
  lateSeconds: fc.integer({ min: 0, max: 600 }),
  count: fc.integer({ min: 1, max: 3 }),
  lengths: fc.array(length, { maxLength: 4 }),
});
export const ruled = fc
  .record({
    items: fc.array(length, { minLength: 1, maxLength: 6 }),
    rules: fc.array(rule, { minLength: 1, maxLength: 4 }),
    mode: fc.constantFrom('sequential' as const, 'shuffle' as const),
    seed: fc.nat(4_294_967_295),
    least: fc.nat(3),
  })
  .map(({ items, rules, mode, seed, least }) =>
    programme(items, rules, {
      ...{ mode, seed },
      ...(least > 0 && { apart: { least, groups: items.map((_, item) => item % 3) } }),
    }),
  );
/** Around the changes of clocks. */
const epoch = fc
  .tuple(
    fc.constantFrom('2026-03-08', '2026-03-29', '2026-04-05', '2026-10-04', '2026-10-25', '2026-11-01'),
    fc.nat(86_400_000),
  )
  .map(([day, ms]) => Date.parse(day) - 6 * HOUR_MS + ms);

/** Expects of so many programmes that parts of a timeline are the whole, from an anchor of any turn between, too. Returns the number tried. */
export function tryParts(numRuns: number): number {
  let cases = 0;
  fc.assert(
    fc.property(ruled, epoch, fc.nat(24), (one, epochMs, nth) => {
      const turns: Turn[] = takeFirst(takeTurns(one, startStanding(one, epochMs), epochMs), 30);
      const middle = turns[nth];
      const last = turns.at(-1);
      if (!middle || !last) return;
      const at = (ticks: number) => epochMs + ticksToMs(ticks);
      const [b, c] = [at(middle.startTicks), at(last.endTicks)];
      const anchor = anchorAt(epochMs);
      const whole = [...timeline(one, anchor, epochMs, c)];
      const parts = [...timeline(one, anchor, epochMs, b), ...timeline(one, anchor, b, c)];
      if (JSON.stringify(whole) !== JSON.stringify(parts)) expect(parts).toEqual(whole);
      const written = JSON.parse(JSON.stringify(recordStanding(one, middle.before)));
      const later = { round: middle.round, turn: middle.turn, atMs: b, standing: readStanding(one, written, b) };
      const show = (list: Iterable<{ rule: number | null; item: number; startMs: number }>) =>
        JSON.stringify([...list].map(({ rule: by, item, startMs }) => [by, item, Math.round(startMs / 10)]));
      if (show(timeline(one, later, b, c)) !== show(timeline(one, anchor, b, c)))
        expect([...timeline(one, later, b, c)]).toEqual([...timeline(one, anchor, b, c)]);
      cases += 2;
    }),
    { numRuns },
  );
  return cases;
}
