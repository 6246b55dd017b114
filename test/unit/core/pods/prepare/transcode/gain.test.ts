import { describe, expect, test } from 'vitest';
import {
  decideGain,
  describeLoudness,
  gainFilters,
  lowerCeiling,
} from '../../../../../../src/core/pods/prepare/transcode/gain.ts';
import { parseSummary } from '../../../../../../src/core/pods/prepare/transcode/measure-sound.ts';

const TARGET = { targetLufs: -14, maxTruePeakDb: -1, maxBoostDb: 6 };
const measured = (integratedLufs: number, truePeakDb = -20) => ({ integratedLufs, truePeakDb, rangeLu: 5 });

describe('the gain', () => {
  test.each([
    ['brings an item to the target', measured(-17.3), { gainDb: 3.3 }],
    ['is at most the largest boost', measured(-28), { gainDb: 6, bound: 'boost' }],
    ['takes away at most 12 dB', measured(-1), { gainDb: -12, bound: 'cut' }],
    ['is none within half a decibel', measured(-13.5), { gainDb: 0 }],
    ['is none for silence', {}, { gainDb: 0, bound: 'silence' }],
    ['limits peaks that it would lift over the ceiling', measured(-17, -4.9), { gainDb: 3, ceilingDb: -2 }],
    ['limits none that fit', measured(-17, -5), { gainDb: 3 }],
    ['limits peaks that stay too high when they are lowered', measured(-12, 3), { gainDb: -2, ceilingDb: -2 }],
    ['is the smallest where only the peaks do not fit', measured(-14, 0.2), { gainDb: -0.1, ceilingDb: -2 }],
    ['is not none where the peaks do not fit', measured(-14.4, 0.2), { gainDb: 0.4, ceilingDb: -2 }],
  ])('%s', (_what, measure, gain) => {
    expect(decideGain(measure, TARGET)).toEqual(gain);
  });

  test('changes nothing where it is none, and limits between the samples', () => {
    expect(gainFilters({ gainDb: 0 })).toEqual([]);
    expect(gainFilters({ gainDb: -3.2 })).toEqual(['volume=-3.2dB']);
    expect(gainFilters({ gainDb: 2, ceilingDb: -2 })).toEqual([
      'volume=2dB',
      'aresample=192000',
      'alimiter=level=false:limit=0.794328:attack=5:release=50:latency=true',
      'aresample=48000',
    ]);
  });
});

describe('peaks that decode too high', () => {
  test.each([
    [
      'lower the ceiling by more than they have too much',
      { gainDb: 3, ceilingDb: -2 },
      -0.3,
      { gainDb: 3, ceilingDb: -3.2 },
    ],
    ['are limited where none were before', { gainDb: 3 }, -0.8, { gainDb: 3, ceilingDb: -2.7 }],
    ['are limited where the sound stayed as it was', { gainDb: 0 }, -0.5, { gainDb: -0.1, ceilingDb: -3 }],
    ['lower it as far as the limiter goes', { gainDb: 3, ceilingDb: -23 }, 9, { gainDb: 3, ceilingDb: -24 }],
  ])('%s', (_what, gain, truePeakDb, next) => {
    expect(lowerCeiling(gain, measured(-14, truePeakDb), TARGET)).toEqual(next);
  });

  test('are another attempt only where they pass the limit', () => {
    expect(lowerCeiling({ gainDb: 3 }, measured(-14, -1), TARGET)).toBeUndefined();
    expect(lowerCeiling({ gainDb: 0, bound: 'silence' }, {}, TARGET)).toBeUndefined();
  });
});

describe('a sound says why it is not as loud as it should be', () => {
  test.each([
    ['peak', { gainDb: 5, ceilingDb: -2 }, measured(-15.1, -1.2)],
    ['boost', { gainDb: 6, bound: 'boost' as const }, measured(-20, -8)],
    ['cut', { gainDb: -12, bound: 'cut' as const }, measured(-12.9, -2)],
    ['silence', { gainDb: 0, bound: 'silence' as const }, {}],
    [undefined, { gainDb: 6, bound: 'boost' as const }, measured(-15, -8)],
    [undefined, { gainDb: 3 }, measured(-14.2, -1.2)],
  ])('%s', (limitedBy, gain, made) => {
    expect(describeLoudness(measured(-19), made, gain, TARGET).limitedBy).toBe(limitedBy);
  });

  test('and says its measures', () => {
    expect(describeLoudness(measured(-17, -6), measured(-14.1, -2.3), { gainDb: 3 }, TARGET)).toEqual({
      sourceLufs: -17,
      sourceTruePeakDb: -6,
      sourceRangeLu: 5,
      gainDb: 3,
      integratedLufs: -14.1,
      truePeakDb: -2.3,
    });
    expect(describeLoudness({}, {}, { gainDb: 0, bound: 'silence' }, TARGET)).toEqual({
      gainDb: 0,
      limitedBy: 'silence',
    });
  });
});

describe('the words of ffmpeg', () => {
  const summary = (lufs: string, peak: string) =>
    `title: Summary:\n    I: -3.0 LUFS\n[Parsed_ebur128_0 @ 0x1] Summary:\n\n  Integrated loudness:\n    I:         ${lufs} LUFS\n` +
    `    Threshold: -28.1 LUFS\n\n  Loudness range:\n    LRA:         3.1 LU\n    LRA low:   -18.2 LUFS\n\n  True peak:\n    Peak:       ${peak} dBFS\n`;

  test('are read, the last of them', () => {
    expect(parseSummary(summary('-18.1', '0.6'))).toEqual({ integratedLufs: -18.1, truePeakDb: 0.6, rangeLu: 3.1 });
  });

  test('say silence without a number', () => {
    expect(parseSummary(summary('-70.0', '-inf'))).toEqual({});
  });

  test('are a failure where they say nothing', () => {
    expect(() => parseSummary('Conversion failed!')).toThrow('could not be measured');
    expect(() => parseSummary(summary('nan', '0.1'))).toThrow('could not be measured');
  });
});
