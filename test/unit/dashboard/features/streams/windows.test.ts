import { describe, expect, test } from 'vitest';
import { computeWindows, findOpenWindow } from '../../../../../src/dashboard/features/streams/windows.ts';

const NOW = new Date('2026-11-30T12:00:00Z'); // A Monday.
const recurring = (cron: string, hours: number, timeZone = 'UTC') => ({
  recurrence: { cron, timeZone, durationSeconds: hours * 3600 },
});
const starts = (schedule: Parameters<typeof computeWindows>[0], now = NOW) =>
  computeWindows(schedule, now).windows.map(({ startAt }) => startAt);

describe('the windows of a schedule', () => {
  test('are the next three, with their ends', () => {
    const { windows, notes } = computeWindows(
      recurring('0 9 * * 1,2,3,4,5', 8, 'Europe/Berlin'),
      new Date('2026-12-03T20:00:00Z'),
    );
    expect(windows).toEqual([
      { startAt: '2026-12-04T08:00:00.000Z', endAt: '2026-12-04T16:00:00.000Z', isOpen: false },
      { startAt: '2026-12-07T08:00:00.000Z', endAt: '2026-12-07T16:00:00.000Z', isOpen: false },
      { startAt: '2026-12-08T08:00:00.000Z', endAt: '2026-12-08T16:00:00.000Z', isOpen: false },
    ]);
    expect(notes).toEqual([]);
  });

  test('have the one that runs now, before the next', () => {
    const { windows } = computeWindows(recurring('30 11 * * *', 1), NOW);
    expect(windows.map(({ startAt, isOpen }) => [startAt?.slice(0, 16), isOpen])).toEqual([
      ['2026-11-30T11:30', true],
      ['2026-12-01T11:30', false],
      ['2026-12-02T11:30', false],
      ['2026-12-03T11:30', false],
    ]);
    expect(computeWindows({ endAt: '2026-12-01T00:00:00Z' }, NOW).windows).toEqual([
      { startAt: null, endAt: '2026-12-01T00:00:00.000Z', isOpen: true },
    ]);
    expect(findOpenWindow({ startAt: '2026-12-01T00:00:00Z' }, NOW)).toBeUndefined();
    // On air until then by its owner's word, and by no window.
    expect(findOpenWindow({ ...recurring('0 18 * * *', 1), onAirUntil: '2026-11-30T18:00:00Z' }, NOW)).toBeUndefined();
  });

  test('are none once it is over', () => {
    expect(computeWindows({ startAt: '2026-11-01T00:00:00Z', endAt: '2026-11-02T00:00:00Z' }, NOW)).toEqual({
      windows: [],
      notes: [],
    });
  });

  test('begin after the hour that clocks skip, and the form says when that will be', () => {
    const schedule = recurring('30 2 * * *', 1, 'Europe/Berlin');
    expect(starts(schedule, new Date('2027-03-27T12:00:00Z'))[0]).toBe('2027-03-28T01:00:00.000Z');
    const [note] = computeWindows(schedule, NOW).notes;
    expect(note).toMatch(
      /^On Sun 28 Mar, the clocks of Europe\/Berlin skip 0?2:30.*: the stream goes on air at 0?3:00/,
    );
    // Only on days on which it would go on air, only in zones that change their clocks, and not for the hour after.
    for (const other of [
      recurring('30 2 * * 1', 1, 'Europe/Berlin'),
      recurring('30 2 * * *', 1, 'Asia/Kolkata'),
      recurring('0 3 * * *', 1, 'Europe/Berlin'),
      recurring('*/30 2 * * *', 0.1, 'Europe/Berlin'),
    ])
      expect(computeWindows(other, NOW).notes).toEqual([]);
    // By half an hour, at midnight, and in the south.
    expect(computeWindows(recurring('15 2 * * *', 1, 'Australia/Lord_Howe'), NOW).notes.join()).toContain('skip');
    expect(computeWindows(recurring('30 0 * * *', 1, 'Africa/Cairo'), NOW).notes.join()).toContain('skip');
  });

  test('that overlap are said to be one', () => {
    expect(computeWindows(recurring('0 18 * * *', 30), NOW).notes.join()).toContain('without a gap');
    expect(computeWindows(recurring('0 18 * * *', 23), NOW).notes).toEqual([]);
  });

  test('of a mistake are none, and the mistake is named', () => {
    expect(computeWindows(recurring('61 25 * * *', 1), NOW)).toMatchObject({
      windows: [],
      notes: [expect.stringContaining('“61 25 * * *” is not a cron expression')],
    });
    expect(computeWindows(recurring('0 0 31 2 *', 1), NOW).notes[0]).toContain('a time that never comes');
    expect(computeWindows(recurring('0 0 * * *', 1, 'Mars/Olympus_Mons'), NOW).notes[0]).toContain('Mars/Olympus_Mons');
  });
});
