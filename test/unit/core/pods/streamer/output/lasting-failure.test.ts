/** Tests which failure a destination shows whose attempts end in several ways. */
import { expect, it } from 'vitest';
import { failure } from '../../../../../../src/core/pods/streamer/output/failure.ts';
import { LastingFailure } from '../../../../../../src/core/pods/streamer/output/lasting-failure.ts';

const [RESET, REFUSED] = [failure('reset'), failure('connection_refused')];

it('shows a new failure at once, and tells that it is new', () => {
  const lasting = new LastingFailure();
  expect(lasting.add(RESET, 0)).toBe(true);
  expect(lasting.add(failure('publish_rejected'), 1)).toBe(true);
  expect(lasting.shown?.code).toBe('publish_rejected');
});

it('keeps the words of a failure that comes again in other ones', () => {
  const lasting = new LastingFailure();
  lasting.add(failure('reset', 'Broken pipe'), 0);
  expect(lasting.add(failure('reset', 'Connection reset by peer'), 1)).toBe(false);
  expect(lasting.shown).toEqual(failure('reset', 'Broken pipe'));
});

it('is one lasting state for attempts that end in turns of several kinds', () => {
  const lasting = new LastingFailure();
  const turns = Array.from({ length: 200 }, (_, i) => lasting.add(i % 2 === 0 ? RESET : REFUSED, i * 2000));
  expect(turns.filter(Boolean)).toHaveLength(2);
  expect(lasting.shown).toEqual(REFUSED);
});

it('shows a failure again that has been the only one for a minute', () => {
  const lasting = new LastingFailure();
  lasting.add(RESET, 0);
  lasting.add(REFUSED, 1000);
  expect(lasting.add(RESET, 2000)).toBe(false);
  expect(lasting.latestCode).toBe('reset');
  expect(lasting.add(RESET, 61_999)).toBe(false);
  expect(lasting.add(RESET, 62_000)).toBe(true);
  expect(lasting.shown).toEqual(RESET);
});

it('shows the next failure after new settings, and none once the destination is healthy', () => {
  const lasting = new LastingFailure();
  lasting.add(failure('reset', 'a'), 0);
  lasting.expectNew();
  expect(lasting.shown).toEqual(failure('reset', 'a'));
  expect(lasting.add(failure('reset', 'b'), 1)).toBe(true);
  expect(lasting.shown).toEqual(failure('reset', 'b'));
  lasting.clear();
  expect(lasting.shown).toBeNull();
});

it('shows missing settings once they have been missing for 15 s, and counts anew after each change of them', () => {
  const missing = failure('not_configured');
  const lasting = new LastingFailure();
  expect(lasting.add(missing, 0)).toBe(false);
  expect(lasting.add(missing, 14_999)).toBe(false);
  expect(lasting.shown).toBeNull();
  expect(lasting.add(missing, 15_000)).toBe(true);
  lasting.expectNew();
  expect(lasting.add(missing, 16_000)).toBe(false);
  expect(lasting.add(REFUSED, 17_000)).toBe(true);
  expect(lasting.shown).toEqual(REFUSED);
});
