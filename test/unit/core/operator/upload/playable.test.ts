import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isSameJson } from '../../../../../src/core/lib/json-equal.ts';
import { boundPart, hasPartMoved, mayPlay, showPart } from '../../../../../src/core/operator/upload/playable.ts';
import type { PreparedPart } from '../../../../../src/core/protocol/task.ts';
import { computePreparedBytes } from '../../../../../src/core/resources/upload/size.ts';
import { at, MEDIA, NOW } from '../../../../kit/make/operator.ts';

const part = (seconds: number, totalSeconds = 3600, speed = 2): PreparedPart => ({ seconds, totalSeconds, speed });

describe('a rendition may be played', () => {
  it.each<[string, PreparedPart, boolean]>([
    ['not before a chunk of it is prepared', part(29), false],
    ['from then on, when it is prepared twice as fast as it plays', part(30), true],
    ['not when it is prepared just as fast as it plays', part(30, 3600, 1), false],
    ['when it is prepared a quarter faster', part(30, 3600, 1.25), true],
    ['later, when it is prepared more slowly', part(2160, 3600, 0.5), true],
    ['no sooner than that', part(2159, 3600, 0.5), false],
    ['not at a standstill', part(3599, 3600, 0), false],
    ['whole, however short', part(5, 5, 0), true],
    ['not in part, when it is short', part(20, 25, 100), false],
  ])('%s', (_what, given, expected) => {
    expect(mayPlay(given)).toBe(expected);
  });

  it('only where the playhead never comes to what is not prepared, even at four fifths of the measured speed', () => {
    const seconds = fc.double({ min: 0, max: 36_000, noNaN: true });
    const speeds = fc.double({ min: 0.01, max: 50, noNaN: true });
    const property = fc.property(seconds, seconds, speeds, fc.double({ min: 0, max: 1, noNaN: true }), (...given) => {
      const [prepared, more, speed, moment] = given;
      const total = prepared + more + 1;
      fc.pre(mayPlay(part(prepared, total, speed)));
      const playhead = moment * total;
      expect(Math.min(total, prepared + 0.8 * speed * playhead)).toBeGreaterThanOrEqual(playhead - 1e-6 * total);
    });
    fc.assert(property);
  });
});

describe('a report', () => {
  const media = { ...MEDIA, durationSeconds: 3600 };

  it.each<[string, PreparedPart | undefined, boolean]>([
    ['of a part', part(60), true],
    ['of a length that rounding explains', part(60, 3811), true],
    ['of a longer one', part(60, 3812), false],
    ['of more than all', part(61, 60), false],
    ['of a speed that no tool has', part(60, 3600, 1e6), false],
    ['of more bytes than any tool makes', { ...part(60), bytes: 1e10 }, false],
    ['of nothing', undefined, false],
  ])('%s counts: %s', (_what, given, expected) => {
    expect(boundPart(given, media.durationSeconds)).toEqual(expected ? given : undefined);
  });

  it('is worth a look when it is the first, a step longer, or can be played', () => {
    expect(hasPartMoved(undefined, undefined)).toBe(false);
    expect(hasPartMoved(undefined, part(0))).toBe(false);
    expect(hasPartMoved(part(0), part(20))).toBe(true);
    expect(hasPartMoved(part(20), part(29))).toBe(false);
    expect(hasPartMoved(part(20), part(30))).toBe(true);
    expect(hasPartMoved(part(60), part(239))).toBe(false);
    expect(hasPartMoved(part(60), part(240))).toBe(true);
  });
});

describe('the status of a rendition that is not complete', () => {
  const KEY = 'renditions/a/video-720p30.flv';
  type Shown = ReturnType<typeof showPart>;
  const show = (shown: Shown | undefined, given?: PreparedPart, isWorkedOn = true, now = NOW) =>
    showPart({ shown, part: given, isWorkedOn, key: KEY, now });
  const first = show(undefined, part(20));
  const playable = show(first, part(60));

  it('says what is prepared, when all of it is expected, and once it can be played under which key', () => {
    expect(show(undefined)).toEqual({});
    expect(show(undefined, part(0))).toEqual({});
    expect(first).toEqual({ preparedSeconds: 20, estimatedReadyAt: '2026-06-01T12:29:50Z' });
    expect(playable).toEqual({
      preparedSeconds: 60,
      playable: true,
      key: KEY,
      durationSeconds: 3600,
      estimatedReadyAt: '2026-06-01T12:29:30Z',
    });
  });

  it('says the bit rate of what is prepared, so that an account cannot go past its room with many that are not complete', () => {
    const shown = show(undefined, { ...part(60), bytes: 45_000_000 });
    expect(shown).toMatchObject({ preparedSeconds: 60, durationSeconds: 3600, bitrateKbps: 6000 });
    const renditions = [{ profile: '720p30', state: 'pending' as const, ...shown }];
    expect(computePreparedBytes({ status: { phase: 'preparing', progress: 0, renditions } })).toBe(45_000_000);
    // A step that is not worth a write, and a pod that cannot be asked, change nothing.
    for (const given of [{ ...part(61), bytes: 90_000_000 }, undefined]) expect(show(shown, given)).toEqual(shown);
    expect(show(shown, { ...part(1200), bytes: 600_000_000 })).toMatchObject({ bitrateKbps: 4000 });
  });

  it('estimates nothing where nothing can be estimated', () => {
    for (const speed of [0, 1e-9]) expect(show(undefined, part(30, 3600, speed))).toEqual({ preparedSeconds: 30 });
  });

  it('changes in steps, so that a film of ten hours takes at most twenty-two writes', () => {
    let shown: Shown | undefined;
    let writes = 0;
    for (let seconds = 0; seconds <= 36_000; seconds += 10) {
      const next = show(shown, part(seconds, 36_000), true, at(seconds / 2));
      if (!isSameJson(next, shown ?? {})) writes++;
      shown = next;
    }
    expect(writes).toBeLessThanOrEqual(22);
    expect(shown?.preparedSeconds).toBeGreaterThan(0.95 * 36_000);
  });

  it('stays when the pod cannot be asked, is replaced or becomes slow', () => {
    for (const given of [undefined, part(0), part(30), part(120, 3600, 0.01), part(1000, 3600, 0.01)])
      expect(show(playable, given)).toMatchObject({ playable: true, key: KEY });
    expect(show(playable, part(30, 3600, 0.01)).preparedSeconds).toBe(60);
    expect(show(playable)).toEqual(playable);
  });

  it('has no estimate while nothing works on it', () => {
    const { estimatedReadyAt: _, ...rest } = playable;
    expect(show(playable, undefined, false)).toEqual(rest);
  });
});
