import { expect, test } from 'vitest';
import { PLATFORM_CODES } from '../../../../../src/core/lib/codes/platforms.ts';
import { describeView, type PlatformLive } from '../../../../../src/dashboard/features/destinations/viewText.ts';

const SEEN: PlatformLive = {
  status: 'true',
  code: null,
  message: 'Viewers see the stream.',
  fix: null,
  since: '2026-06-01T12:00:00Z',
  checkedAt: '2026-06-01T12:00:00Z',
  lastSeenAt: '2026-06-01T12:00:00Z',
  viewers: 1,
  issues: [],
  repairStalled: false,
};
const why = (code: keyof typeof PLATFORM_CODES) => ({
  code,
  message: PLATFORM_CODES[code].meaning,
  fix: PLATFORM_CODES[code].fix,
});

test('only a stream that viewers see, and that nothing threatens, looks good', () => {
  expect(describeView(SEEN)).toMatchObject({ tone: 'good', head: 'Viewers see the stream', facts: ['1 viewer'] });
  expect(describeView({ ...SEEN, ...why('limit_near') }).tone).toBe('attention');
  expect(describeView({ ...SEEN, status: 'false', ...why('black') }).tone).toBe('danger');
  for (const code of ['unreachable', 'not_checked', 'not_sending'] as const)
    expect(describeView({ ...SEEN, status: 'unknown', ...why(code) }).tone).toBe('quiet');
});

test('a stream that is not seen has its time, its cause and what to do', () => {
  const { head, cause, fix, facts } = describeView({ ...SEEN, status: 'false', ...why('frozen'), viewers: 0 });
  expect(head).toMatch(/^Viewers have not seen the stream since .*\d/);
  expect([cause, fix]).toEqual([PLATFORM_CODES.frozen.meaning, PLATFORM_CODES.frozen.fix]);
  expect(facts).toEqual([]);
});

test('what is not known says when viewers last saw it, and nothing of a stream that nobody sends', () => {
  const { facts, cause } = describeView({ ...SEEN, status: 'unknown', ...why('unreachable'), viewers: null });
  expect(facts[0]).toMatch(/^last seen /);
  expect(cause).toBe(PLATFORM_CODES.unreachable.meaning);
  expect(describeView({ ...SEEN, status: 'unknown', ...why('not_sending') })).not.toHaveProperty('cause');
});
