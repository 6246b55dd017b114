import { describe, expect, test } from 'vitest';
import {
  formatAgo,
  formatAmount,
  formatBitrate,
  formatBytes,
  formatCount,
  formatFps,
  formatMs,
  formatPercent,
  formatProfile,
  formatSkew,
  formatUptime,
  NONE,
  secondsSince,
  spokenDuration,
} from '../../../../src/dashboard/lib/format.ts';

describe('numbers as people read them', () => {
  test('limits are said as they are set', () => {
    expect(formatAmount(5, 'count')).toBe('5');
    expect(formatAmount(100_000, 'per day')).toBe('100,000');
    expect(formatAmount(20 * 2 ** 30, 'bytes')).toBe('20 GiB');
    expect(formatAmount(1536, 'bytes')).toBe('1.5 KiB');
    expect(formatAmount(14_400, 'seconds')).toBe('4 hours');
  });

  test('uptime is a clock that gains days and never goes negative', () => {
    expect(formatUptime(0)).toBe('00:00:00');
    expect(formatUptime(429.9)).toBe('00:07:09');
    expect(formatUptime(86_399)).toBe('23:59:59');
    expect(formatUptime(86_400)).toBe('1d 00:00:00');
    expect(formatUptime(273_612)).toBe('3d 04:00:12');
    expect(formatUptime(-5)).toBe('00:00:00');
  });

  test('uptime is spoken in its two largest units', () => {
    expect(spokenDuration(273_612)).toBe('3 days 4 hours');
    expect(spokenDuration(3661)).toBe('1 hour 1 minute');
    expect(spokenDuration(429)).toBe('7 minutes');
    expect(spokenDuration(1)).toBe('1 second');
    expect(spokenDuration(0)).toBe('0 seconds');
    expect(spokenDuration(86_400)).toBe('1 day');
  });

  test('bitrate changes its unit where it gets too long, not in the middle of rounding', () => {
    expect(formatBitrate(0)).toBe('0 kbps');
    expect(formatBitrate(999.4)).toBe('999 kbps');
    expect(formatBitrate(999.6)).toBe('1.00 Mbps');
    expect(formatBitrate(4500)).toBe('4.50 Mbps');
  });

  test('frame rate, milliseconds, counts and bytes', () => {
    expect(formatFps(30)).toBe('30');
    expect(formatFps(29.9701)).toBe('29.97');
    expect(formatMs(0.26)).toBe('0.3 ms');
    expect(formatMs(-12.4)).toBe('−12 ms');
    expect(formatMs(1200)).toBe('1.2 s');
    expect(formatSkew(-11)).toBe('Sound ahead by 11 ms');
    expect(formatSkew(1200)).toBe('Sound behind by 1.2 s');
    expect(formatSkew(0.2)).toBe('Together');
    expect(formatSkew(undefined)).toBe(formatMs(undefined));
    expect(formatCount(12_034)).toBe('12,034');
    expect(formatBytes(0)).toBe('0 B');
    expect(formatBytes(999)).toBe('999 B');
    expect(formatBytes(1_234_567_890)).toBe('1.2 GB');
  });

  test('a missing value, or no number, is a dash, never NaN', () => {
    for (const format of [formatUptime, formatBitrate, formatFps, formatMs, formatCount, formatBytes])
      for (const nothing of [null, undefined, Number.NaN, Number.POSITIVE_INFINITY]) expect(format(nothing)).toBe(NONE);
    expect(formatProfile(undefined, undefined)).toBe(NONE);
    expect(formatAgo(new Date('never'), new Date(0))).toBe(NONE);
    expect(secondsSince('never', 0)).toBeUndefined();
    expect(secondsSince(null, 0)).toBeUndefined();
  });

  test('quality and frame rate read the same with and without the prefixes of the API', () => {
    expect(formatProfile('q_1080p', 'f_30')).toBe('1080p · 30 fps');
    expect(formatProfile('1080p', 30)).toBe('1080p · 30 fps');
  });

  test('times in the past are given in one unit', () => {
    const now = new Date('2030-01-10T12:00:00Z');
    const ago = (seconds: number) => formatAgo(new Date(now.getTime() - seconds * 1000), now);
    expect(ago(-60)).toBe('just now');
    expect(ago(42)).toBe('42 s ago');
    expect(ago(300)).toBe('5 min ago');
    expect(ago(3 * 3600 + 59)).toBe('3 h ago');
    expect(ago(90_000)).toBe('yesterday');
    expect(ago(200_000)).toBe('2 days ago');
  });

  test('a clock ahead of ours does not count backwards', () => {
    expect(secondsSince('2030-01-01T00:00:10Z', Date.parse('2030-01-01T00:00:00Z'))).toBe(0);
    expect(secondsSince('2030-01-01T00:00:00Z', Date.parse('2030-01-01T00:00:10Z'))).toBe(10);
  });
});

test.each([
  [100, '100 %'],
  [99.999, '99.99 %'],
  [99.5, '99.5 %'],
  [0, '0 %'],
  [null, NONE],
  [undefined, NONE],
])('a share of %s reads %s: what is less than 100 % never reads as that', (percent, text) =>
  expect(formatPercent(percent)).toBe(text),
);
